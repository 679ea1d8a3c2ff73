// Checking derivatives against finite differences, with any function and on any device.

import { NumericsError } from '../array/errors.ts';
import { createRng } from '../array/rng.ts';
import { treeLeaves } from '../array/tree.ts';
import { addScaled, distance, dot, norm } from '../array/vector.ts';
import { Flat } from './flat.ts';
import { scope, type Tensor } from './tensor.ts';
import { hvp } from './curvature.ts';
import { grad, jvp } from './transforms.ts';

/** Settings of {@link checkGrads}. */
export interface CheckOptions {
  /** Step of the central differences; the cube root of the device's roundoff unless told. */
  step?: number;
  /** Largest relative error allowed; 1e-6 in float64 and 2e-2 in float32 unless told. */
  tolerance?: number;
  /** Random directions tried. */
  directions?: number;
  seed?: number;
  /** Check Hessian products too. */
  second?: boolean;
}

/** Relative errors found, each the largest over all directions. */
export interface CheckReport {
  /** Derivative along a direction by jvp, against (f(θ+hv) − f(θ−hv))/2h. */
  readonly jvp: number;
  /** ⟨∇f, v⟩ by reverse mode, against jvp. */
  readonly vjp: number;
  /** H·v, against (∇f(θ+hv) − ∇f(θ−hv))/2h. */
  readonly hvp: number;
  /** ⟨u, H·v⟩ against ⟨v, H·u⟩. */
  readonly symmetry: number;
}

type Vector = Float64Array;

const difference = (a: Vector, b: Vector, h: number): Vector => a.map((x, i) => (x - b[i]) / (2 * h));

/** Reads the scalar that `f` makes and gives its memory back. */
async function readScalar(f: () => Tensor): Promise<number> {
  const y = scope(f);
  const value = await y.item();
  y.dispose();
  return value;
}

/**
 * Compares the derivatives of a scalar function with finite differences along random directions.
 * @param f maps a tree of tensors to a scalar
 * @param theta where to check; stay clear of kinks
 * @returns the largest relative errors; NaN where a derivative is
 * @example const { jvp, hvp } = await gradErrors((w: Tensor) => sum(exp(w)), w);
 */
export async function gradErrors<T>(
  f: (theta: T) => Tensor,
  theta: T,
  options: Omit<CheckOptions, 'tolerance'> = {},
): Promise<CheckReport> {
  const device = treeLeaves<Tensor>(theta)[0].device;
  const { step: h = Math.cbrt(device.epsilon), directions = 2, seed = 0, second = true } = options;
  const flat = new Flat(theta);
  const at = await flat.toVector(theta);
  const rng = createRng(seed);
  const direction = (): Vector => {
    const v = Float64Array.from({ length: flat.size }, () => rng.normal());
    const length = norm(v);
    return v.map((x) => x / length);
  };
  const value = (x: Vector): Promise<number> => readScalar(() => f(flat.toTree(x)));
  const gradient = (x: Vector): Promise<Vector> => flat.read(() => grad(f)(flat.toTree(x)));
  const product = (v: Vector): Promise<Vector> => flat.read(() => hvp(f, theta, flat.toTree(v)));
  const worst = { jvp: 0, vjp: 0, hvp: 0, symmetry: 0 };
  const note = (kind: keyof CheckReport, error: number, scale: number): void => {
    worst[kind] = Math.max(worst[kind], error / Math.max(scale, 1e-3));
  };
  const g = await flat.read(() => grad(f)(theta));
  const scale = Math.max(norm(g), Math.abs(await value(at)));
  for (let i = 0; i < directions; i++) {
    const [u, v] = [direction(), direction()];
    const slope = await readScalar(() => jvp(f, theta, flat.toTree(v)).tangent);
    note(
      'jvp',
      Math.abs(slope - ((await value(addScaled(at, h, v))) - (await value(addScaled(at, -h, v)))) / (2 * h)),
      scale,
    );
    note('vjp', Math.abs(slope - dot(g, v)), norm(g));
    if (!second) continue;
    const [hu, hv] = [await product(u), await product(v)];
    const expected = difference(await gradient(addScaled(at, h, v)), await gradient(addScaled(at, -h, v)), h);
    note('hvp', distance(hv, expected), Math.max(norm(g), norm(expected)));
    note('symmetry', Math.abs(dot(u, hv) - dot(v, hu)), Math.max(norm(hu), norm(hv)));
  }
  return worst;
}

/**
 * Checks the derivatives of a scalar function against finite differences along random directions.
 * @param f maps a tree of tensors to a scalar
 * @param theta where to check; stay clear of kinks
 * @returns the largest relative errors
 * @throws NumericsError when one exceeds the tolerance; the message has all of them
 * @example await checkGrads((w: Tensor) => sum(exp(w)), w);
 */
export async function checkGrads<T>(
  f: (theta: T) => Tensor,
  theta: T,
  options: CheckOptions = {},
): Promise<CheckReport> {
  const { tolerance = treeLeaves<Tensor>(theta)[0].device.kind === 'cpu' ? 1e-6 : 2e-2, ...rest } = options;
  const worst = await gradErrors(f, theta, rest);
  const failed = Object.entries(worst).filter(([, error]) => !(error <= tolerance));
  if (failed.length > 0) {
    const list = Object.entries(worst).map(([kind, error]) => `${kind} ${error.toExponential(1)}`);
    const kinds = failed.map(([kind]) => kind).join(', ');
    throw new NumericsError(`checkGrads: ${kinds} off by more than ${tolerance}; relative errors ${list.join(', ')}`);
  }
  return worst;
}
