// Softmax, layer norm and attention at ViT-B/16 shapes: forward, gradient and Hessian product, as bytes/s and FLOPS.

import * as ecif from '../src/index.ts';
import type { Bench } from './engine.ts';
import { readFlat, relativeError } from './errors.ts';
import { format, note, print, type Row } from './report.ts';
import { compare } from './timing.ts';

type Tensor = ecif.Tensor;

/** An op with its inputs; `bytes` and `flops` of one forward pass. */
interface Subject {
  readonly name: string;
  readonly shapes: readonly (readonly number[])[];
  readonly f: (x: readonly Tensor[]) => Tensor;
  readonly bytes: number;
  readonly flops: number;
}

const [HEADS, TOKENS, DEPTH, WIDTH] = [12, 197, 64, 768];
const scores = HEADS * TOKENS * TOKENS;
const tokens = TOKENS * WIDTH;

const SUBJECTS: readonly Subject[] = [
  {
    name: 'softmax 12×197×197',
    shapes: [[HEADS, TOKENS, TOKENS]],
    f: ([x]) => ecif.softmax(x),
    bytes: 8 * scores,
    flops: 5 * scores,
  },
  {
    name: 'layer norm 197×768',
    shapes: [[TOKENS, WIDTH], [WIDTH], [WIDTH]],
    f: ([x, g, b]) => ecif.layerNorm(x, g, b),
    bytes: 8 * tokens,
    flops: 8 * tokens,
  },
  {
    name: 'attention 12×197×64',
    shapes: [
      [HEADS, TOKENS, DEPTH],
      [HEADS, TOKENS, DEPTH],
      [HEADS, TOKENS, DEPTH],
    ],
    f: ([q, k, v]) => ecif.attention(q, k, v),
    bytes: 16 * tokens,
    flops: 4 * scores * DEPTH + 5 * scores,
  },
];

const draw = (device: ecif.Device, seed: number, shape: readonly number[]): Tensor => {
  const rng = ecif.createRng(seed);
  return ecif.tensor(
    device,
    Float64Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => rng.normal()),
    shape,
  );
};

/** Forward, gradient and Hessian product of ⟨c, f(x)⟩. */
function passes(
  device: ecif.Device,
  { shapes, f }: Subject,
): { forward: () => Tensor; gradient: () => unknown; product: () => unknown } {
  const x: readonly Tensor[] = shapes.map((s, i) => draw(device, i, s));
  const v: readonly Tensor[] = shapes.map((s, i) => draw(device, 10 + i, s));
  const c = draw(device, 20, ecif.scope(() => f(x)).shape);
  const loss = (t: readonly Tensor[]): Tensor => ecif.sum(ecif.mul(c, f(t)));
  return { forward: () => f(x), gradient: () => ecif.grad(loss)(x), product: () => ecif.hvp(loss, x, v) };
}

async function errorOf(bench: Bench, subject: Subject): Promise<number> {
  const product = (device: ecif.Device): Promise<Float64Array> =>
    readFlat(ecif.scope(() => passes(device, subject).product()));
  return relativeError(await product(bench.device), await product(bench.cpu));
}

export async function rowKernelRows(bench: Bench): Promise<Row[]> {
  const rows: Row[] = [];
  for (const subject of SUBJECTS) {
    const { forward, gradient, product } = passes(bench.device, subject);
    const run = (f: () => unknown) => async (): Promise<void> => {
      for (let i = 0; i < 3; i++) ecif.disposeTree(ecif.scope(f));
      await bench.device.sync();
    };
    const times = await compare([
      { name: 'forward', run: run(forward) },
      { name: 'gradient', run: run(gradient) },
      { name: 'Hessian product', run: run(product) },
    ]);
    const error = await errorOf(bench, subject);
    for (const { name, median } of times) {
      const seconds = median / 3000;
      const value = `${format(subject.bytes / seconds / 1e9)} GB/s, ${format(subject.flops / seconds / 1e9)} GFLOPS`;
      rows.push(
        print(
          note('row kernels', `${subject.name}: ${name}, per forward's work`, value, {
            seconds,
            bytes: subject.bytes,
            flops: subject.flops,
          }),
        ),
      );
    }
    rows.push(
      print(
        note('row kernels', `${subject.name}: error of the Hessian product to float64`, error.toExponential(1), {
          error,
        }),
      ),
    );
  }
  return rows;
}
