// The demo's check: derivatives against central differences in float64, and the device against float64.

import { treeLeaves, treeMap } from '../array/tree.ts';
import { gradErrors } from '../autodiff/check.ts';
import { hvp } from '../autodiff/curvature.ts';
import { disposeTree, readAll, scope, type Tensor, tensor } from '../autodiff/tensor.ts';
import { grad } from '../autodiff/transforms.ts';
import { type Device, openDevice } from '../device/open.ts';
import type { PairBatch } from '../models/model.ts';
import type { TwoTower } from '../models/two-tower.ts';

/** Relative errors, with the largest each may be. */
export interface DerivativeCheck {
  readonly ok: boolean;
  /** Pairs of the batch. */
  readonly pairs: number;
  /** Exact derivatives in float64 against central differences, the largest over random directions. */
  readonly float64: { readonly gradient: number; readonly hvp: number; readonly tolerance: number };
  /** Gradient and a Hessian product of this device against float64; null on the CPU, which is float64. */
  readonly device: { readonly gradient: number; readonly hvp: number; readonly tolerance: number } | null;
}

const TOLERANCE = { float64: 1e-6, device: 1e-3 };

/** A loss of a batch as a function of the parameters. */
type BatchLoss = (theta: TwoTower, batch: PairBatch) => Tensor;

/** The same values on another device. */
async function copyTo<T>(device: Device, tree: T): Promise<T> {
  const values = await readAll(treeLeaves<Tensor>(tree));
  return treeMap<Tensor, T>(tree, (x, i) => tensor(device, values[i], x.shape));
}

/** The gradient, and the Hessian times it at unit length, as vectors. */
async function derivatives(theta: TwoTower, f: (theta: TwoTower) => Tensor, along: TwoTower): Promise<number[][]> {
  const trees = scope(() => [grad(f)(theta), hvp(f, theta, along)]);
  const vectors = [];
  for (const tree of trees) vectors.push((await readAll(treeLeaves<Tensor>(tree))).flatMap((part) => [...part]));
  disposeTree(trees);
  return vectors;
}

const norm = (x: readonly number[]): number => Math.sqrt(x.reduce((s, v) => s + v * v, 0));

/** ‖a − b‖/‖b‖. */
const relative = (a: readonly number[], b: readonly number[]): number => norm(a.map((v, i) => v - b[i])) / norm(b);

/** Checks the derivatives of a loss at θ, in float64 and on the device θ lives on. */
export async function checkDerivatives(
  theta: TwoTower,
  batch: PairBatch,
  loss: BatchLoss,
  seed: number,
): Promise<DerivativeCheck> {
  const cpu = await openDevice({ kind: 'cpu' });
  const exact = await copyTo(cpu, { theta, batch });
  const f = (t: TwoTower): Tensor => loss(t, exact.batch);
  const errors = await gradErrors(f, exact.theta, { seed });
  const float64 = {
    gradient: Math.max(errors.jvp, errors.vjp),
    hvp: Math.max(errors.hvp, errors.symmetry),
    tolerance: TOLERANCE.float64,
  };
  let device: DerivativeCheck['device'] = null;
  if (theta.text.w1.device.kind !== 'cpu') {
    const here = await derivatives(theta, (t) => loss(t, batch), theta);
    const there = await derivatives(exact.theta, f, exact.theta);
    const [gradient, product] = here.map((v, i) => relative(v, there[i]));
    device = { gradient, hvp: product, tolerance: TOLERANCE.device };
  }
  disposeTree(exact);
  cpu.destroy();
  const ok = [float64, device].every((e) => e === null || (e.gradient <= e.tolerance && e.hvp <= e.tolerance));
  return { ok, pairs: batch.text.shape[0], float64, device };
}
