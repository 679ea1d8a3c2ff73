// Every figure, in the order of the chapters.

import type { Figure } from '../app/figure.ts';
import { batchFigure } from './batch.ts';

export const FIGURES = [batchFigure] as unknown as readonly Figure[];
