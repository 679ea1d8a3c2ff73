// Every method that pairs can be scored by, behind one interface.

import { ecifAndLoss } from './combined.ts';
import { random, retraining } from './ends.ts';
import { gradCos, gradDot, tracIn } from './gradients.ts';
import {
  approximations,
  ecif,
  ecifExact,
  ecifPositive,
  ecifPublished,
  identityCurvature,
  ifEkfac,
} from './influence.ts';
import { lemonOf } from './lemon.ts';
import type { Method } from './method.ts';
import { clipScore, ownLoss, representation } from './similarity.ts';
import { trak, trakConstant } from './trak.ts';

export type { Checkpoint, Method, Need, ScoringTask } from './method.ts';
export { judgeMethods, type Judged, type JudgeOptions, judgingSteps, type Quality } from './judge.ts';
export { type LemonOptions, lemonOf } from './lemon.ts';
export { type Negatives, trakOf, type TrakOptions } from './trak.ts';

/**
 * All methods: retraining, the exact scores, their approximations, and what else the field uses.
 * @example for (const method of METHODS) console.log(method.name, await method.scores(task));
 */
export const METHODS: readonly Method[] = [
  retraining,
  ecif,
  ecifExact,
  ecifPositive,
  ecifPublished,
  ...approximations,
  identityCurvature,
  ifEkfac,
  gradDot,
  gradCos,
  tracIn,
  trak,
  trakConstant,
  representation,
  clipScore,
  ownLoss,
  ecifAndLoss,
  lemonOf(),
  random,
];
