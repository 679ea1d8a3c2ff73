// The WebGPU device: windows, memory, failures that later reads report, kernels with and without subgroups.

import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { CpuDevice } from '../../src/device/cpu.ts';
import type { Kernel } from '../../src/device/kernel.ts';
import type { WebGpuDevice } from '../../src/device/webgpu/device.ts';
import * as ecif from '../../src/index.ts';
import { describeGpu } from '../support/gpu.ts';
import { relativeError } from '../support/op-checks.ts';
import { readFlat } from '../support/random-graph.ts';

type Tensor = ecif.Tensor;
const open = async (options: ecif.DeviceOptions = {}): Promise<WebGpuDevice> =>
  (await ecif.openDevice({ ...options, kind: 'webgpu' })) as WebGpuDevice;
const values = (seed: number, size: number): Float64Array => {
  const rng = ecif.createRng(seed);
  return Float64Array.from({ length: size }, () => rng.normal());
};
const normal = (device: ecif.Device, seed: number, ...shape: number[]): Tensor =>
  ecif.tensor(
    device,
    values(
      seed,
      shape.reduce((a, b) => a * b, 1),
    ),
    shape,
  );

await describeGpu('storage larger than one binding', () => {
  const cpu = new CpuDevice();
  let device: WebGpuDevice;
  beforeAll(async () => {
    device = await open({ maxBindingBytes: 16384 });
  });
  afterAll(() => device.destroy());

  const index = (d: ecif.Device): Tensor =>
    ecif.tensor(
      d,
      Int32Array.from({ length: 40 }, (_, i) => (i * 37) % 300),
      [40],
      'int',
    );
  const CASES: [string, (d: ecif.Device) => Tensor][] = [
    ['unary', (d) => ecif.gelu(normal(d, 1, 100, 100))],
    ['binary', (d) => ecif.mul(normal(d, 1, 100, 100), normal(d, 2, 100, 100))],
    ['a row broadcast', (d) => ecif.add(normal(d, 1, 300, 36), normal(d, 2, 36))],
    ['a column broadcast', (d) => ecif.mul(normal(d, 1, 300, 36), normal(d, 2, 300, 1))],
    [
      'where',
      (d) =>
        ecif.where(ecif.greaterEqual(normal(d, 1, 9000), normal(d, 3, 9000)), normal(d, 1, 9000), normal(d, 2, 9000)),
    ],
    ['sum of rows', (d) => ecif.sum(normal(d, 1, 300, 30), 1)],
    ['sum of columns', (d) => ecif.sum(normal(d, 1, 1000, 30), 0)],
    ['logSumExp', (d) => ecif.logSumExp(normal(d, 1, 300, 30), -1)],
    ['softmax', (d) => ecif.softmax(normal(d, 1, 300, 30))],
    ['layerNorm', (d) => ecif.layerNorm(normal(d, 1, 300, 30), normal(d, 2, 30), normal(d, 3, 30))],
    ['permute', (d) => ecif.permute(normal(d, 1, 90, 100))],
    ['broadcastTo', (d) => ecif.broadcastTo(normal(d, 1, 100, 1), [100, 90])],
    ['slice', (d) => ecif.slice(normal(d, 1, 120, 100), [10, 5], [100, 90])],
    ['pad', (d) => ecif.pad(normal(d, 1, 90, 80), [3, 7], [100, 100])],
    ['concat', (d) => ecif.concat([normal(d, 1, 60, 80), normal(d, 2, 60, 40)], 1)],
    ['gather', (d) => ecif.gather(normal(d, 1, 300, 20), index(d))],
    ['scatterAdd', (d) => ecif.scatterAdd(normal(d, 1, 40, 20), index(d), 300)],
    ['matmul of many rows', (d) => ecif.matmul(normal(d, 1, 400, 24), normal(d, 2, 24, 20))],
    [
      'matmul NT with a bias',
      (d) => ecif.matmul(normal(d, 1, 400, 24), normal(d, 2, 20, 24), { form: 'nt', addend: normal(d, 3, 20) }),
    ],
    [
      'matmul with a summand',
      (d) => ecif.matmul(normal(d, 1, 400, 24), normal(d, 2, 24, 20), { addend: normal(d, 3, 400, 20) }),
    ],
    ['batched matmul', (d) => ecif.matmul(normal(d, 1, 80, 10, 12), normal(d, 2, 80, 12, 8))],
    ['sum of outer and inner axes', (d) => ecif.sum(normal(d, 1, 40, 30, 12), [0, 2])],
    ['TN of many rows', (d) => ecif.matmul(normal(d, 1, 500, 10), normal(d, 2, 500, 9), { form: 'tn' })],
    ['attention', (d) => ecif.attention(normal(d, 1, 96, 8, 8), normal(d, 2, 96, 8, 8), normal(d, 3, 96, 8, 8))],
    [
      'TN with two products and a summand',
      (d) =>
        ecif.matmul(normal(d, 1, 500, 12), normal(d, 2, 500, 8), {
          form: 'tn',
          plus: { a: normal(d, 3, 700, 12), b: normal(d, 4, 700, 8), alpha: 0.5 },
          addend: normal(d, 5, 8),
        }),
    ],
    ['full', (d) => ecif.full(d, [9000], 2.5)],
  ];
  it.each(CASES)('%s', async (_name, run) => {
    const [actual, expected] = [await readFlat([run(device)]), await readFlat([run(cpu)])];
    expect(relativeError(actual, expected)).toBeLessThan(1e-5);
  });

  it('a single long run is summed in windows', async () => {
    const long = await open({ maxBindingBytes: 2 ** 21 });
    const data = values(7, 1_500_000);
    const total = data.reduce((a, b) => a + Math.fround(b), 0);
    expect(Math.abs((await ecif.sum(ecif.tensor(long, data)).item()) - total)).toBeLessThan(
      1e-6 * data.length ** 0.5 * 100,
    );
    long.destroy();
  });

  it('an op without windows says so', () => {
    expect(() => ecif.topk(normal(device, 1, 100, 100), 2)).toThrow(
      /^topk: operand x of \d+ bytes exceeds one binding of 16384; split the op/,
    );
  });
});

