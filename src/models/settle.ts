// Training on until the gradient of the whole objective vanishes, or is lost in rounding.

import { createRng } from '../array/rng.ts';
import { Flat } from '../autodiff/flat.ts';
import { disposeTree } from '../autodiff/tensor.ts';
import { lbfgs } from '../linalg/lbfgs.ts';
import type { MinimizeResult, MinimizeStatus } from '../linalg/minimize.ts';
import { treeSpace } from '../linalg/tree-space.ts';
import { trustRegion, type TrustRegionOptions } from '../linalg/trust-region.ts';
import { curvatureAt, objectiveOf, type StreamedLoss } from './streamed.ts';

/** How far {@link settle} is: with θ, all that is needed to go on. */
export interface SettleProgress {
  readonly lbfgs: number;
  readonly newton: number;
  /** Set once the Newton steps begin. */
  readonly region: null | {
    readonly radius: number;
    readonly gaussNewton: boolean;
    /** ‖∇F‖ where they began. */
    readonly from: number;
  };
  readonly rounding: Rounding;
}

/** What rounding makes of the objective, as measured. */
export interface Rounding {
  /** Error of F, relative. */
  readonly value: number;
  /** Size of a gradient that is all rounding. */
  readonly floor: number;
}

/** Where {@link settle} came to; `rounding`: the device cannot tell the gradient from zero. */
export interface Settled<T> extends Pick<MinimizeResult<T>, 'value' | 'gradientNorm' | 'converged'> {
  readonly theta: T;
  readonly status: MinimizeStatus | 'rounding';
  readonly iterations: { readonly lbfgs: number; readonly newton: number };
  /** Size of a gradient that is all rounding. */
  readonly floor: number;
}

/** Settings of {@link settle}. */
export interface SettleOptions<T> extends Pick<TrustRegionOptions<T>, 'preconditioner'> {
  /** ‖∇F‖ to reach. */
  readonly tolerance: number;
  /** Iterations of L-BFGS at most. */
  readonly iterations: number;
  /** Newton steps at most, where L-BFGS does not get there or is slow. */
  readonly newtonSteps: number;
  /** Least relative rounding error of F. */
  readonly noise: number;
  /** Bytes that may be kept of forward passes, for products of the curvature. */
  readonly memory: number;
  /** Where an earlier run was; its θ is the start. */
  readonly progress?: SettleProgress | undefined;
  onIteration?(method: 'lbfgs' | 'newton', iteration: number, value: number, norm: number): void;
  /** Told between segments. A run that goes on from here ends with the same bits. */
  onSegment?(theta: T, progress: SettleProgress): Promise<void>;
}

/** Iterations of a segment of L-BFGS, which begins with an empty memory, and steps of one of Newton. */
const SEGMENT = { lbfgs: 50, newton: 3 };
const HISTORY = 20;
/** L-BFGS is slow if a segment leaves more than these shares of the value and of the gradient. */
const SLOW = { value: 0.7, norm: 0.1 };
/** Multiples of the floor at which a gradient that no longer halves is called rounding, and at which it is measured anew. */
const [AT_FLOOR, NEAR_FLOOR] = [12, 30];

/** Times that rounding is tried. */
const TRIALS = 3;

/**
 * What rounding makes of F and ∇F: half the largest change of a few as every parameter moves by one unit in its last
 * place, up or down at random.
 */
export async function roundingOf<T, B>(loss: StreamedLoss<T, B>, theta: T): Promise<Rounding> {
  const [space, flat, rng] = [treeSpace<T>(), new Flat(theta), createRng(0)];
  const unit = 2 * flat.device.epsilon;
  const values = await flat.toVector(theta);
  const here = await objectiveOf(loss)(theta);
  let [value, square] = [0, 0];
  for (let trial = 0; trial < TRIALS; trial++) {
    const moved = flat.toTree(values.map((x) => x * (rng.uniform() < 0.5 ? 1 + unit : 1 - unit)));
    const there = await objectiveOf(loss)(moved);
    const change = space.combine([1, -1], [here.gradient, there.gradient]);
    const [length] = await space.dots([[change, change]]);
    disposeTree([moved, there.gradient, change]);
    [value, square] = [Math.max(value, Math.abs(there.value - here.value)), Math.max(square, length)];
  }
  disposeTree(here.gradient);
  return { value: value / (2 * Math.abs(here.value)), floor: Math.sqrt(square) / 2 };
}

/** A few iterations. */
interface Segment<T> {
  readonly result: MinimizeResult<T>;
  readonly progress: SettleProgress;
}

