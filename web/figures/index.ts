// Every figure, in the order of the chapters.

import type { Figure } from '../app/figure.ts';
import { batchFigure } from './batch.ts';
import { removalFigure } from './removal.ts';
import { rolesFigure } from './roles.ts';

export const FIGURES = [batchFigure, rolesFigure, removalFigure] as unknown as readonly Figure[];
