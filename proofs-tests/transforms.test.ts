// Transformations over parameter trees, each against something independent of it.

import { describe, expect, it } from 'vitest';
import { CpuDevice } from '../src/device/cpu.ts';
import * as ecif from '../src/index.ts';
import { relativeError } from './support/op-checks.ts';
import { readFlat } from './support/random-graph.ts';

type Tensor = ecif.Tensor;
interface Theta {
  layers: { w: Tensor; b: Tensor }[];
  scale: Tensor;
}

const device = new CpuDevice();
const rng = ecif.createRng(3);
const normal = (...shape: number[]): Tensor =>
  ecif.tensor(
    device,
    Float64Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => rng.normal()),
    shape,
  );
const draw = (): Theta => ({
  layers: [
    { w: normal(3, 4), b: normal(3) },
    { w: normal(2, 3), b: normal(2) },
  ],
  scale: normal(),
});
const x = normal(5, 4);
const y = normal(5, 4);

/** Similarities of two small towers: a function with a matrix for output. */
const tower = (t: Theta, input: Tensor): Tensor =>
  ecif.linear(ecif.linear(input, t.layers[0].w, { bias: t.layers[0].b, act: 'tanh' }), t.layers[1].w, {
    bias: t.layers[1].b,
  });
const similarities = (t: Theta): Tensor => ecif.mul(ecif.matmul(tower(t, x), tower(t, y), { form: 'nt' }), t.scale);
const loss = (t: Theta): Tensor => ecif.contrastive(similarities(t));

const flat = (t: Theta): Promise<Float64Array> => readFlat([...t.layers.flatMap(({ w, b }) => [b, w]), t.scale]);
const theta = draw();
const size = 24;

/** The Jacobian of the similarities, column by column from central differences. */
async function differencedJacobian(): Promise<Float64Array[]> {
  const h = 1e-6;
  const leaves = [...theta.layers.flatMap(({ w, b }) => [b, w]), theta.scale];
  const values = await ecif.readAll(leaves);
  const columns: Float64Array[] = [];
  for (let leaf = 0; leaf < leaves.length; leaf++) {
    for (let i = 0; i < leaves[leaf].size; i++) {
      const at = async (by: number): Promise<Float64Array> => {
        const moved = leaves.map((l, k) =>
          ecif.tensor(device, values[k].map((v, j) => (k === leaf && j === i ? v + by : v)) as Float64Array, l.shape),
        );
        const [b0, w0, b1, w1, scale] = moved;
        return readFlat([
          similarities({
            layers: [
              { w: w0, b: b0 },
              { w: w1, b: b1 },
            ],
            scale,
          }),
        ]);
      };
      const [up, down] = [await at(h), await at(-h)];
      columns.push(up.map((v, k) => (v - down[k]) / (2 * h)));
    }
  }
  return columns;
}

