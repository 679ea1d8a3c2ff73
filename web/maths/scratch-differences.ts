// Finite differences of a function and of its gradient, at one step and over many.

import { grad, readAll, scope, tensor, type Tensor } from '../../src/index.ts';

/** Central differences beside what they should be. */
export interface Differences {
  /** (f(θ+h·e) − f(θ−h·e))/2h for every entry. */
  readonly gradient: readonly number[];
  /** (∇f(θ+h·v) − ∇f(θ−h·v))/2h */
  readonly product: readonly number[];
  /** ‖difference − derivative‖/‖derivative‖ at that step. */
  readonly errors: { readonly slope: number; readonly gradient: number; readonly product: number };
  /** The same over steps: of the slope along v, and of H·v. */
  readonly curve: readonly { readonly step: number; readonly slope: number; readonly product: number }[];
}

/** Steps of the curve: half decades. */
const STEPS = Array.from({ length: 25 }, (_, i) => 10 ** (-i / 2));

/** The derivatives that differences are compared with. */
interface Derivatives {
  readonly gradient: readonly number[];
  readonly slope: number;
  readonly product: readonly number[];
}

/** ‖a − b‖/‖b‖; ‖a − b‖ where b is zero. */
function errorOf(a: readonly number[], b: readonly number[]): number {
  const size = Math.hypot(...b);
  return Math.hypot(...a.map((x, i) => x - b[i])) / (size > 0 ? size : 1);
}

/** Differences of `f` at θ along a direction. */
export async function differences(
  f: (theta: Tensor) => Tensor,
  theta: Tensor,
  direction: Float64Array,
  step: number,
  exact: Derivatives,
): Promise<Differences> {
  const at = Float64Array.from(await theta.data());
  const moved = (v: ArrayLike<number>, h: number): Tensor =>
    tensor(
      theta.device,
      at.map((x, i) => x + h * v[i]),
      theta.shape,
    );
  const unit = (k: number): number[] => Array.from(at, (_, i) => Number(i === k));
  /** Values at θ+h·v and θ−h·v, of all that is asked for, with one wait. */
  const ends = async (
    of: (x: Tensor) => Tensor,
    asked: readonly (readonly [ArrayLike<number>, number])[],
  ): Promise<number[][]> => {
    const made = scope(() => asked.flatMap(([v, h]) => [h, -h].map((s) => scope(() => of(moved(v, s))))));
    const read = await readAll(made);
    made.forEach((x) => x.dispose());
    return asked.map(([, h], i) => Array.from(read[2 * i], (p, k) => (p - read[2 * i + 1][k]) / (2 * h)));
  };
  const gradient = (
    await ends(
      f,
      Array.from(at, (_, k) => [unit(k), step] as const),
    )
  ).flat();
  const steps = [step, ...STEPS];
  const slopes = (
    await ends(
      f,
      steps.map((h) => [direction, h] as const),
    )
  ).flat();
  const products = await ends(
    grad(f),
    steps.map((h) => [direction, h] as const),
  );
  const errors = steps.map((h, i) => ({
    step: h,
    slope: errorOf([slopes[i]], [exact.slope]),
    product: errorOf(products[i], exact.product),
  }));
  const [{ slope, product }, ...curve] = errors;
  return {
    gradient,
    product: products[0],
    errors: { slope, gradient: errorOf(gradient, exact.gradient), product },
    curve,
  };
}