await describeGpu('reads', () => {
  it('a read returns the values at the time of the call, whatever is freed meanwhile', async () => {
    const device = await open();
    const x = ecif.tensor(device, [1, 2, 3]);
    const first = x.data();
    x.dispose();
    const second = ecif.scope(() => [ecif.mul(ecif.tensor(device, [1, 2, 3]), 2)]);
    const later = second[0].data();
    ecif.disposeTree(second);
    for (let i = 0; i < 8; i++) ecif.tensor(device, [7, 8, 9]);
    expect([...(await first)]).toEqual([1, 2, 3]);
    expect([...(await later)]).toEqual([2, 4, 6]);
    expect(() => ecif.scope(() => ({ loss: ecif.sum(ecif.full(device, [2], 1)).item() }))).toThrow(
      'scope: the function is async',
    );
    device.destroy();
  });

  it('with finite checks on, reads and ops may overlap, and every read after a fault reports it', async () => {
    const device = await open({ checkFinite: true });
    const x = ecif.tensor(device, [1, 2, 3]);
    const pending = x.data();
    const y = ecif.exp(x);
    expect([...(await pending)]).toEqual([1, 2, 3]);
    expect((await y.data())[0]).toBeCloseTo(Math.E, 5);
    const bad = ecif.log(ecif.neg(x));
    const both = await Promise.allSettled([bad.data(), bad.data()]);
    expect(both.map((r) => r.status)).toEqual(['rejected', 'rejected']);
    device.destroy();
  });

  it('a NaN stays a NaN, and infinities are infinite', async () => {
    const device = await open();
    const nan = ecif.tensor(device, [NaN, 1, 1, 1]);
    for (const f of [ecif.relu, ecif.tanh, ecif.sigmoid, ecif.erf, ecif.gelu, ecif.quickGelu, ecif.sign, ecif.abs]) {
      expect((await f(nan).data())[0]).toBeNaN();
    }
    expect((await ecif.maximum(nan, ecif.zeros(device, [4])).data())[0]).toBeNaN();
    expect((await ecif.minimum(ecif.zeros(device, [4]), nan).data())[0]).toBeNaN();
    expect((await ecif.clamp(nan, 0, 1).data())[0]).toBeNaN();
    expect(await ecif.max(nan).item()).toBeNaN();
    expect((await ecif.pow(ecif.tensor(device, [-2, 4]), 0.5).data())[0]).toBeNaN();
    expect([...(await ecif.pow(ecif.tensor(device, [-2, 2]), 3).data())].map(Math.round)).toEqual([-8, 8]);
    expect((await ecif.div(1, ecif.zeros(device, [1])).data())[0]).toBe(Infinity);
    expect((await ecif.mul(ecif.full(device, [1], 0.5), Infinity).data())[0]).toBe(Infinity);
    const product = ecif.matmul(ecif.tensor(device, [[NaN, 1]]), ecif.full(device, [2, 4], 1), { act: 'relu' });
    expect((await product.data())[0]).toBeNaN();
    device.destroy();
  });
});