describe('trees of parameters', () => {
  it('checkGrads accepts right derivatives and names wrong ones', async () => {
    const report = await ecif.checkGrads(loss, theta);
    expect(Math.max(...Object.values(report))).toBeLessThan(1e-7);
    const wrong = (t: Theta): Tensor => ecif.add(loss(t), ecif.stopGradient(ecif.square(t.scale)));
    await expect(ecif.checkGrads(wrong, theta)).rejects.toThrow(/checkGrads: jvp, hvp off|checkGrads: jvp off/);
  });

  it('grad keeps the form of the tree and gives zeros where nothing depends', async () => {
    const g = ecif.grad((t: Theta & { unused: Tensor }) => loss(t))({ ...theta, unused: normal(2, 2) });
    expect(g.layers[0].w.shape).toEqual([3, 4]);
    expect([...(await g.unused.data())]).toEqual([0, 0, 0, 0]);
  });

  it('the dense Hessian is symmetric and gives every hvp', async () => {
    const { size: n, matrix } = await ecif.hessian(loss, theta);
    expect(n).toBe(size);
    expect(ecif.asymmetry(matrix, n)).toBeLessThan(1e-12);
    const v = draw();
    const product = await flat(ecif.hvp(loss, theta, v));
    expect(relativeError(product, ecif.matVec(matrix, await flat(v), n))).toBeLessThan(1e-12);
  });

  it('ggnvp is Jᵀ·H_S·J·v with J from finite differences, in one shot and linearised', async () => {
    const v = draw();
    const columns = await differencedJacobian();
    const vf = await flat(v);
    const js = columns[0].map((_, i) => columns.reduce((s, c, k) => s + c[i] * vf[k], 0));
    const s = similarities(theta);
    const hjs = Float64Array.from(await ecif.contrastiveHvp(s, ecif.tensor(device, js, s.shape)).data());
    const expected = Float64Array.from(columns, (c) => c.reduce((sum, value, i) => sum + value * hjs[i], 0));
    expect(relativeError(await flat(ecif.ggnvp(similarities, ecif.contrastive, theta, v)), expected)).toBeLessThan(
      1e-7,
    );
    const kept = ecif.linearizeGgn(similarities, ecif.contrastive, theta);
    expect(relativeError(await flat(kept.ggnvp(v)), expected)).toBeLessThan(1e-7);
    kept.dispose();
    // Control: the full Hessian differs, so the test tells the two apart.
    expect(relativeError(await flat(ecif.hvp(loss, theta, v)), expected)).toBeGreaterThan(1e-2);
  });

  it('linearizeGrads has the gradients of two functions of the same outputs, and the products of the first', async () => {
    const other = (s: Tensor): Tensor => ecif.sum(ecif.square(ecif.softmax(s)));
    const lin = ecif.linearizeGrads(similarities, ecif.contrastive, other, theta);
    const composed = (t: Theta): Tensor => other(similarities(t));
    await ecif.checkGrads(composed, theta);
    expect(relativeError(await flat(lin.other), await flat(ecif.grad(composed)(theta)))).toBeLessThan(1e-13);
    expect(relativeError(await flat(lin.grad), await flat(ecif.grad(loss)(theta)))).toBeLessThan(1e-13);
    expect(await lin.value.item()).toBeCloseTo(await loss(theta).item(), 12);
    for (const v of [draw(), draw()])
      expect(relativeError(await flat(lin.hvp(v)), await flat(ecif.hvp(loss, theta, v)))).toBeLessThan(1e-13);
    // Control: the two gradients are not alike.
    expect(relativeError(await flat(lin.other), await flat(lin.grad))).toBeGreaterThan(0.1);
    expect(() => ecif.linearizeGrads(similarities, (s) => s, other, theta)).toThrow('return a scalar');
    const ggn = ecif.linearizeGgn(similarities, ecif.contrastive, theta);
    expect(relativeError(await flat(ggn.gradient(other)), await flat(lin.other))).toBeLessThan(1e-13);
    expect(relativeError(await flat(ggn.gradient()), await flat(lin.grad))).toBeLessThan(1e-13);
  });

  it('jvpMany equals one jvp per tangent', async () => {
    const tangents = [draw(), draw(), draw()];
    const many = ecif.jvpMany(similarities, theta, tangents);
    for (const [i, v] of tangents.entries()) {
      const one = ecif.jvp(similarities, theta, v);
      expect(relativeError(await readFlat([many.tangents[i]]), await readFlat([one.tangent]))).toBeLessThan(1e-14);
      expect(await many.value.data()).toEqual(await one.value.data());
    }
  });

  it('linearize and vjp can be asked again, and are transposes', async () => {
    const lin = ecif.linearize(similarities, theta);
    const back = ecif.vjp(similarities, theta);
    for (let k = 0; k < 2; k++) {
      const [v, ct] = [draw(), normal(5, 5)];
      const [jv, jtc] = [await readFlat([lin.push(v)]), await flat(back.pull(ct))];
      const [cf, vf] = [await readFlat([ct]), await flat(v)];
      const left = jv.reduce((s, a, i) => s + a * cf[i], 0);
      const right = jtc.reduce((s, a, i) => s + a * vf[i], 0);
      expect(Math.abs(left - right)).toBeLessThan(1e-11 * Math.abs(left));
    }
    lin.dispose();
    back.dispose();
    expect(() => lin.push(draw())).toThrow('linearize: the linear map was disposed; linearise again');
  });

  it('reverse over reverse agrees with forward over reverse', async () => {
    const v = draw();
    const inner = (t: Theta): Tensor => {
      const g = ecif.grad(loss)(t);
      const pairs: [Tensor, Tensor][] = [
        ...g.layers.flatMap((l, i): [Tensor, Tensor][] => [
          [l.w, v.layers[i].w],
          [l.b, v.layers[i].b],
        ]),
        [g.scale, v.scale],
      ];
      return pairs.map(([a, b]) => ecif.sum(ecif.mul(a, b))).reduce((a, b) => ecif.add(a, b));
    };
    expect(relativeError(await flat(ecif.grad(inner)(theta)), await flat(ecif.hvp(loss, theta, v)))).toBeLessThan(
      1e-12,
    );
  });
});

