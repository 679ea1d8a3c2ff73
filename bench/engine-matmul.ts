// Matrix products against jax-js, tfjs, onnxruntime on WebGPU, and a native SGEMM, on the same inputs.

import * as ecif from '../src/index.ts';
import type { Bench } from './engine.ts';
import { type MatmulSpec, peers, type PreparedMatmul } from './peers.ts';
import { format, note, print, type Row, target } from './report.ts';
import { compare, ratio, type Timing } from './timing.ts';

interface Shape extends MatmulSpec {
  readonly name: string;
  readonly repeat: number;
  /** Least ratio to jax-js and tfjs. */
  readonly atLeast: number;
}

const SHAPES: readonly Shape[] = [
  { name: '512×512×512', form: 'nn', batch: 1, m: 512, n: 512, k: 512, repeat: 6, atLeast: 4 },
  { name: '1024×1024×1024', form: 'nn', batch: 1, m: 1024, n: 1024, k: 1024, repeat: 2, atLeast: 4 },
  { name: '12×(197×64)(197×64)ᵀ', form: 'nt', batch: 12, m: 197, n: 197, k: 64, repeat: 20, atLeast: 8 },
  { name: '197×768×3072', form: 'nt', batch: 1, m: 197, n: 3072, k: 768, repeat: 2, atLeast: 4 },
  { name: '8×77×512×512', form: 'nt', batch: 1, m: 616, n: 512, k: 512, repeat: 5, atLeast: 4 },
];

const flops = ({ batch, m, n, k }: MatmulSpec): number => 2 * batch * m * n * k;

function random(seed: number, size: number): Float32Array {
  const rng = ecif.createRng(seed);
  return Float32Array.from({ length: size }, () => rng.normal());
}

/** Largest error of a product relative to its largest entry, on rows spread over the result, in float64. */
function errorOf(spec: MatmulSpec, a: Float32Array, b: Float32Array, out: Float32Array): number {
  const { form, batch, m, n, k } = spec;
  let [worst, peak] = [0, 0];
  for (let z = 0; z < batch; z++) {
    for (let i = 0; i < m; i += Math.max(1, Math.floor(m / 8))) {
      for (let j = 0; j < n; j++) {
        let total = 0;
        for (let p = 0; p < k; p++)
          total += a[(z * m + i) * k + p] * (form === 'nt' ? b[(z * n + j) * k + p] : b[(z * k + p) * n + j]);
        worst = Math.max(worst, Math.abs(total - out[(z * m + i) * n + j]));
        peak = Math.max(peak, Math.abs(total));
      }
    }
  }
  return worst / peak;
}

function ours(device: Bench['device'], spec: Shape, a: Float32Array, b: Float32Array): PreparedMatmul {
  const lead = spec.batch > 1 ? [spec.batch] : [];
  const [x, y] = [
    ecif.tensor(device, a, [...lead, spec.m, spec.k]),
    ecif.tensor(device, b, [...lead, ...(spec.form === 'nt' ? [spec.n, spec.k] : [spec.k, spec.n])]),
  ];
  const product = (): ecif.Tensor => ecif.matmul(x, y, { form: spec.form });
  return {
    run: async () => {
      for (let i = 0; i < spec.repeat; i++) product().dispose();
      await device.sync();
    },
    result: async () => {
      const out = product();
      const data = Float32Array.from(await out.data());
      out.dispose();
      return data;
    },
    dispose: () => ecif.disposeTree([x, y]),
  };
}

const LIMITS: Record<string, (shape: Shape) => number | null> = {
  'jax-js WebGPU': (s) => s.atLeast,
  'tfjs WebGPU': (s) => s.atLeast,
  'onnxruntime WebGPU': () => 2.5,
};

export async function matmulRows({ device }: Bench): Promise<Row[]> {
  const rows: Row[] = [];
  const usable = [];
  for (const peer of peers) {
    const found = await peer.available();
    if (found === true) usable.push(peer);
    else rows.push(print(note('matmul', peer.name, `cannot run: ${found}`)));
  }
  for (const shape of SHAPES) {
    const b = random(2, shape.batch * shape.n * shape.k);
    const a = random(1, shape.batch * shape.m * shape.k);
    const contenders = [{ name: 'ecif', prepared: ours(device, shape, a, b) }];
    for (const peer of usable)
      contenders.push({ name: peer.name, prepared: await peer.matmul(shape, a, b, shape.repeat) });
    const times = await compare(
      contenders.map(({ name, prepared }) => ({ name, run: () => prepared.run() })),
      { rounds: 11 },
    );
    for (const { name, prepared } of contenders) {
      const error = errorOf(shape, a, b, await prepared.result());
      if (!(error < 1e-5))
        rows.push(print(note('matmul', `${shape.name}, ${name}`, `wrong by ${error.toExponential(1)}`)));
      prepared.dispose();
    }
    rows.push(...ratios(shape, times));
  }
  return rows;
}

function ratios(shape: Shape, [own, ...others]: Timing[]): Row[] {
  const rate = (t: Timing): number => (flops(shape) * shape.repeat) / t.median / 1e6;
  const rows = [
    print(
      note('matmul', `${shape.name}, GFLOPS`, format(rate(own)), {
        gflops: rate(own),
        best: (flops(shape) * shape.repeat) / own.best / 1e6,
      }),
    ),
  ];
  for (const other of others) {
    const times = ratio(other, own);
    const raw = { ratio: times, ratioOfBest: other.best / own.best, gflops: rate(other) };
    const limit = LIMITS[other.name]?.(shape) ?? null;
    const what = `${shape.name}, × ${other.name}`;
    rows.push(
      print(
        limit === null
          ? note('matmul', what, `${format(times)}×`, raw)
          : target('matmul', what, times, '≥', limit, '×', raw),
      ),
    );
  }
  return rows;
}
