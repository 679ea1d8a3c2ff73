// Second derivatives of functions over parameter trees: Hessian and Gauss-Newton products, the dense Hessian.

import { treeFrom, treeMap } from '../array/tree.ts';
import { Dual, Jvp } from './jvp.ts';
import type { Tangent } from './op.ts';
import type { LinearProgram } from './linear-program.ts';
import { full } from './ops/layout.ts';
import { Tape } from './tape.ts';
import { disposeTree, readAll, scope, tensor, type Tensor } from './tensor.ts';
import {
  applyProgram,
  cotangentTree,
  deeper,
  grad,
  jvp,
  leavesOf,
  linearize,
  matching,
  orZeros,
  record,
  recordLinear,
  scalarOf,
  valueAndGrad,
  vjp,
} from './transforms.ts';

/**
 * Hessian times a direction, forward over reverse: the derivative of the gradient along `v`.
 * @example const hv = hvp(loss, theta, v);
 */
export function hvp<T>(f: (theta: T) => Tensor, theta: T, v: T): T {
  return scope(() => jvp(grad(f), theta, v).tangent);
}

/** A scalar function with its gradient and Hessian at one point. */
export interface LinearizedGrad<T> {
  readonly value: Tensor;
  readonly grad: T;
  /** H·v; may be called any number of times. */
  hvp(v: T): T;
  /** Ops that one product runs. */
  readonly length: number;
  /** Gives back what the pass kept. */
  dispose(): void;
}

/**
 * Gradient at θ with everything that Hessian products there need, for solvers that ask many times at one θ.
 * @example const lin = linearizeGrad(loss, theta); const hv = lin.hvp(v); lin.dispose();
 */
export function linearizeGrad<T>(f: (theta: T) => Tensor, theta: T): LinearizedGrad<T> {
  const both = (t: T): { y: T; aux: Tensor } => {
    const { value, grad } = valueAndGrad(f)(t);
    return { y: grad, aux: value };
  };
  const { value: gradient, aux, map } = recordLinear(both, theta);
  return { value: aux, ...linearized(gradient, map, theta) };
}

/** A loss of f(θ) linearised, with the gradient of another function of f(θ). */
export interface LinearizedGrads<T> extends LinearizedGrad<T> {
  readonly other: T;
}

/**
 * What {@link linearizeGrad} keeps of loss(f(θ)), and the gradient of other(f(θ)), from one forward pass.
 * @example const lin = linearizeGrads(similarities, contrastive, removedTerms, theta); // lin.hvp(v), lin.other
 */
export function linearizeGrads<T>(
  f: (theta: T) => Tensor,
  loss: (z: Tensor) => Tensor,
  other: (z: Tensor) => Tensor,
  theta: T,
): LinearizedGrads<T> {
  const primal = (x: Tensor): Tensor => (x instanceof Dual ? x.primal : x);
  const {
    value: gradient,
    aux,
    map,
  } = recordLinear(
    (t: T) =>
      deeper((level) => {
        const tape = new Tape(level);
        try {
          const { y: z, variables } = record(tape, f, t);
          const tree = (parts: readonly Tangent[]): T => cotangentTree(theta, parts, variables);
          const ct = grad(other)(primal(tape.lower(z)));
          const aside = tape.backward([z], [ct], variables, { again: true, view: primal });
          const value = scalarOf(
            'grad',
            scope(() => loss(z)),
          );
          const cts = tape.backward([value], [full(value.device, value.shape, 1)], variables);
          return { y: tree(cts), aux: { value: tape.lower(value), other: tree(aside) } };
        } finally {
          tape.dispose();
        }
      }),
    theta,
  );
  return { ...aux, ...linearized(gradient, map, theta) };
}

/** What a recorded derivative of a gradient gives. */
const linearized = <T>(grad: T, map: LinearProgram, theta: T): Omit<LinearizedGrad<T>, 'value'> => ({
  grad,
  hvp: (v) => scope(() => applyProgram(map, grad, matching('hvp', theta, v))),
  length: map.length,
  dispose: () => map.dispose(),
});

/**
 * Generalised Gauss-Newton product Jᵀ·H_L·J·v for L(f(θ)): positive semi-definite wherever L is convex.
 * @param f maps θ to the outputs the loss is a function of
 * @param loss maps those outputs to a scalar
 * @example const gv = ggnvp(similarities, contrastive, theta, v);
 */
