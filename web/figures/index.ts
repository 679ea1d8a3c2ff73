// Every figure, in the order of the chapters.

import type { Figure } from '../app/figure.ts';
import { batchFigure } from './batch.ts';
import { traceFigure } from './trace.ts';

export const FIGURES = [batchFigure, traceFigure] as unknown as readonly Figure[];