describe('edges', () => {
  it('trees match by key, whatever the order, and other keys are refused', async () => {
    const f = ({ a }: { a: Tensor; b: Tensor }): Tensor => ecif.sum(ecif.mul(ecif.square(a), 3));
    const [one, hundred] = [ecif.full(device, [2], 1), ecif.full(device, [2], 100)];
    expect([...(await ecif.hvp(f, { a: one, b: one }, { b: hundred, a: one }).a.data())]).toEqual([6, 6]);
    const space = ecif.treeSpace<Record<string, Tensor>>();
    const [x, y] = [
      { a: ecif.tensor(device, [1]), b: ecif.tensor(device, [2]) },
      { b: ecif.tensor(device, [10]), a: ecif.tensor(device, [100]) },
    ];
    expect(await space.dots([[x, y]])).toEqual([120]);
    const longer = { a: ecif.tensor(device, [1, 2]), b: ecif.tensor(device, [2]) };
    await expect(space.dots([[x, longer]])).rejects.toThrow('dots: leaves of shapes [1] and [2]');
    const other = { a: one, c: one } as unknown as { a: Tensor; b: Tensor };
    expect(() => ecif.hvp(f, { a: one, b: one }, other)).toThrow('such as c; give a tree of the same form');
  });

  it('powers have finite derivatives at 0 where they exist', async () => {
    const zero = ecif.zeros(device, [1]);
    const product = (p: number): Promise<number> =>
      ecif.hvp((x: Tensor) => ecif.sum(ecif.pow(x, p)), zero, ecif.full(device, [1], 1)).item();
    expect([await product(0), await product(1), await product(2)]).toEqual([0, 0, 2]);
  });

  it('a NaN or an infinity is not lost in a product with zeros', async () => {
    const y = ecif.matmul(ecif.tensor(device, [[0, 1]]), ecif.tensor(device, [[NaN], [2]]));
    expect(await y.item()).toBeNaN();
    expect(await ecif.logSumExp(ecif.tensor(device, [-Infinity, -Infinity])).item()).toBe(-Infinity);
  });

  it('results are handles of their own', async () => {
    const x = ecif.tensor(device, [1, 2]);
    ecif.disposeTree([ecif.concat([x]), ecif.sum(x, [])]);
    expect([...(await x.data())]).toEqual([1, 2]);
  });
});

describe('memory', () => {
  it('leaves nothing behind but results', async () => {
    const own = new CpuDevice();
    const w = ecif.full(own, [4, 4], 0.3);
    const v = ecif.full(own, [4, 4], 1);
    const before = own.memory().buffers;
    const f = (t: Tensor): Tensor => ecif.contrastive(ecif.matmul(ecif.tanh(t), ecif.softmax(t)));
    ecif.disposeTree([
      ecif.grad(f)(w),
      ecif.hvp(f, w, v),
      ecif.ggnvp((t: Tensor) => ecif.tanh(t), ecif.contrastive, w, v),
    ]);
    const lin = ecif.linearizeGrad(f, w);
    ecif.disposeTree([lin.hvp(v), lin.hvp(v), lin.value, lin.grad]);
    lin.dispose();
    const both = ecif.linearizeGrads(
      (t: Tensor) => ecif.tanh(t),
      ecif.contrastive,
      (z) => ecif.sum(ecif.exp(z)),
      w,
    );
    ecif.disposeTree([both.hvp(v), both.value, both.grad, both.other]);
    both.dispose();
    const back = ecif.vjp(f, w);
    ecif.disposeTree([back.pull(ecif.keep(back.value)), back.value]);
    back.dispose();
    const ggn = ecif.linearizeGgn((t: Tensor) => ecif.tanh(t), ecif.contrastive, w);
    ggn.ggnvp(v).dispose();
    ggn.dispose();
    await ecif.hessian(f, w);
    await ecif.checkGrads(f, w);
    expect(own.memory().buffers).toBe(before);
  });

  it('a failing function leaves nothing behind', () => {
    const own = new CpuDevice();
    const w = ecif.full(own, [4, 4], 0.3);
    const f = (t: Tensor): Tensor => {
      ecif.exp(ecif.matmul(t, t));
      throw new Error('stop');
    };
    expect(() => ecif.grad(f)(w)).toThrow('stop');
    expect(() => ecif.hvp(f, w, w)).toThrow('stop');
    expect(() => ecif.vjp(f, w)).toThrow('stop');
    expect(() => ecif.linearize(f, w)).toThrow('stop');
    expect(() => ecif.linearizeGrad(f, w)).toThrow('stop');
    const fine = (t: Tensor): Tensor => ecif.sum(ecif.tanh(t));
    expect(() => ecif.linearizeGrads((t: Tensor) => ecif.exp(t), fine, f, w)).toThrow('stop');
    expect(() => ecif.linearizeGrads((t: Tensor) => ecif.exp(t), f, fine, w)).toThrow('stop');
    expect(own.memory().buffers).toBe(1);
  });

  it('a deep chain frees forward values while it walks back', () => {
    const own = new CpuDevice();
    const w = ecif.full(own, [1000], 0.3);
    const chain = (t: Tensor): Tensor => {
      let z = t;
      for (let i = 0; i < 50; i++) z = ecif.tanh(z);
      return ecif.sum(z);
    };
    ecif.grad(chain)(w).dispose();
    // 50 outputs of 8 kB kept by the tape, the walk adds only a few.
    expect(own.memory().peak).toBeLessThan(60 * 8000);
  });
});
