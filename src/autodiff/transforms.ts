// First derivatives of functions over parameter trees: gradients, pullbacks, dual-number sweeps, linear maps.

import { EcifError, ShapeError } from '../array/errors.ts';
import { formatShape, sameShape } from '../array/shape.ts';
import { treeFrom, treeLeaves, treeMap, treePaths } from '../array/tree.ts';
import { Dual, Jvp } from './jvp.ts';
import { type LinearProgram, LinearRecorder } from './linear-program.ts';
import type { Tangent } from './op.ts';
import { full, zeros } from './ops/layout.ts';
import { scope, Tensor } from './tensor.ts';
import { Tape, type Variable } from './tape.ts';

let depth = 0;

/** Runs `f` one interpreter level deeper. */
export function deeper<R>(f: (level: number) => R): R {
  depth++;
  try {
    return f(depth);
  } finally {
    depth--;
  }
}

export const leavesOf = (op: string, tree: unknown): Tensor[] => {
  const leaves = treeLeaves<unknown>(tree);
  leaves.forEach((x, i) => {
    if (!(x instanceof Tensor))
      throw new EcifError(
        `${op}: ${treePaths(tree)[i] === '' ? 'the parameter' : `leaf ${treePaths(tree)[i]}`} is not a tensor; wrap numbers with tensor()`,
      );
  });
  return leaves as Tensor[];
};

/** The leaves of a tangent tree, checked against the leaves they are tangents of. */
export function matching(op: string, theta: unknown, tangent: unknown): Tensor[] {
  const [leaves, tangents] = [leavesOf(op, theta), leavesOf(op, tangent)];
  const paths = treePaths(theta);
  const found = treePaths(tangent);
  if (paths.join() !== found.join()) {
    const odd = found.find((path) => !paths.includes(path)) ?? paths.find((path) => !found.includes(path));
    throw new ShapeError(
      `${op}: tangents for other parameters than there are, such as ${odd}; give a tree of the same form`,
    );
  }
  leaves.forEach((x, i) => {
    if (!sameShape(x.shape, tangents[i].shape)) {
      throw new ShapeError(
        `${op}: tangent of ${paths[i] || 'the parameter'} has shape ${formatShape(tangents[i].shape)}, ${formatShape(x.shape)} expected; reshape it`,
      );
    }
  });
  return tangents;
}

export const orZeros = (t: Tangent, like: Tensor): Tensor => t ?? zeros(like.device, like.shape);

export function scalarOf(op: string, y: unknown): Tensor {
  if (!(y instanceof Tensor)) throw new EcifError(`${op}: the function returned no tensor; return a scalar loss`);
  if (y.size !== 1)
    throw new ShapeError(
      `${op}: the function returned shape ${formatShape(y.shape)}; return a scalar, for example sum(…)`,
    );
  return y;
}

/** Cotangents of the leaves of θ as a tree like it, zeros where nothing depends on a leaf. */
export const cotangentTree = <T>(theta: T, parts: readonly Tangent[], leaves: readonly Tensor[]): T =>
  treeFrom(
    theta,
    parts.map((part, i) => orZeros(part, leaves[i])),
  );

/** f(θ) on a tape whose values live until the tape is disposed; `y` is the tape's view of the result. */
export function record<T, Y>(tape: Tape, f: (theta: T) => Y, theta: T): { y: Y; variables: Variable[] } {
  const variables = leavesOf('grad', theta).map((x) => tape.variable(x));
  return { y: scope(() => f(treeFrom(theta, variables))), variables };
}

/**
 * Value and gradient of a scalar function in one forward and one backward pass.
 * @param f maps a tree of tensors to a scalar
 * @returns a function of θ that gives `{ value, grad }`, `grad` a tree like θ
 * @throws ShapeError if `f` does not return a scalar
 * @example const { value, grad } = valueAndGrad((w: Tensor) => sum(square(w)))(w);
 */
export function valueAndGrad<T>(f: (theta: T) => Tensor): (theta: T) => { value: Tensor; grad: T } {
  return (theta) =>
    deeper((level) =>
      scope(() => {
        const tape = new Tape(level);
        try {
          const { y, variables } = record(tape, f, theta);
          const value = tape.lower(scalarOf('grad', y));
          const cts = tape.backward([y], [full(y.device, y.shape, 1)], variables);
          return {
            value,
            grad: cotangentTree(theta, cts, variables),
          };
        } finally {
          tape.dispose();
        }
      }),
    );
}

/**
 * Gradient of a scalar function.
 * @example const g = grad((w: Tensor) => sum(square(w)))(w);
 */
export function grad<T>(f: (theta: T) => Tensor): (theta: T) => T {
  return (theta) => scope(() => valueAndGrad(f)(theta).grad);
}

/** Runs `f`; if it throws, what was recorded is given back. */
function disposing<R>(recorder: { dispose(): void }, f: () => R): R {
  try {
    return f();
  } catch (error) {
    recorder.dispose();
    throw error;
  }
}

