// The convex problem of the bench: pairs of correlated features in batches of 64, trained to the optimum in float64.

import * as ecif from '../src/index.ts';
import { CpuDevice } from '../src/device/cpu.ts';

/** Parameters up to which the bench forms a dense curvature: more than by default, so that both ways are seen. */
export const DENSE_UP_TO = 600;

/** The curvature of the bench. */
export const DENSE: ecif.SolverOptions = { denseUpTo: DENSE_UP_TO };

export const BATCH = 64;
const TEMPERATURE = 0.5;

type Matrix = number[][];

/** Pairs as numbers. */
interface Pairs {
  readonly text: Matrix;
  readonly image: Matrix;
}

/** A problem as numbers, ready for any device or program. */
export interface ConvexData {
  readonly pairs: number;
  readonly width: number;
  /** δ; it grows with the number of batches, so that the mean objective stays the same. */
  readonly decay: number;
  readonly batches: readonly Pairs[];
  readonly validation: Pairs;
}

/** Images are the texts through one random map, with noise; both widths are equal. */
export function convexData(pairs: number, width: number): ConvexData {
  const rng = ecif.createRng(pairs * 1000 + width);
  const normals = (rows: number): Matrix =>
    Array.from({ length: rows }, () => Array.from({ length: width }, () => rng.normal() / Math.sqrt(width)));
  const map = normals(width);
  const draw = (): Pairs => {
    const [text, noise] = [normals(BATCH), normals(BATCH)];
    const image = text.map((x, k) => noise[k].map((z, j) => x.reduce((s, v, i) => s + v * map[i][j], 0.5 * z)));
    return { text, image };
  };
  const count = pairs / BATCH;
  return { pairs, width, decay: count, batches: Array.from({ length: count }, draw), validation: draw() };
}

/** A problem on a device. */
export interface Placed {
  readonly problem: ecif.Problem<ecif.Bilinear, ecif.PairBatch>;
  readonly total: (theta: ecif.Bilinear) => ecif.Tensor;
  readonly evaluation: (theta: ecif.Bilinear) => ecif.Tensor;
}

/** Puts a problem on a device. */
export function place({ batches, validation, decay }: ConvexData, device: ecif.Device): Placed {
  const pairs = ({ text, image }: Pairs): ecif.PairBatch => ({
    text: ecif.tensor(device, text),
    image: ecif.tensor(device, image),
  });
  const problem = { model: ecif.bilinear(TEMPERATURE), batches: batches.map(pairs), decay };
  const held = pairs(validation);
  return {
    problem,
    total: ecif.totalLoss(problem),
    evaluation: (theta) => ecif.batchLoss(problem.model, theta, held),
  };
}

/** Where the pairs lie: pair i is at position i mod 64 of batch ⌊i/64⌋. */
export const places = ({ batches }: ConvexData): number[][] =>
  batches.map(({ text }, m) => text.map((_, k) => m * BATCH + k));

/** A problem with its minimiser, in float64 on the CPU. */
export interface Trained {
  readonly data: ConvexData;
  readonly device: CpuDevice;
  readonly placed: Placed;
  readonly theta: ecif.Bilinear;
}

/** Trains from W = 0 by L-BFGS. */
export async function trained(pairs: number, width: number): Promise<Trained> {
  const data = convexData(pairs, width);
  const device = new CpuDevice();
  const placed = place(data, device);
  const start = { w: ecif.zeros(device, [width, width]) };
  const { theta, status } = await ecif.minimise(placed.total, start, { method: 'lbfgs' });
  if (status !== 'converged') throw new Error(`training ${pairs} pairs, ${width}×${width}: ${status}`);
  return { data, device, placed, theta };
}

/** What the Python peers read. */
export async function exported({ data, theta }: Trained): Promise<string> {
  const flat = [...(await theta.w.data())];
  const w = Array.from({ length: data.width }, (_, i) => flat.slice(i * data.width, (i + 1) * data.width));
  const { batches, validation, decay } = data;
  const [text, image] = [batches.map((b) => b.text), batches.map((b) => b.image)];
  return JSON.stringify({ temperature: TEMPERATURE, decay, text, image, validation, w });
}
