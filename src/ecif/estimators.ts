// Every removal estimator on one problem, side by side with retraining and with what can be certified of it.

import { distance, norm } from '../array/vector.ts';
import { Flat } from '../autodiff/flat.ts';
import { disposeTree, itemOf, scope, type Tensor } from '../autodiff/tensor.ts';
import { type Certificates, certifierOf } from './bounds.ts';
import type { Problem } from './objective.ts';
import {
  type ModelRemoval,
  type Removal,
  removeByNewton,
  removeKrylov,
  removeLinear,
  removeNeumann,
  removeRescaled,
} from './removal.ts';
import { minimise } from './retrain.ts';
import type { Seg } from './seg.ts';
import { prepareBatches, removeWoodbury } from './woodbury.ts';

/** One estimator of one removal. */
export interface Estimate {
  readonly rung: string;
  /** ‖θ̃ − θ*‖/‖θ* − θ̂‖ with θ* from retraining: 1 is doing nothing; null where retraining changes nothing. */
  readonly parameterError: number | null;
  /** Change of the evaluation loss at the edited parameters. */
  readonly evaluationChange: number;
  /** ‖θ̃ − θ*‖, and what is certified of it without knowing θ*. */
  readonly distance: number;
  readonly certificates: Certificates;
}

/** A removal by every rung. */
export interface EstimateTable {
  /** ‖θ* − θ̂‖. */
  readonly change: number;
  /** Change of the evaluation loss by retraining. */
  readonly evaluationChange: number;
  readonly estimates: readonly Estimate[];
}

/** The rungs that need nothing but the removal, lowest first. */
export const RUNGS: Record<string, <T>(removal: Removal<T>) => Promise<T>> = {
  nothing: ({ theta }) => Promise.resolve(theta),
  published: (r) => removeLinear(r, 'published'),
  'positives only': (r) => removeLinear(r, 'positives only'),
  corrected: (r) => removeLinear(r, 'corrected'),
  'exact gradient': (r) => removeLinear(r, 'exact'),
  rescaled: async (r) => (await removeRescaled(r)).theta,
  Neumann: (r) => removeNeumann(r),
  'Krylov 2': (r) => removeKrylov(r, 2),
  Newton: (r) => removeByNewton(r),
  'two Newton steps': (r) => removeByNewton(r, 2),
};

/** Rank of the Woodbury rung, and the similarities of the touched batches up to which it is taken. */
const WOODBURY = { rank: 4, largest: 1024 };

async function byWoodbury<T, B>(problem: Problem<T, B>, { theta, solve }: Removal<T>, seg: Seg): Promise<T | null> {
  const touched = seg.map(({ batch }) => batch);
  const sides = touched.map((m) => scope(() => problem.model.embed(theta, problem.batches[m]).u.shape[0]));
  if (sides.reduce((sum, b) => sum + b * b, 0) > WOODBURY.largest) return null;
  return (await removeWoodbury(await prepareBatches(problem, theta, touched, { solve }), seg, WOODBURY.rank)).theta;
}

/**
 * Runs every rung of the ladder on one removal and compares it with retraining.
 * @param evaluation the loss whose change is of interest
 * @param onRung told before each rung
 */
export async function estimateAll<T, B>(
  problem: Problem<T, B>,
  removal: ModelRemoval<T>,
  seg: Seg,
  evaluation: (theta: T) => Tensor,
  onRung?: (rung: string) => void,
): Promise<EstimateTable> {
  const { theta, without } = removal;
  const flat = new Flat(theta);
  const valueAt = async (t: T): Promise<number> => itemOf(() => evaluation(t));
  const before = await valueAt(theta);
  const retrained = (await minimise(without, theta)).theta;
  const [truth, start] = [await flat.toVector(retrained), await flat.toVector(theta)];
  const change = distance(truth, start);
  const noise = 1e3 * flat.device.epsilon * Math.max(1, norm(start));
  const certify = await certifierOf(problem, theta, seg);
  const estimates: Estimate[] = [];
  const runs: Record<string, (removal: ModelRemoval<T>) => Promise<T | null>> = {
    ...RUNGS,
    'Woodbury 4': (r) => byWoodbury(problem, r, seg),
  };
  for (const [rung, run] of Object.entries(runs)) {
    onRung?.(rung);
    const edited = await run(removal);
    if (edited === null) continue;
    const error = distance(await flat.toVector(edited), truth);
    estimates.push({
      rung,
      parameterError: change > noise ? error / change : null,
      evaluationChange: (await valueAt(edited)) - before,
      distance: error,
      certificates: await certify(edited),
    });
    if (edited !== theta) disposeTree(edited);
  }
  const evaluationChange = (await valueAt(retrained)) - before;
  disposeTree(retrained);
  return { change, evaluationChange, estimates };
}