await describeGpu('memory', () => {
  it('a training loop holds no more after 200 steps than after 20', async () => {
    const device = await open();
    const x = normal(device, 1, 32, 16);
    let w: { a: Tensor; b: Tensor } = { a: normal(device, 2, 24, 16), b: normal(device, 3, 8, 24) };
    const loss = (t: typeof w): Tensor => {
      const u = ecif.l2Normalize(ecif.linear(ecif.linear(x, t.a, { act: 'gelu' }), t.b));
      return ecif.contrastive(ecif.matmul(u, u, { form: 'nt', alpha: 5 }));
    };
    let after20: ecif.MemoryUse | null = null;
    for (let step = 1; step <= 200; step++) {
      const next = ecif.scope(() => {
        const g = ecif.grad(loss)(w);
        return { a: ecif.combine(1, w.a, -1e-3, g.a), b: ecif.combine(1, w.b, -1e-3, g.b) };
      });
      ecif.disposeTree(w);
      w = next;
      await device.tick();
      if (step === 20) after20 = device.memory();
    }
    await device.sync();
    expect(device.memory()).toEqual(after20);
    device.destroy();
  });

  it('work that is done again finds its buffers and bind groups, and other work makes its own', async () => {
    const device = await open();
    const made = vi.spyOn(device.gpu, 'createBindGroup');
    const [w, v] = [normal(device, 1, 8, 8), normal(device, 2, 8, 8)];
    const loss = (t: Tensor): Tensor => ecif.contrastive(ecif.matmul(ecif.tanh(t), ecif.softmax(t)));
    const lin = ecif.linearizeGrad(loss, w);
    const product = async (): Promise<number> => {
      const before = made.mock.calls.length;
      const hv = lin.hvp(v);
      await hv.data();
      hv.dispose();
      return made.mock.calls.length - before;
    };
    expect(await product()).toBeGreaterThan(5);
    expect([await product(), await product()]).toEqual([0, 0]);
    const other = ecif.mul(normal(device, 3, 5), normal(device, 4, 5));
    await other.data();
    expect(made.mock.calls.length).toBeGreaterThan(0);
    device.destroy();
  });

  it('the pool is capped, and trim empties it', async () => {
    const device = await open({ poolBytes: 2 ** 20 });
    for (let i = 0; i < 40; i++) ecif.full(device, [65536 + 4096 * (i % 4)], 1).dispose();
    await device.sync();
    for (let i = 0; i < 8; i++) ecif.full(device, [65536], 1).dispose();
    ecif.disposeTree(Array.from({ length: 16 }, () => ecif.full(device, [65536], 1)));
    await device.sync();
    ecif.full(device, [64], 1).dispose();
    expect(device.memory().pooled).toBeLessThanOrEqual(2 ** 20);
    await device.trim();
    expect(device.memory().pooled).toBe(0);
    device.destroy();
  });

  it('deep graphs again and again: few buffers are kept, and nothing runs out', async () => {
    const device = await open();
    const [x, v] = [ecif.tensor(device, [0.5, 0.25]), ecif.tensor(device, [1, 1])];
    const chain = (t: Tensor): Tensor => {
      let z = t;
      for (let i = 0; i < 1500; i++) z = ecif.tanh(ecif.mul(z, t));
      return ecif.sum(z);
    };
    for (let pass = 0; pass < 4; pass++) {
      const product = ecif.hvp(chain, x, v);
      await product.data();
      product.dispose();
    }
    expect(device.memory().buffers).toBeLessThan(5000);
    device.destroy();
  });

  it('an upload never overwrites what a recorded op still reads', async () => {
    const device = await open();
    const results: Tensor[] = [];
    for (let i = 0; i < 50; i++) {
      const x = ecif.tensor(device, new Float64Array(100).fill(i));
      results.push(ecif.affine(x, 2, 1));
      x.dispose();
    }
    const read = await ecif.readAll(results);
    expect(read.map((r) => [r[0], r[99]])).toEqual(Array.from({ length: 50 }, (_, i) => [2 * i + 1, 2 * i + 1]));
    device.destroy();
  });
});

