// Every figure, in the order of the chapters.

import type { Figure } from '../app/figure.ts';
import { batchFigure } from './batch.ts';
import { scratchFigure } from './scratch.ts';

export const FIGURES = [batchFigure, scratchFigure] as unknown as readonly Figure[];
