// Shapes, strides, broadcasting and axis arithmetic; everything here is pure.

import { ShapeError } from './errors.ts';

/** Sizes of a tensor's axes, outermost first; `[]` is a scalar. */
export type Shape = readonly number[];

export const sizeOf = (shape: Shape): number => shape.reduce((n, d) => n * d, 1);

export const formatShape = (shape: Shape): string => `[${shape.join(',')}]`;

export const sameShape = (a: Shape, b: Shape): boolean => a.length === b.length && a.every((d, i) => d === b[i]);

/** Row-major strides in elements. */
export function stridesOf(shape: Shape): number[] {
  const strides = new Array<number>(shape.length);
  let step = 1;
  for (let i = shape.length - 1; i >= 0; i--) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

/** Checks that a shape is a list of non-negative whole numbers. */
export function checkShape(op: string, shape: Shape): void {
  if (!shape.every((d) => Number.isInteger(d) && d >= 0)) {
    throw new ShapeError(`${op}: ${formatShape(shape)} is not a shape; use whole numbers ≥ 0`);
  }
}

/** The shape two operands broadcast to, numpy's rule: align right, equal or one. */
export function broadcastShapes(op: string, a: Shape, b: Shape): number[] {
  const rank = Math.max(a.length, b.length);
  const out = new Array<number>(rank);
  for (let i = 0; i < rank; i++) {
    const p = a[a.length - rank + i] ?? 1;
    const q = b[b.length - rank + i] ?? 1;
    if (p !== q && p !== 1 && q !== 1) {
      throw new ShapeError(
        `${op}: shapes do not broadcast, ${formatShape(a)} and ${formatShape(b)}; axes must be equal or 1 from the right`,
      );
    }
    out[i] = p === 1 ? q : p;
  }
  return out;
}

/** Strides that read `from` as if it had the shape `to` (0 along broadcast axes). */
export function broadcastStrides(from: Shape, to: Shape): number[] {
  const own = stridesOf(from);
  const lead = to.length - from.length;
  return to.map((_, i) => (i < lead || from[i - lead] === 1 ? 0 : own[i - lead]));
}

/** Whole-number axes in 0…rank−1, sorted, negative ones counted from the end; `undefined` means all. */
export function normalizeAxes(op: string, axes: number | readonly number[] | undefined, rank: number): number[] {
  if (axes === undefined) return Array.from({ length: rank }, (_, i) => i);
  const list = (typeof axes === 'number' ? [axes] : axes).map((a) => (a < 0 ? a + rank : a));
  const sorted = [...new Set(list)].sort((p, q) => p - q);
  if (sorted.length !== list.length || !list.every((a) => Number.isInteger(a) && a >= 0 && a < rank)) {
    throw new ShapeError(
      `${op}: axes ${JSON.stringify(axes)} do not fit rank ${rank}; use distinct axes in ${-rank}…${rank - 1}`,
    );
  }
  return sorted;
}

/** The shape left after reducing `axes` (already normalised). */
export function reducedShape(shape: Shape, axes: readonly number[], keepDims: boolean): number[] {
  if (keepDims) return shape.map((d, i) => (axes.includes(i) ? 1 : d));
  return shape.filter((_, i) => !axes.includes(i));
}

/** Axes of `to` along which `from` was broadcast, so that summing over them undoes it. */
export function broadcastAxes(from: Shape, to: Shape): number[] {
  const lead = to.length - from.length;
  return to.map((_, i) => i).filter((i) => i < lead || (from[i - lead] === 1 && to[i] !== 1));
}

/**
 * Merges adjacent axes that every operand steps through contiguously, and drops axes of size one. Fewer axes mean
 * simpler kernels; the element order is unchanged.
 */
export function collapseAxes(
  shape: Shape,
  strides: readonly (readonly number[])[],
): { shape: number[]; strides: number[][] } {
  const dims: number[] = [];
  const steps: number[][] = strides.map(() => []);
  for (let i = 0; i < shape.length; i++) {
    if (shape[i] === 1) continue;
    const last = dims.length - 1;
    const merges = last >= 0 && strides.every((s, o) => steps[o][last] === s[i] * shape[i]);
    if (merges) {
      dims[last] *= shape[i];
      strides.forEach((s, o) => (steps[o][last] = s[i]));
    } else {
      dims.push(shape[i]);
      strides.forEach((s, o) => steps[o].push(s[i]));
    }
  }
  return { shape: dims, strides: steps };
}