async function lbfgsSegment<T, B>(
  loss: StreamedLoss<T, B>,
  theta: T,
  progress: SettleProgress,
  { tolerance, iterations, noise, onIteration }: SettleOptions<T>,
): Promise<Segment<T>> {
  const values: number[] = [];
  const result = await lbfgs(treeSpace<T>(), objectiveOf(loss), theta, {
    gradientTolerance: tolerance,
    history: HISTORY,
    maxIterations: Math.min(SEGMENT.lbfgs, iterations - progress.lbfgs),
    valueNoise: Math.max(noise, 2 * progress.rounding.value),
    onIteration: ({ iteration, value, gradientNorm: norm }) => {
      values.push(value);
      onIteration?.('lbfgs', progress.lbfgs + iteration, value, norm);
    },
  });
  const { gradientNorms, gradientNorm: norm, value } = result;
  const done = progress.lbfgs + result.iterations;
  const slow = value > SLOW.value * (values[0] ?? value) && norm > SLOW.norm * gradientNorms[0];
  const enough = slow || result.status === 'stagnated' || done >= iterations;
  const region = enough ? { radius: 1, gaussNewton: false, from: norm } : null;
  return { result, progress: { ...progress, lbfgs: done, region } };
}

async function newtonSegment<T, B>(
  loss: StreamedLoss<T, B>,
  theta: T,
  progress: SettleProgress,
  { tolerance, newtonSteps, noise, memory, preconditioner, onIteration }: SettleOptions<T>,
): Promise<Segment<T>> {
  const region = progress.region as NonNullable<SettleProgress['region']>;
  const result = await trustRegion(
    treeSpace<T>(),
    objectiveOf(loss),
    theta,
    (x, kind) => curvatureAt(loss, x, kind, memory),
    {
      ...{ gradientTolerance: tolerance, valueNoise: Math.max(noise, 2 * progress.rounding.value), preconditioner },
      ...{ radius: region.radius, gaussNewton: region.gaussNewton, referenceNorm: region.from },
      maxIterations: Math.min(SEGMENT.newton, newtonSteps - progress.newton),
      onIteration: ({ iteration, value, gradientNorm: norm }) =>
        onIteration?.('newton', progress.newton + iteration, value, norm),
    },
  );
  const { radius, gaussNewton, iterations } = result;
  return {
    result,
    progress: { ...progress, newton: progress.newton + iterations, region: { ...region, radius, gaussNewton } },
  };
}

/** The progress with rounding measured anew, where the gradient no longer falls and may be lost in it. */
async function lookAtRounding<T, B>(
  loss: StreamedLoss<T, B>,
  { result, progress }: Segment<T>,
  wasNewton: boolean,
): Promise<SettleProgress> {
  const { gradientNorm: norm, gradientNorms, status } = result;
  const stuck = status === 'stagnated' || norm > gradientNorms[0] / 2;
  const begins = !wasNewton && progress.region !== null;
  if (!begins && !(stuck && norm <= NEAR_FLOOR * progress.rounding.floor) && status !== 'stagnated') return progress;
  return { ...progress, rounding: await roundingOf(loss, result.x) };
}

/** Why to stop after a segment, or null. */
function stopOf<T>(
  { gradientNorm: norm, gradientNorms, converged, status }: MinimizeResult<T>,
  wasNewton: boolean,
  { newton, region, rounding }: SettleProgress,
  { newtonSteps }: SettleOptions<T>,
): Settled<T>['status'] | null {
  if (converged) return 'converged';
  const stuck = status === 'stagnated' || norm > gradientNorms[0] / 2;
  if (stuck && norm <= AT_FLOOR * rounding.floor) return 'rounding';
  if (region === null) return null;
  if (status === 'stagnated' && (wasNewton || newtonSteps === 0)) return 'stagnated';
  return newton >= newtonSteps ? 'max-iterations' : null;
}

/**
 * Minimises the objective until ‖∇F‖ ≤ tolerance: L-BFGS while it is quick, then Newton in a trust region; or until the
 * gradient is lost in rounding.
 * @param start stays the caller's
 * @example const { theta, status } = await settle(loss, start, { tolerance: 1e-6, iterations: 300, newtonSteps: 50, noise: 1e-6, memory: 2 ** 30 });
 */
export async function settle<T, B>(loss: StreamedLoss<T, B>, start: T, options: SettleOptions<T>): Promise<Settled<T>> {
  const begun = { lbfgs: 0, newton: 0, region: null };
  let progress: SettleProgress = options.progress ?? { ...begun, rounding: await roundingOf(loss, start) };
  for (let theta = start; ; ) {
    const wasNewton = progress.region !== null;
    const made = await (wasNewton ? newtonSegment : lbfgsSegment)(loss, theta, progress, options);
    if (theta !== start) disposeTree(theta);
    theta = made.result.x;
    progress = made.result.converged ? made.progress : await lookAtRounding(loss, made, wasNewton);
    const status = stopOf(made.result, wasNewton, progress, options);
    if (status !== null) {
      const { value, gradientNorm, converged } = made.result;
      const { lbfgs: first, newton, rounding } = progress;
      return { theta, value, gradientNorm, converged, status, iterations: { lbfgs: first, newton }, floor: rounding.floor };
    }
    await options.onSegment?.(theta, progress);
  }
}