export function ggnvp<T, Z>(f: (theta: T) => Z, loss: (z: Z) => Tensor, theta: T, v: T): T {
  return deeper((level) =>
    scope(() => {
      const [jvp, tape] = [new Jvp(level), new Tape(level + 1)];
      try {
        const tangents = matching('ggnvp', theta, v);
        const duals = leavesOf('ggnvp', theta).map((x, i) => new Dual(jvp, x, [tangents[i]]));
        const { y, variables } = deeper(() => record(tape, f, treeFrom(theta, duals)));
        const outputs = leavesOf('ggnvp', y);
        const split = (x: Tensor): { primal: Tensor; tangents: readonly Tangent[] } => jvp.split(tape.lower(x), 1);
        const z = treeMap<Tensor, Z>(y, (x) => split(x).primal);
        const dz = treeMap<Tensor, Z>(y, (x) => orZeros(split(x).tangents[0], x));
        const ct = leavesOf('ggnvp', hvp(loss, z, dz));
        const parts = tape.backward(outputs, ct, variables, { view: (x) => jvp.split(x, 1).primal });
        return cotangentTree(theta, parts, variables);
      } finally {
        tape.dispose();
      }
    }),
  );
}

/** Gauss-Newton products at one θ. */
export interface LinearizedGgn<T, Z> {
  /** Jᵀ·H_L·J·v; may be called any number of times. */
  ggnvp(v: T): T;
  /** The gradient of L(f(θ)), Jᵀ·∇L, or of another function of f(θ). */
  gradient(other?: (z: Z) => Tensor): T;
  dispose(): void;
}

/** Everything that Gauss-Newton products at θ need, for solvers that ask many times at one θ. */
export function linearizeGgn<T, Z>(f: (theta: T) => Z, loss: (z: Z) => Tensor, theta: T): LinearizedGgn<T, Z> {
  const forward = linearize(f, theta);
  const back = vjp(f, theta);
  const middle = linearizeGrad(loss, forward.value);
  return {
    ggnvp: (v) => scope(() => back.pull(middle.hvp(forward.push(v)))),
    gradient: (other) => scope(() => back.pull(other === undefined ? middle.grad : grad(other)(forward.value))),
    dispose: () => {
      for (const part of [forward, back, middle]) part.dispose();
      disposeTree([forward.value, back.value, middle.value, middle.grad]);
    },
  };
}

/** Products of a dense Hessian that are read back together. */
const ROWS_AT_ONCE = 32;

/**
 * The whole Hessian of a scalar function of few parameters, row by row, as one row-major matrix over all leaves.
 * @returns `matrix` of side `size`, the parameters in leaf order
 * @example const { size, matrix } = await hessian(loss, theta);
 */
export async function hessian<T>(f: (theta: T) => Tensor, theta: T): Promise<{ size: number; matrix: Float64Array }> {
  const leaves = leavesOf('hessian', theta);
  const sizes = leaves.map((x) => x.size);
  const size = sizes.reduce((a, b) => a + b, 0);
  const matrix = new Float64Array(size * size);
  const lin = scope(() => linearizeGrad(f, theta));
  const units = sizes.flatMap((n, leaf) => Array.from({ length: n }, (_, i) => ({ leaf, i })));
  for (let row = 0; row < size; row += ROWS_AT_ONCE) {
    const products = units
      .slice(row, row + ROWS_AT_ONCE)
      .map(({ leaf, i }) => scope(() => lin.hvp(treeFrom(theta, basis(leaves, leaf, i)))));
    let at = row * size;
    for (const part of await readAll(products.flatMap((hv) => leavesOf('hessian', hv)))) {
      matrix.set(part, at);
      at += part.length;
    }
    disposeTree(products);
  }
  lin.dispose();
  disposeTree([lin.value, lin.grad]);
  return { size, matrix };
}

/** The unit vector of element `i` of leaf `leaf`. */
function basis(leaves: readonly Tensor[], leaf: number, i: number): Tensor[] {
  return leaves.map((x, k) => {
    const values = new Float64Array(x.size);
    if (k === leaf) values[i] = 1;
    return tensor(x.device, values, x.shape);
  });
}