/** A function evaluated once, with the transpose of its derivative. */
export interface Pullback<T, Y> {
  readonly value: Y;
  /** Jᵀ·ct, a tree like θ; may be called any number of times. */
  pull(ct: Y): T;
  /** Gives back what the pass kept. */
  dispose(): void;
}

/**
 * Evaluates `f` and keeps what its transposed derivative needs.
 * @param f maps a tree to a tree
 * @example const { value, pull, dispose } = vjp(model, theta);
 */
export function vjp<T, Y>(f: (theta: T) => Y, theta: T): Pullback<T, Y> {
  return deeper((level) => {
    const tape = new Tape(level);
    const { y, variables } = disposing(tape, () => record(tape, f, theta));
    const outputs = leavesOf('vjp', y);
    const value = treeMap<Tensor, Y>(y, (x) => tape.lower(x));
    tape.open = false;
    return {
      value,
      pull: (ct) =>
        scope(() => {
          const cts = matching('vjp', value, ct);
          const parts = tape.backward(outputs, cts, variables, { again: true });
          return cotangentTree(theta, parts, variables);
        }),
      dispose: () => tape.dispose(),
    };
  });
}

/** Runs `f` on dual numbers and splits the result. */
function pushForward<T, Y>(
  f: (theta: T) => Y,
  theta: T,
  tangents: readonly (readonly Tangent[])[],
): { value: Y; tangents: Y[] } {
  return deeper((level) =>
    scope(() => {
      const jvp = new Jvp(level);
      const leaves = leavesOf('jvp', theta);
      const duals = leaves.map(
        (x, i) =>
          new Dual(
            jvp,
            x,
            tangents.map((t) => t[i]),
          ),
      );
      const y = f(treeFrom(theta, duals));
      jvp.open = false;
      const split = (x: Tensor): { primal: Tensor; tangents: readonly Tangent[] } => jvp.split(x, tangents.length);
      return {
        value: treeMap<Tensor, Y>(y, (x) => split(x).primal),
        tangents: tangents.map((_, i) => treeMap<Tensor, Y>(y, (x) => orZeros(split(x).tangents[i], x))),
      };
    }),
  );
}

/**
 * Value and directional derivative in one forward sweep.
 * @param tangent a tree like θ
 * @example const { value, tangent } = jvp(f, theta, direction);
 */
export function jvp<T, Y>(f: (theta: T) => Y, theta: T, tangent: T): { value: Y; tangent: Y } {
  const { value, tangents } = pushForward(f, theta, [matching('jvp', theta, tangent)]);
  return { value, tangent: tangents[0] };
}

/**
 * Value and several directional derivatives in one sweep that computes the values once.
 * @example const { tangents } = jvpMany(f, theta, [d1, d2, d3]);
 */
export function jvpMany<T, Y>(f: (theta: T) => Y, theta: T, tangents: readonly T[]): { value: Y; tangents: Y[] } {
  return pushForward(
    f,
    theta,
    tangents.map((t) => matching('jvpMany', theta, t)),
  );
}

/** A function linearised at one point. */
export interface Linearized<T, Y> {
  readonly value: Y;
  /** J·v; may be called any number of times. */
  push(v: T): Y;
  /** Ops that one product runs. */
  readonly length: number;
  /** Gives back what the pass kept. */
  dispose(): void;
}

/** f at θ as a value, an auxiliary value that is not differentiated, and a recorded linear map. */
export function recordLinear<T, Y, A>(
  f: (theta: T) => { y: Y; aux: A },
  theta: T,
): { value: Y; aux: A; map: LinearProgram } {
  return deeper((level) =>
    scope(() => {
      const recorder = new LinearRecorder(level);
      const leaves = leavesOf('linearize', theta);
      const unknowns = leaves.map((x) => recorder.input(x));
      const jvp = new Jvp(level + 1);
      const duals = leaves.map((x, i) => new Dual(jvp, x, [unknowns[i]]));
      const { y, aux } = disposing(recorder, () => deeper(() => f(treeFrom(theta, duals))));
      jvp.open = false;
      const primal = (x: Tensor): Tensor => jvp.split(x, 1).primal;
      const map = recorder.finish(leavesOf('linearize', y).map((x) => jvp.split(x, 1).tangents[0]));
      return { value: treeMap<Tensor, Y>(y, primal), aux: treeMap<Tensor, A>(aux, primal), map };
    }),
  );
}

/**
 * Evaluates `f` once and keeps what its derivative multiplies tangents with.
 * @example const { push, dispose } = linearize(f, theta); const jv = push(v); dispose();
 */
export function linearize<T, Y>(f: (theta: T) => Y, theta: T): Linearized<T, Y> {
  const { value, map } = recordLinear((t: T) => ({ y: f(t), aux: null }), theta);
  return {
    value,
    push: (v) => scope(() => applyProgram(map, value, matching('linearize', theta, v))),
    length: map.length,
    dispose: () => map.dispose(),
  };
}

export function applyProgram<Y>(program: LinearProgram, value: Y, tangents: readonly Tensor[]): Y {
  const parts = program.apply(tangents);
  return treeMap<Tensor, Y>(value, (like, i) => orZeros(parts[i], like));
}
