// Every figure, in the order of the chapters.

import type { Figure } from '../app/figure.ts';
import { batchFigure } from './batch.ts';
import { boundsFigure } from './bounds.ts';
import { gameFigure } from './game.ts';
import { removalFigure } from './removal.ts';
import { rolesFigure } from './roles.ts';

export const FIGURES = [
  batchFigure,
  rolesFigure,
  removalFigure,
  boundsFigure,
  gameFigure,
] as unknown as readonly Figure[];
