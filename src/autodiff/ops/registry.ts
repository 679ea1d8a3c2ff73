// All op records; the registry tests run over this list.

import type { Op } from '../op.ts';
import { attentionOps } from './attention.ts';
import { binaryOps } from './binary.ts';
import { contrastiveOps } from './contrastive.ts';
import { indexingOps } from './indexing.ts';
import { layoutOps } from './layout.ts';
import { matmulOps } from './matmul.ts';
import { reduceOps } from './reduce.ts';
import { normalizeOps } from './normalize.ts';
import { piecewiseOps } from './piecewise.ts';
import { slopeOps } from './slopes.ts';
import { softmaxOps } from './softmax.ts';
import { unaryOps } from './unary.ts';

/** Every op, each with its own type of parameters. */
export const registry: readonly Op<unknown>[] = [
  ...unaryOps,
  ...binaryOps,
  ...slopeOps,
  ...piecewiseOps,
  ...reduceOps,
  ...layoutOps,
  ...indexingOps,
  ...matmulOps,
  ...softmaxOps,
  ...normalizeOps,
  ...attentionOps,
  ...contrastiveOps,
] as unknown as readonly Op<unknown>[];