await describeGpu('failures', () => {
  it('device loss: reads and ops throw, and say that it was lost', async () => {
    const device = await open();
    const y = ecif.exp(ecif.full(device, [4], 1));
    device.gpu.destroy();
    await device.gpu.lost;
    await expect(y.data()).rejects.toThrow(ecif.DeviceError);
    await expect(y.data()).rejects.toThrow(/the device was lost \(destroyed\).*open a new one/);
    expect(() => ecif.exp(y)).toThrow(/the device was lost/);
  });

  it('a kernel that does not compile poisons the device, naming the op', async () => {
    const device = await open();
    const bad: Kernel = {
      name: 'bad',
      source:
        '@group(0) @binding(0) var<storage, read_write> y: array<f32>; @compute @workgroup_size(64) fn main() { y[0] = nonsense; }',
      bindings: [{ name: 'y', access: 'read_write' }],
      params: [],
      paramBytes: 16,
      constants: [],
      subgroups: false,
    };
    const x = ecif.full(device, [64], 1);
    device.dispatch('badOp', bad, {
      buffers: { y: device.alloc(64, 'real', 'badOp') },
      params: {},
      workgroups: [1, 1, 1],
    });
    await expect(x.data()).rejects.toThrow(/nonsense|badOp/);
    await expect(x.data()).rejects.toThrow(ecif.DeviceError);
    device.destroy();
  });

  it('work the device refuses poisons it, naming the ops of the batch', async () => {
    const device = await open();
    const x = ecif.full(device, [64], 1);
    await device.sync();
    const y = ecif.exp(x);
    const storage = (y as unknown as { storageFor(op: string): { buffer: GPUBuffer } }).storageFor('test');
    storage.buffer.destroy();
    await expect(y.data()).rejects.toThrow(/exp: the device refused the work/);
    device.destroy();
  });

  it('out of memory poisons the device, naming the op', async () => {
    const device = await open();
    const real = device.gpu.popErrorScope.bind(device.gpu);
    Object.defineProperty(device.gpu, 'popErrorScope', {
      configurable: true,
      value: async () => (await real(), { message: 'simulated' }),
    });
    const big = ecif.full(device, [2 ** 20], 1);
    Object.defineProperty(device.gpu, 'popErrorScope', { configurable: true, value: real });
    await new Promise((resolve) => setTimeout(resolve, 20));
    await expect(big.data()).rejects.toThrow(/full: out of device memory allocating \d+ bytes, simulated/);
    expect(() => ecif.full(device, [2 ** 31], 1)).toThrow(ecif.DeviceError);
  });

  it('a tensor beyond the largest buffer is refused at once', async () => {
    const device = await open();
    expect(() => ecif.full(device, [2 ** 31], 1)).toThrow(
      /full: a tensor of 8589934592 bytes exceeds maxBufferSize \d+; split it/,
    );
    device.destroy();
  });

  it('a NaN is reported by the next read, with the first op that gave one', async () => {
    const device = await open({ checkFinite: true });
    const fine = ecif.exp(ecif.full(device, [100], 1));
    expect((await fine.data())[0]).toBeCloseTo(Math.E, 5);
    const bad = ecif.add(ecif.log(ecif.full(device, [100], -1)), fine);
    await expect(bad.data()).rejects.toThrow('log: gave a NaN or an infinity; check its inputs');
    expect((await fine.data())[0]).toBeCloseTo(Math.E, 5);
    device.destroy();
  });

  it('an index out of range reads NaN, and adds nothing', async () => {
    const device = await open();
    const table = ecif.full(device, [3, 2], 1);
    const index = ecif.tensor(device, [2, 3, -1], [3], 'int');
    expect([...(await ecif.gather(table, index).data())]).toEqual([1, 1, NaN, NaN, NaN, NaN]);
    expect([...(await ecif.take(ecif.full(device, [1, 3], 1), ecif.reshape(index, [1, 3])).data())]).toEqual([
      1,
      NaN,
      NaN,
    ]);
    expect([...(await ecif.scatterAdd(table, index, 3).data())]).toEqual([0, 0, 0, 0, 1, 1]);
    device.destroy();
  });

  it('a disposed tensor', async () => {
    const device = await open();
    const x = ecif.full(device, [2], 1);
    x.dispose();
    expect(() => ecif.neg(x)).toThrow(ecif.DisposedError);
    await expect(x.data()).rejects.toThrow(/data: a tensor of shape \[2\] was disposed/);
    device.destroy();
  });
});

