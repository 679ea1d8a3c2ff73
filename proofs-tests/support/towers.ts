// Two linear towers with cosine similarity on related pairs, decay about a centre: no embedding comes near 0.

import { Flat } from '../../src/autodiff/flat.ts';
import * as ecif from '../../src/index.ts';

type Towers = ecif.LinearTwoTower;

/** A problem to train; `start` is the centre of its decay. */
export interface Untrained<T> {
  readonly problem: ecif.Problem<T, ecif.PairBatch>;
  readonly start: T;
}

/** A trained problem and the removal of two pairs from its first batch. */
export interface TrainedModel<T> {
  readonly problem: ecif.Problem<T, ecif.PairBatch>;
  readonly theta: T;
  readonly h: ecif.CurvatureSolver<T>;
  readonly seg: ecif.Seg;
  /** A tree on the host; its memory is given back. */
  read(tree: T): Promise<Float64Array>;
}

const [PAIRS, SIZE, WIDTH] = [12, 6, 3];

/** Two batches of six pairs, each image its text with noise, and towers that begin near the identity. */
export function towerProblem(device: ecif.Device, seed: number, decay = 4): Untrained<Towers> {
  const rng = ecif.createRng(seed);
  const normal = (rows: number, spread: number): number[][] =>
    Array.from({ length: rows }, () => Array.from({ length: WIDTH }, () => spread * rng.normal()));
  const text = normal(PAIRS, 1);
  const image = normal(PAIRS, 0.5).map((noise, i) => noise.map((x, j) => x + text[i][j]));
  const rows = (from: number, to: number): ecif.PairBatch => ({
    text: ecif.tensor(device, text.slice(from, to)),
    image: ecif.tensor(device, image.slice(from, to)),
  });
  const tower = (): ecif.Tensor =>
    ecif.tensor(
      device,
      normal(WIDTH, 0.2).map((row, i) => row.map((x, j) => x + (i === j ? 1.5 : 0))),
    );
  const start = { text: tower(), image: tower() };
  const batches = [rows(0, SIZE), rows(SIZE, PAIRS)];
  return { problem: { model: ecif.linearTwoTower(0.5), batches, decay, centre: start }, start };
}

/** The same with the temperature among the parameters. */
export function temperatureProblem(
  device: ecif.Device,
  seed: number,
  decay?: number,
): Untrained<ecif.WithTemperature<Towers>> {
  const { problem, start: tower } = towerProblem(device, seed, decay);
  const start = { tower, logScale: ecif.logScale(device, 0.5) };
  return { problem: { ...problem, model: ecif.trainedTemperature(problem.model), centre: start }, start };
}

/** Trains to the end and prepares the removal. */
export async function trainModel<T>({ problem, start }: Untrained<T>): Promise<TrainedModel<T>> {
  const { theta } = await ecif.minimise(ecif.totalLoss(problem), start, { indefinite: 'reflect' });
  const h = await ecif.curvatureAt(ecif.totalLoss(problem), theta);
  const flat = new Flat(theta);
  const seg = [{ batch: 0, positions: [1, 4] }];
  return { problem, theta, h, seg, read: (tree) => flat.read(() => tree) };
}
