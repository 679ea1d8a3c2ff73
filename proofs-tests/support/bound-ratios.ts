// Bounds over errors on thousands of small removals, in plain float64.

import * as fc from 'fast-check';
import { addScaled, distance } from '../../src/array/vector.ts';
import { certificatesFrom, priorBoundsFrom } from '../../src/ecif/bounds.ts';
import type { ConvexFile } from '../../src/ecif/convex-file.ts';
import { RUNGS } from '../../src/ecif/estimators.ts';
import { cholesky, choleskySolve } from '../../src/index.ts';
import { plainRemoval } from '../../src/verify/ladder.ts';
import { plainMinimum } from '../../src/verify/plain.ts';
import { plainProblem } from '../../src/verify/setting.ts';
import { instances } from './proof.ts';

type Vector = Float64Array;

/** One removal, trained and retrained. */
interface Case {
  readonly file: ConvexFile;
  readonly plain: ReturnType<typeof plainProblem>;
  readonly theta: Vector;
  readonly removal: ReturnType<typeof plainRemoval>;
  readonly truth: Vector;
}

/** Trains, removes and retrains, the last Newton step beyond the tolerance included. */
export function removalCase(file: ConvexFile): Case {
  const plain = plainProblem(file);
  const theta = plainMinimum(plain.total, new Float64Array(file.text[0].length * file.image[0].length));
  const removal = plainRemoval(plain, theta, cholesky(plain.total(theta).hessian, theta.length));
  const after = plain.removal(1);
  const near = plainMinimum(after, theta);
  const { gradient, hessian } = after(near);
  const truth = addScaled(near, -1, choleskySolve(cholesky(hessian, theta.length), gradient));
  return { file, plain, theta, removal, truth };
}

/** Bound over error, by name; where a bound exists and the error is above rounding. */
type Ratios = Record<string, number>;

const ratios = (bounds: object, error: number, change: number): Ratios =>
  Object.fromEntries(
    Object.entries(bounds as Record<string, number | null>).flatMap(([name, b]) =>
      b === null || error < 1e-9 * Math.max(1, change) ? [] : [[name, b / error]],
    ),
  );

/** Bounds that are known before the edit by the corrected form. */
export async function priorRatios({ file, plain, theta, removal, truth }: Case): Promise<Ratios> {
  const error = distance(await RUNGS.corrected(removal), truth);
  const gap = addScaled(plain.negGradient(theta, 'exact'), -1, plain.negGradient(theta, 'corrected'));
  const at = { ...plain.removal(1)(theta), terms: plain.features() };
  return ratios(priorBoundsFrom(at, plain.total(theta).hessian, gap, file.delta), error, distance(theta, truth));
}

/** Certificates of one rung's edit. */
export async function certificateRatios(rung: string, { file, plain, theta, removal, truth }: Case): Promise<Ratios> {
  const edited = await RUNGS[rung](removal);
  const at = { ...plain.removal(1)(edited), terms: plain.features() };
  return ratios(certificatesFrom(at, file.delta), distance(edited, truth), distance(theta, truth));
}

/** Examines `count` removals; what a bound is below in one of them is a failure, shrunk. */
export async function gather(count: number, of: (one: Case) => Promise<Ratios>): Promise<Record<string, number[]>> {
  const all: Record<string, number[]> = {};
  const property = fc.asyncProperty(instances({}), async (file) => {
    for (const [name, ratio] of Object.entries(await of(removalCase(file)))) {
      if (!(ratio >= 1 - 1e-7)) throw new Error(`${name} is ${ratio} of the error`);
      (all[name] ??= []).push(ratio);
    }
  });
  await fc.assert(property, { numRuns: count, seed: 31 });
  return all;
}
