// Every figure, in the order of the chapters.

import type { Figure } from '../app/figure.ts';
import { batchFigure } from './batch.ts';
import { boundsFigure } from './bounds.ts';

export const FIGURES = [batchFigure, boundsFigure] as unknown as readonly Figure[];