await describeGpu('kernels', () => {
  it('subgroup and portable matmul agree with float64 on many shapes', async () => {
    const cpu = new CpuDevice();
    const devices = [await open(), await open({ portable: true })];
    const rng = ecif.createRng(5);
    const tall = [
      [200, 197, 64],
      [320, 64, 32],
      [129, 256, 20],
      [97, 130, 8],
    ];
    for (let i = 0; i < 24 + 3 * tall.length; i++) {
      const random = [1 + rng.int(70), 1 + rng.int(70), 1 + rng.int(70)].map((v, j) =>
        (i >> j) & 1 ? v : 4 * Math.ceil(v / 4),
      );
      const [m, n, k] = tall[Math.floor(i / 3) - 8] ?? random;
      const form = (['nn', 'nt', 'tn'] as const)[i % 3];
      const run = (d: ecif.Device): Tensor => {
        const a = form === 'tn' ? normal(d, i, k, m) : normal(d, i, m, k);
        const b = form === 'nt' ? normal(d, i + 99, n, k) : normal(d, i + 99, k, n);
        return ecif.matmul(a, b, { form });
      };
      const expected = await readFlat([run(cpu)]);
      for (const device of devices)
        expect(relativeError(await readFlat([run(device)]), expected), `${form} ${m}×${n}×${k}`).toBeLessThan(2e-6);
    }
    expect(devices[1].subgroupSize).toBe(0);
    devices.forEach((d) => d.destroy());
  });

  it('attention in one kernel and in three agree', async () => {
    const [cpu, portable] = [new CpuDevice(), await open({ portable: true })];
    for (const [t, s, causal] of [
      [5, 5, true],
      [33, 33, true],
      [7, 300, false],
      [3, 1000, false],
    ] as const) {
      const run = (d: ecif.Device): Tensor =>
        ecif.attention(normal(d, 1, 2, t, 8), normal(d, 2, 2, s, 8), normal(d, 3, 2, s, 12), { causal });
      expect(relativeError(await readFlat([run(portable)]), await readFlat([run(cpu)])), `${t}×${s}`).toBeLessThan(
        1e-5,
      );
    }
    portable.destroy();
  });
});
