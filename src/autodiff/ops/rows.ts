// What ops on the last axis share.

import { ShapeError } from '../../array/errors.ts';
import { formatShape, sameShape } from '../../array/shape.ts';
import { grid, type View, windowUnits } from '../../device/webgpu/device.ts';
import type { GpuStorage } from '../../device/webgpu/pool.ts';
import { expectDtypes, expectRank, type GpuCall } from '../op.ts';
import type { Spec, Tensor } from '../tensor.ts';
import { mul } from './binary.ts';
import { sum } from './reduce.ts';
import { rowLayout } from './rows-gpu.ts';

/** The shape rule of ops on rows: equal shapes of at least one axis. */
export const rowRule =
  (name: string) =>
  (inputs: readonly Spec[]): Spec => {
    expectDtypes(name, inputs);
    expectRank(name, inputs[0], 1, 'reshape a scalar first');
    if (!inputs.every((x) => sameShape(x.shape, inputs[0].shape))) {
      throw new ShapeError(
        `${name}: shapes differ, ${inputs.map((x) => formatShape(x.shape)).join(' ')}; give equal shapes`,
      );
    }
    return { shape: inputs[0].shape, dtype: 'real' };
  };

/** Calls `row(base)` for every row of length n. */
export function eachRow(size: number, n: number, row: (base: number, index: number) => void): void {
  for (let base = 0, i = 0; base < size; base += n, i++) row(base, i);
}

/** Length of a row. */
export const lastOf = (shape: readonly number[]): number => shape[shape.length - 1];

/** How a row kernel is to be launched on one window. */
interface RowLaunch {
  readonly rows: number;
  readonly n: number;
  readonly LANES: number;
  readonly ROWS: number;
  readonly workgroups: [number, number, number];
}

/** Runs a row kernel over windows of whole rows; `together` rows stay in one window. */
export function gpuRows<P>(
  { device, shape, y }: GpuCall<P>,
  run: (launch: RowLaunch, view: (s: GpuStorage) => View) => void,
  together = 1,
): void {
  const n = lastOf(shape);
  for (const w of device.windows(y.size, n * together * windowUnits(n * together))) {
    const rows = w.size / n;
    const { lanes, perGroup } = rowLayout(device, rows, n);
    run({ rows, n, LANES: lanes, ROWS: perGroup, workgroups: grid(rows, perGroup) }, (storage) => ({ storage, ...w }));
  }
}

/** ⟨a, b⟩ of every row. */
export const rowDot = (a: Tensor, b: Tensor): Tensor => sum(mul(a, b), -1, { keepDims: true });
