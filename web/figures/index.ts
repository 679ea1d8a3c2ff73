// Every figure, in the order of the chapters.

import type { Figure } from '../app/figure.ts';
import { batchFigure } from './batch.ts';
import { boundsFigure } from './bounds.ts';
import { gameFigure } from './game.ts';
import { removalFigure } from './removal.ts';
import { rolesFigure } from './roles.ts';
import { scratchFigure } from './scratch.ts';
import { traceFigure } from './trace.ts';

export const FIGURES = [
  batchFigure,
  rolesFigure,
  removalFigure,
  boundsFigure,
  gameFigure,
  traceFigure,
  scratchFigure,
] as unknown as readonly Figure[];
