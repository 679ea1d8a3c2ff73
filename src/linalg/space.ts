// The vector-space seam: one algorithm for Float64Array and for device tensors or trees of them.
import { NumericsError, ShapeError } from '../array/errors.ts';

/**
 * What an iterative method needs of its vectors, and nothing more.
 *
 * `dots` is the only wait: it takes all pairs of a step at once, so a device reads back once.
 * `combine` always makes a new vector, so a caller may release any input right after.
 *
 * @example const [xx, xy] = await space.dots([[x, x], [x, y]]);
 */
export interface Space<V> {
  /** Inner products ⟨a,b⟩ of all pairs, in order, with one wait. */
  dots(pairs: readonly (readonly [V, V])[]): Promise<number[]>;
  /** New vector Σ coeffs[i]·vectors[i]; at least one term. */
  combine(coeffs: readonly number[], vectors: readonly V[]): V;
  /** New vector of zeros, shaped like `like`. */
  zeros(like: V): V;
  /** Gives memory back; the vectors are not used afterwards. */
  release(...vectors: V[]): void;
}

/**
 * A linear operator. It returns a new vector that the algorithm will release; it keeps no claim on its argument.
 * (Returning the argument itself is tolerated: the algorithm then takes a copy.)
 */
export type Operator<V> = (v: V) => V | Promise<V>;

/** Value and gradient of a smooth function; the gradient is a new vector that the algorithm will release. */
export interface Evaluation<V> {
  readonly value: number;
  readonly gradient: V;
}

/** A smooth function, evaluated with its gradient. */
export type Objective<V> = (x: V) => Evaluation<V> | Promise<Evaluation<V>>;

function dot(a: Float64Array, b: Float64Array): number {
  if (a.length !== b.length) {
    throw new ShapeError(`dots: lengths differ, ${a.length} and ${b.length}; both vectors must come from one space`);
  }
  let s0 = 0;
  let s1 = 0;
  let i = 0;
  for (; i + 1 < a.length; i += 2) {
    s0 += a[i] * b[i];
    s1 += a[i + 1] * b[i + 1];
  }
  if (i < a.length) s0 += a[i] * b[i];
  return s0 + s1;
}

/**
 * Float64Array vectors on the CPU.
 *
 * @throws ShapeError from `dots` and `combine` when lengths differ.
 * @example const sum = float64Space.combine([1, 2], [x, y]); // x + 2y
 */
export const float64Space: Space<Float64Array> = {
  async dots(pairs) {
    return pairs.map(([a, b]) => dot(a, b));
  },
  combine(coeffs, vectors) {
    if (coeffs.length !== vectors.length || coeffs.length === 0) {
      const counts = `${coeffs.length} coefficients for ${vectors.length} vectors`;
      throw new ShapeError(`combine: ${counts}; give one coefficient per vector, at least one`);
    }
    const out = new Float64Array(vectors[0].length);
    vectors.forEach((v, k) => {
      if (v.length !== out.length) {
        throw new ShapeError(`combine: lengths differ, ${out.length} and ${v.length}; all must come from one space`);
      }
      const c = coeffs[k];
      for (let i = 0; i < out.length; i++) out[i] += c * v[i];
    });
    return out;
  },
  zeros: (like) => new Float64Array(like.length),
  release: () => undefined,
};

/** Vectors an algorithm owns. Dropping one it does not own (the caller's) does nothing, so the caller's stay alive. */
export class Held<V> {
  readonly #space: Space<V>;
  readonly #live = new Set<V>();

  constructor(space: Space<V>) {
    this.#space = space;
  }

  /** Takes ownership. */
  own(v: V): V {
    this.#live.add(v);
    return v;
  }

  /** Owned Σ coeffs[i]·vectors[i]. */
  combine(coeffs: readonly number[], vectors: readonly V[]): V {
    return this.own(this.#space.combine(coeffs, vectors));
  }

  /** Owned result of an operator on `v`, copied if the operator returned `v` itself. */
  async apply(operator: Operator<V>, v: V): Promise<V> {
    return this.adopt(await operator(v), v);
  }

  /** Takes ownership of what a callback made from `input`; a copy if the callback returned `input` itself. */
  adopt(made: V, input: V): V {
    return made === input ? this.combine([1], [input]) : this.own(made);
  }

  /** Releases what is owned among `vectors`, ignores the rest. */
  drop(...vectors: V[]): void {
    for (const v of vectors) if (this.#live.delete(v)) this.#space.release(v);
  }

  /** Drops `old`, returns `next`: `x = held.replace(x, held.combine(…))`. */
  replace(old: V, next: V): V {
    if (old !== next) this.drop(old);
    return next;
  }

  /** Hands a vector to the caller: the owned one, or a copy if it was never owned (a result is always fresh). */
  give(v: V): V {
    return this.#live.delete(v) ? v : this.#space.combine([1], [v]);
  }

  /** Releases everything still owned; call it in `finally`. */
  end(): void {
    const rest = [...this.#live];
    this.#live.clear();
    if (rest.length > 0) this.#space.release(...rest);
  }
}

/** Throws a NumericsError when a scalar of an iteration is NaN or infinite. */
export function requireFinite(method: string, what: string, value: number, iteration: number): void {
  if (Number.isFinite(value)) return;
  const fix = 'check the operator and its inputs for NaN or overflow';
  throw new NumericsError(`${method}: ${what} is ${value} at iteration ${iteration}; ${fix}`);
}
