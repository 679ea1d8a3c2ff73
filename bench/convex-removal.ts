// One pair removed: by influence, by the rescaled step, by Newton, and by retraining from θ̂, side by side.

import * as ecif from '../src/index.ts';
import { distance, norm } from '../src/array/vector.ts';
import { DENSE, places, type Trained } from './convex-problem.ts';
import { readFlat } from './errors.ts';
import { compare } from './timing.ts';

type Bilinear = ecif.Bilinear;

/** What was measured of one removal on the CPU: milliseconds of CPU time, medians over rounds. */
export interface RemovalTimes {
  readonly curvature: number;
  /** With the curvature at hand. */
  readonly corrected: number;
  readonly rescaled: number;
  /** With its own curvature, that after the removal. */
  readonly newton: number;
  readonly retraining: number;
  /** Retraining that stops where it is as stationary as Newton's result. */
  readonly asFarAsNewton: number;
  /** ‖θ̃ − θ*‖/‖θ* − θ̂‖ with θ* from retraining. */
  readonly errors: { readonly corrected: number; readonly rescaled: number; readonly newton: number };
}

const REMOVED = 3;

/** Residual of the solves of an estimator where they are iterative: far below the error of its linearisation. */
const TOLERANCE = 1e-4;

/** Each estimator and retraining as a function that makes parameters. */
function ways(
  removal: ecif.ModelRemoval<Bilinear>,
): Record<'corrected' | 'rescaled' | 'newton', () => Promise<Bilinear>> {
  return {
    corrected: () => ecif.removeLinear(removal, 'corrected'),
    rescaled: async () => (await ecif.removeRescaled(removal)).theta,
    newton: () => ecif.removeByNewton(removal),
  };
}

/** L-BFGS from θ̂. */
async function retrained(
  { without, theta }: ecif.ModelRemoval<Bilinear>,
  gradientTolerance?: number,
): Promise<Bilinear> {
  const found = await ecif.minimise(without, theta, { method: 'lbfgs', gradientTolerance });
  if (found.status !== 'converged') throw new Error(`retraining: ${found.status} at ‖∇F‖ = ${found.gradientNorm}`);
  return found.theta;
}

/** A contender that makes parameters and gives them back. */
const making = (name: string, make: () => Promise<Bilinear>) => ({
  name,
  run: async (): Promise<void> => ecif.disposeTree(await make()),
});

/** Relative errors of the estimators to retraining, and ‖∇F‖ at Newton's result. */
async function accuracy(
  removal: ecif.ModelRemoval<Bilinear>,
): Promise<{ errors: RemovalTimes['errors']; atNewton: number }> {
  const { corrected, rescaled, newton } = ways(removal);
  const truth = await readFlat(await retrained(removal));
  const change = distance(truth, await readFlat(removal.theta));
  const error = async (theta: Bilinear): Promise<number> => distance(await readFlat(theta), truth) / change;
  const edited = await newton();
  const gradient = ecif.scope(() => ecif.grad(removal.without)(edited));
  return {
    errors: {
      corrected: await error(await corrected()),
      rescaled: await error(await rescaled()),
      newton: await error(edited),
    },
    atNewton: norm(await readFlat(gradient)),
  };
}

/**
 * Times one removal.
 * @param large measure once
 */
export async function removalTimes({ data, placed, theta }: Trained, large: boolean): Promise<RemovalTimes> {
  const h = await ecif.curvatureAt(placed.total, theta, { ...DENSE, tolerance: TOLERANCE });
  const removal = ecif.removalOf(placed.problem, theta, ecif.segOf(places(data), [REMOVED]), h, DENSE);
  const { errors, atNewton } = await accuracy(removal);
  const { corrected, rescaled, newton } = ways(removal);
  const rounds = large ? 1 : 3;
  const light = await compare(
    [
      making('corrected', corrected),
      making('rescaled', rescaled),
      making('retraining', () => retrained(removal)),
      making('as far as Newton', () => retrained(removal, atNewton)),
    ],
    { rounds, warmup: large ? 0 : 2, patience: 250 },
  );
  const heavy = await compare(
    [
      making('Newton', newton),
      { name: 'curvature', run: async () => (await ecif.curvatureAt(placed.total, theta, DENSE)).dispose() },
    ],
    { rounds: large ? 1 : 2, warmup: 0, patience: 250 },
  );
  h.dispose();
  const [linear, scaled, full, partly, step, curvature] = [...light, ...heavy].map(({ cpu }) => cpu);
  return {
    ...{ corrected: linear, rescaled: scaled, newton: step },
    ...{ retraining: full, asFarAsNewton: partly, curvature, errors },
  };
}
