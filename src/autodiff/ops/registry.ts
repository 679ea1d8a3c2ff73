// All op records; the registry tests run over this list.

import type { Op } from '../op.ts';
import { attentionOps } from './attention.ts';
import { binaryOps } from './binary.ts';
import { contrastiveOps } from './contrastive.ts';
import { indexingOps } from './indexing.ts';
import { layoutOps } from './layout.ts';
import { matmulOps } from './matmul.ts';
import { reduceOps } from './reduce.ts';
import { rowOps } from './rows.ts';
import { unaryOps } from './unary.ts';

/** Every op, each with its own type of parameters. */
export const registry: readonly Op<unknown>[] = [
  ...unaryOps,
  ...binaryOps,
  ...reduceOps,
  ...layoutOps,
  ...indexingOps,
  ...matmulOps,
  ...rowOps,
  ...attentionOps,
  ...contrastiveOps,
] as unknown as readonly Op<unknown>[];
