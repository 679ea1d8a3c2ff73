// Wrong shapes, dtypes, devices, disposed tensors: one clear message each, that says what to do.

import { describe, expect, it } from 'vitest';
import { CpuDevice } from '../src/device/cpu.ts';
import * as ecif from '../src/index.ts';

const device = new CpuDevice();
const t = (...shape: number[]): ecif.Tensor => ecif.full(device, shape, 0.5);
const index = (...values: number[]): ecif.Tensor => ecif.tensor(device, values, [values.length], 'int');

const CASES: [string, () => unknown, new (m: string) => Error, string][] = [
  [
    'inner dimensions',
    () => ecif.matmul(t(2, 3), t(4, 5)),
    ecif.ShapeError,
    'matmul: inner dimensions differ, [2,3] × [4,5]; transpose one side, or use form nt or tn',
  ],
  [
    'batch axes',
    () => ecif.matmul(t(2, 3, 4), t(5, 4, 3)),
    ecif.ShapeError,
    'matmul: batch axes differ, [2,3,4] × [5,4,3]; broadcastTo one side, or drop its batch axes',
  ],
  [
    'a summand',
    () => ecif.matmul(t(2, 3), t(3, 4), { addend: t(3) }),
    ecif.ShapeError,
    'matmul: summand [3] for a product [2,4]; give that shape, or one row',
  ],
  [
    'broadcasting',
    () => ecif.add(t(2, 3), t(4)),
    ecif.ShapeError,
    'add: shapes do not broadcast, [2,3] and [4]; axes must be equal or 1 from the right',
  ],
  ['axes', () => ecif.sum(t(2, 3), 2), ecif.ShapeError, 'sum: axes 2 do not fit rank 2; use distinct axes in -2…1'],
  [
    'reshape',
    () => ecif.reshape(t(2, 3), [4]),
    ecif.ShapeError,
    'reshape: [2,3] has 6 elements, [4] has 4; sizes must agree',
  ],
  [
    'permute',
    () => ecif.permute(t(2, 3), [0, 0]),
    ecif.ShapeError,
    'permute: order [0,0] for shape [2,3]; list every axis once',
  ],
  [
    'slice',
    () => ecif.slice(t(2, 3), [1, 1], [2, 1]),
    ecif.ShapeError,
    'slice: begin [1,1] size [2,1] leaves [2,3]; stay inside',
  ],
  [
    'pad',
    () => ecif.pad(t(2, 3), [1, 1], [2, 4]),
    ecif.ShapeError,
    'pad: [2,3] at [1,1] leaves [2,4]; enlarge the frame',
  ],
  [
    'concat',
    () => ecif.concat([t(2, 3), t(2, 4)], 0),
    ecif.ShapeError,
    'concat: axis 0 of shapes [2,3] [2,4]; only that axis may differ',
  ],
  ['concat of nothing', () => ecif.concat([]), ecif.ShapeError, 'concat: no tensors; give at least one'],
  [
    'broadcastTo',
    () => ecif.broadcastTo(t(2, 3), [3]),
    ecif.ShapeError,
    'broadcastTo: [2,3] does not broadcast to [3]; axes must be equal or 1',
  ],
  [
    'take',
    () => ecif.take(t(2, 3), index(0)),
    ecif.ShapeError,
    'take: values [2,3] for indices [1]; all axes but the last must agree',
  ],
  ['an index', () => ecif.gather(t(2, 3), index(2)), ecif.ShapeError, 'gather: index 2 of 2; use 0…1'],
  ['topk', () => ecif.topk(t(2, 3), 4), ecif.ShapeError, 'topk: 4 of 3 columns; take 1…3'],
  [
    'layerNorm',
    () => ecif.layerNorm(t(2, 3), t(2), t(3)),
    ecif.ShapeError,
    'layerNorm: scale or shift [2] for rows of 3; give [3]',
  ],
  [
    'attention',
    () => ecif.attention(t(2, 3), t(2, 4), t(2, 4)),
    ecif.ShapeError,
    'attention: queries [2,3], keys [2,4], values [2,4]; batch axes, widths and key counts must agree',
  ],
  [
    'patches',
    () => ecif.patches(t(1, 3, 5, 4), 2),
    ecif.ShapeError,
    'patches: images [1,3,5,4] in patches of 2; give (B, C, H, W) with H and W multiples of it',
  ],
  [
    'contrastive',
    () => ecif.contrastive(t(2, 3)),
    ecif.ShapeError,
    'contrastive: similarities [2,3]; give square matrices (…, B, B)',
  ],
  [
    'combine',
    () => ecif.combine(1, t(2), 1, t(3)),
    ecif.ShapeError,
    'combine: shapes differ, [2] and [3]; use add for broadcasting',
  ],
  [
    'a shape',
    () => ecif.tensor(device, [1, 2, 3], [2]),
    ecif.ShapeError,
    'tensor: 3 values for shape [2] of 2; give as many values',
  ],
  [
    'a negative shape',
    () => ecif.tensor(device, [], [-1]),
    ecif.ShapeError,
    'tensor: [-1] is not a shape; use whole numbers ≥ 0',
  ],
  [
    'ragged lists',
    () => ecif.tensor(device, [[1, 2], [3]]),
    ecif.ShapeError,
    'tensor: ragged nested list; give rows of equal length',
  ],
  [
    'int as real',
    () => ecif.exp(index(1)),
    ecif.DtypeError,
    "exp: operand 0 is int, real expected; convert it with tensor(…, 'real')",
  ],
  [
    'real as int',
    () => ecif.gather(t(2, 3), t(2)),
    ecif.DtypeError,
    "gather: operand 1 is real, int expected; convert it with tensor(…, 'int')",
  ],
  [
    'a fraction as int',
    () => ecif.tensor(device, [0.5], [1], 'int'),
    ecif.DtypeError,
    'tensor: 0.5 is not an int32; round it, or use dtype real',
  ],
  [
    'a loss that is no scalar',
    () => ecif.grad((x: ecif.Tensor) => x)(t(2)),
    ecif.ShapeError,
    'grad: the function returned shape [2]; return a scalar, for example sum(…)',
  ],
  [
    'a tangent',
    () => ecif.jvp((x: { w: ecif.Tensor }) => x.w, { w: t(2) }, { w: t(3) }),
    ecif.ShapeError,
    'jvp: tangent of w has shape [3], [2] expected; reshape it',
  ],
  [
    'a number as parameter',
    () => ecif.grad((x: { w: number }) => t(x.w))({ w: 1 }),
    ecif.EcifError,
    'grad: leaf w is not a tensor; wrap numbers with tensor()',
  ],
  [
    'argmax in a gradient',
    () => ecif.grad((x: ecif.Tensor) => ecif.sum(ecif.argmax(x)))(t(2)),
    ecif.NotDifferentiableError,
    'argmax: not differentiable, an index does not change smoothly; apply stopGradient to its input',
  ],
  [
    'an async scope',
    () => ecif.scope(async () => t(1)),
    ecif.EcifError,
    'scope: the function is async; await outside, or scope each synchronous part',
  ],
  [
    'a fraction in a shape',
    () => ecif.full(device, [1.5], 1),
    ecif.ShapeError,
    'full: [1.5] is not a shape; use whole numbers ≥ 0',
  ],
  [
    'a fraction in a slice',
    () => ecif.slice(t(4), [0.5], [2]),
    ecif.ShapeError,
    'slice: [0.5,2] is not a shape; use whole numbers ≥ 0',
  ],
  [
    'an empty batch',
    () => ecif.contrastive(t(0, 0)),
    ecif.ShapeError,
    'contrastive: similarities [0,0]; give square matrices (…, B, B)',
  ],
  [
    'a number as tensor',
    () => ecif.exp(3 as unknown as ecif.Tensor),
    ecif.EcifError,
    'exp: operand 0 is not a tensor; make one with tensor()',
  ],
  [
    'two devices',
    () => ecif.add(t(2), ecif.full(new CpuDevice(), [2], 1)),
    ecif.DeviceError,
    'add: operands live on cpu (float64) and cpu (float64); move one',
  ],
];

