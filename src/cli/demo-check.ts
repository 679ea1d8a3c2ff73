// The demo's check: derivatives against central differences in float64, and the device against float64.

import { createRng } from '../array/rng.ts';
import { treeLeaves, treeMap } from '../array/tree.ts';
import { add } from '../autodiff/ops/binary.ts';
import { affine } from '../autodiff/ops/unary.ts';
import { disposeTree, readAll, scope, type Tensor, tensor } from '../autodiff/tensor.ts';
import { hvp } from '../autodiff/curvature.ts';
import { grad } from '../autodiff/transforms.ts';
import { type Device, openDevice } from '../device/open.ts';
import type { PairBatch, TwoTower } from '../models/two-tower.ts';

/** Relative errors, with the largest each may be. */
export interface DerivativeCheck {
  readonly ok: boolean;
  /** Pairs of the batch. */
  readonly pairs: number;
  /** Exact derivatives in float64 against central differences, the largest over the directions. */
  readonly float64: {
    /** |⟨∇L, d⟩ − (L(θ+hd) − L(θ−hd))/2h| / ‖∇L‖. */
    readonly gradient: number;
    /** ‖H·d − (∇L(θ+hd) − ∇L(θ−hd))/2h‖ / ‖H·d‖. */
    readonly hvp: number;
    readonly tolerance: number;
  };
  /** Gradient and a Hessian product of this device against float64; null on the CPU, which is float64. */
  readonly device: { readonly gradient: number; readonly hvp: number; readonly tolerance: number } | null;
}

const TOLERANCE = { float64: 1e-6, device: 1e-3 };

/** The same values on another device. */
async function copyTo<T>(device: Device, tree: T): Promise<T> {
  const leaves = treeLeaves<Tensor>(tree);
  const values = await readAll(leaves);
  return treeMap<Tensor, T>(tree, (x, i) => tensor(device, values[i], x.shape));
}

/** The values of a tree as one vector; the tree is given back. */
async function readTree(tree: unknown): Promise<Float64Array> {
  const values = await readAll(treeLeaves<Tensor>(tree));
  disposeTree(tree);
  const out = new Float64Array(values.reduce((n, part) => n + part.length, 0));
  let first = 0;
  for (const part of values) {
    out.set(part, first);
    first += part.length;
  }
  return out;
}

const norm = (x: Float64Array): number => Math.sqrt(x.reduce((s, v) => s + v * v, 0));

/** ‖a − b‖/‖b‖. */
const relative = (a: Float64Array, b: Float64Array): number => norm(a.map((v, i) => v - b[i])) / norm(b);

/** A vector as a tree of float32 precision and of length one, so that every device has the same direction. */
function unitTree(device: Device, like: TwoTower, values: Float64Array): TwoTower {
  const length = norm(values);
  let first = 0;
  return treeMap<Tensor, TwoTower>(like, (x) => {
    const part = Float32Array.from(values.subarray(first, (first += x.size)), (v) => v / length);
    return tensor(device, part, x.shape);
  });
}

/** A loss of a batch as a function of the parameters. */
type BatchLoss = (theta: TwoTower, batch: PairBatch) => Tensor;

interface Point {
  readonly theta: TwoTower;
  readonly batch: PairBatch;
  readonly loss: BatchLoss;
}

const lossAt = ({ batch, loss }: Point): ((theta: TwoTower) => Tensor) => {
  return (theta) => loss(theta, batch);
};

const gradientAt = (point: Point): Promise<Float64Array> => readTree(grad(lossAt(point))(point.theta));

/** H·d at a point. */
function productAt(point: Point, d: Float64Array): Promise<Float64Array> {
  const v = scope(() => hvp(lossAt(point), point.theta, unitTree(point.theta.text.w1.device, point.theta, d)));
  return readTree(v);
}

/** The point moved by h along a direction of length one. */
function moved(point: Point, d: Float64Array, h: number): Point {
  const theta = scope(() => {
    const steps = treeLeaves<Tensor>(unitTree(point.theta.text.w1.device, point.theta, d));
    return treeMap<Tensor, TwoTower>(point.theta, (x, i) => add(x, affine(steps[i], h, 0)));
  });
  return { ...point, theta };
}

/** Exact derivatives along one direction, against central differences. */
async function difference(point: Point, g: Float64Array, d: Float64Array): Promise<{ gradient: number; hvp: number }> {
  const h = Math.cbrt(point.theta.text.w1.device.epsilon);
  const [up, down] = [moved(point, d, h), moved(point, d, -h)];
  const value = async (p: Point): Promise<number> => (await readTree(scope(() => lossAt(p)(p.theta))))[0];
  const slope = g.reduce((s, v, i) => s + v * d[i], 0) / norm(d);
  const gradient = Math.abs(slope - ((await value(up)) - (await value(down))) / (2 * h)) / norm(g);
  const [above, below] = [await gradientAt(up), await gradientAt(down)];
  disposeTree([up.theta, down.theta]);
  const expected = above.map((v, i) => (v - below[i]) / (2 * h));
  return { gradient, hvp: relative(expected, await productAt(point, d)) };
}

/** Checks the derivatives of a loss at θ along the gradient and along a random direction. */
export async function checkDerivatives(
  theta: TwoTower,
  batch: PairBatch,
  loss: BatchLoss,
  seed: number,
): Promise<DerivativeCheck> {
  const here: Point = { theta, batch, loss };
  const cpu = await openDevice({ kind: 'cpu' });
  const exact: Point = { ...(await copyTo(cpu, { theta, batch })), loss };
  const g = await gradientAt(exact);
  const rng = createRng(seed).fork(5);
  const random = g.map(() => rng.normal());
  const errors = [await difference(exact, g, g), await difference(exact, g, random)];
  const onCpu = theta.text.w1.device.kind === 'cpu';
  const device = onCpu
    ? null
    : {
        gradient: relative(await gradientAt(here), g),
        hvp: relative(await productAt(here, g), await productAt(exact, g)),
        tolerance: TOLERANCE.device,
      };
  const worst = (kind: 'gradient' | 'hvp'): number => errors.reduce((m, e) => (e[kind] <= m ? m : e[kind]), 0);
  const float64 = { gradient: worst('gradient'), hvp: worst('hvp'), tolerance: TOLERANCE.float64 };
  disposeTree([exact.theta, exact.batch]);
  cpu.destroy();
  const ok = [float64, device].every((e) => e === null || (e.gradient <= e.tolerance && e.hvp <= e.tolerance));
  return { ok, pairs: batch.text.shape[0], float64, device };
}
