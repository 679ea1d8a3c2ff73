// Chapter 4: how far an edited model is from the retrained one, and what each bound says of that.

import { distance, norm } from '../../src/array/vector.ts';
import { Flat } from '../../src/autodiff/flat.ts';
import { certificatesFrom, type LossAt, priorBoundsFrom, termFeatures } from '../../src/ecif/bounds.ts';
import { placeConvex } from '../../src/ecif/convex-file.ts';
import * as ecif from '../../src/index.ts';
import { lineConstants } from './bounds-line.ts';
import { type BoundedEstimator, boundsFile, type BoundsSetting, EDITS } from './bounds-problems.ts';
import { computation } from './computation.ts';
import { holding, type Keep } from './holding.ts';

/** Bounds asked for: one problem and estimator at several decays and numbers of removed pairs. */
export interface BoundsAsked extends BoundsSetting {
  readonly estimator: BoundedEstimator;
  readonly at: readonly { readonly decay: number; readonly removed: number }[];
}

/** The true error and everything that is said of it; null where a bound says nothing. */
export interface BoundsAt {
  readonly decay: number;
  readonly removed: number;
  /** ‖θ̃ − θ*‖ with θ* from retraining. */
  readonly error: number;
  /** How exactly θ* is known, and so the error: ‖∇F(θ*)‖/δ and rounding. */
  readonly resolution: number;
  /** ‖θ* − θ̂‖, the whole change that retraining makes. */
  readonly change: number;
  /** ‖θ̃ − argmin L⁻‖, what the printed proof takes for the error; the corrected form only. */
  readonly surrogate: number | null;
  /** The theorem as printed; it speaks of the corrected form only. */
  readonly printed: number | null;
  readonly lipschitz: number;
  readonly selfConcordant: number | null;
  readonly p1: number;
  readonly p2: number | null;
  readonly p3: number | null;
}

type Vector = Float64Array;
type Theta = ecif.Bilinear;

/**
 * Bounds from F at θ̂. The steps of an estimator to Newton's, ‖(A⁻¹ − B⁻¹)g‖ and ‖B⁻¹e‖, are those it takes: for Newton's
 * own step B is A, and e is 0 for all but the corrected form.
 */
async function priorOf(
  problem: ecif.Problem<Theta, ecif.PairBatch>,
  theta: Theta,
  seg: ecif.Seg,
  estimator: BoundedEstimator,
  after: LossAt,
): Promise<ecif.PriorBounds> {
  const gap = (t: Theta): ecif.Tensor =>
    ecif.sub(ecif.negOf(problem, seg, 'exact')(t), ecif.negOf(problem, seg, 'corrected')(t));
  const before = estimator === 'newton' ? after.hessian : (await ecif.hessian(ecif.totalLoss(problem), theta)).matrix;
  const missed =
    estimator === 'corrected'
      ? await new Flat(theta).read(() => ecif.grad(gap)(theta))
      : new Float64Array(before.length ** 0.5);
  return priorBoundsFrom(after, before, missed, problem.decay);
}

/** ‖θ̃ − argmin L⁻‖; L⁻ = L − Pos − Neg with the corrected Neg need not be convex. */
async function surrogateError(
  problem: ecif.Problem<Theta, ecif.PairBatch>,
  theta: Theta,
  seg: ecif.Seg,
  edited: Vector,
): Promise<number> {
  const loss = ecif.surrogateLoss(problem, seg, 'corrected');
  const found = await ecif.minimise(loss, theta, { indefinite: 'reflect' });
  const error = distance(edited, await new Flat(theta).toVector(found.theta));
  ecif.disposeTree(found.theta);
  return error;
}

/** One removal with all its bounds. */
async function boundsAt(
  device: ecif.Device,
  asked: BoundsAsked,
  { decay, removed }: BoundsAsked['at'][number],
  constants: ecif.TheoremConstants | undefined,
  keep: Keep,
): Promise<BoundsAt> {
  const { estimator } = asked;
  const file = boundsFile(asked, decay, removed);
  const placed = placeConvex(file, device);
  const { problem, start } = placed;
  keep([placed.validation, problem.batches, start]);
  const seg = ecif.segOf(file.batches, file.remove);
  const theta = keep((await ecif.minimise(ecif.totalLoss(problem), start)).theta);
  const h = keep(await ecif.curvatureAt(ecif.totalLoss(problem), theta));
  const removal = ecif.removalOf(problem, theta, seg, h);
  const edited = keep(await EDITS[estimator](removal));
  const { theta: retrained, gradientNorm } = await ecif.minimise(removal.without, theta);
  keep(retrained);
  const flat = new Flat(theta);
  const [from, to, truth] = [await flat.toVector(theta), await flat.toVector(edited), await flat.toVector(retrained)];
  const terms = (await termFeatures(problem, theta, seg)).flat();
  const lossAt = async (at: Theta): Promise<LossAt> => ({
    gradient: await flat.read(() => ecif.grad(removal.without)(at)),
    hessian: (await ecif.hessian(removal.without, at)).matrix,
    terms,
  });
  const corrected = estimator === 'corrected';
  return {
    ...{ decay, removed, error: distance(to, truth), change: distance(from, truth) },
    resolution: gradientNorm / decay + 1e3 * device.epsilon * Math.max(1, norm(from)),
    surrogate: corrected && asked.problem === 'line' ? await surrogateError(problem, theta, seg, to) : null,
    printed: corrected ? (await ecif.printedTheorem(problem, theta, seg, constants)).total : null,
    ...(await priorOf(problem, theta, seg, estimator, await lossAt(theta))),
    ...certificatesFrom(await lossAt(edited), decay),
  };
}

export const boundsFound = computation<BoundsAsked, BoundsAt[]>({
  wants: 'float64',
  run: async (device, asked, report) => {
    const constants = asked.problem === 'line' ? await lineConstants(device, asked.temperature) : undefined;
    const found: BoundsAt[] = [];
    for (const [i, at] of asked.at.entries()) {
      if (i > 0) report('training, removing, retraining…', i / asked.at.length);
      found.push(await holding((keep) => boundsAt(device, asked, at, constants, keep)));
    }
    return found;
  },
});