describe('one clear message for', () => {
  it.each(CASES)('%s', (_what, run, kind, message) => {
    let thrown: unknown;
    try {
      run();
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(kind);
    expect((thrown as Error).message).toBe(message);
  });

  it('a disposed tensor', async () => {
    const x = t(2, 3);
    x.dispose();
    expect(() => ecif.neg(x)).toThrow(
      'neg: a tensor of shape [2,3] was disposed; keep() it, or return it from its scope',
    );
    await expect(x.data()).rejects.toThrow(ecif.DisposedError);
  });

  it('a tensor that left its scope', () => {
    let escaped: ecif.Tensor | null = null;
    ecif.scope(() => void (escaped = t(2)));
    expect(() => ecif.neg(escaped as unknown as ecif.Tensor)).toThrow(ecif.DisposedError);
  });

  it('reading a value while it is differentiated', () => {
    expect(() => ecif.grad((x: ecif.Tensor) => (void x.data(), ecif.sum(x)))(t(2))).toThrow(
      'data: this value is being differentiated',
    );
  });

  it('a value kept from a finished gradient', () => {
    let kept: ecif.Tensor | null = null;
    ecif.grad((x: ecif.Tensor) => ecif.sum((kept = ecif.square(x))))(t(2));
    expect(() => ecif.neg(kept as unknown as ecif.Tensor)).toThrow(
      'neg: a value of a finished grad was used; return it from the function',
    );
  });

  it('a NaN, where asked', () => {
    const careful = new CpuDevice({ checkFinite: true });
    expect(() => ecif.log(ecif.full(careful, [2], -1))).toThrow('log: gave a NaN or an infinity; check its inputs');
  });

  it('item of many', async () => {
    await expect(t(2).item()).rejects.toThrow('item: shape [2] has 2 elements; use data()');
  });
});

it('scope frees what it does not return, also when it throws', () => {
  const own = new CpuDevice();
  const kept = ecif.scope(() => {
    const x = ecif.full(own, [8], 1);
    return { deep: [ecif.neg(ecif.exp(x))] };
  });
  expect(own.memory().live).toBe(64);
  expect(() =>
    ecif.scope(() => {
      ecif.full(own, [8], 1);
      throw new Error('stop');
    }),
  ).toThrow('stop');
  expect(own.memory().live).toBe(64);
  ecif.disposeTree(kept);
  expect(own.memory()).toMatchObject({ live: 0, buffers: 0 });
});
