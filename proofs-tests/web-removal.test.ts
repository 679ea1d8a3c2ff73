// Chapter 3's numbers by other ways: pairs truly dropped from the data, L-BFGS, plain losses, responses by differences.

import { describe, expect, it } from 'vitest';
import { CpuDevice } from '../src/device/cpu.ts';
import { placeConvex } from '../src/ecif/convex-file.ts';
import * as ecif from '../src/index.ts';
import { removalFigure, problemOf } from '../web/figures/removal.ts';
import { convexOf } from '../web/maths/pairs.ts';
import { leftOut, removalFound, trainedModel } from '../web/maths/removal.ts';

const device = new CpuDevice();
const quiet = (): void => undefined;
const VALUES = { t: 1, d: 1, batch: '8' } as const;
const PROBLEM = problemOf(VALUES);
const REMOVE = removalFigure.params.remove.default;

const FILE = convexOf(PROBLEM);
const cut = (rows: readonly (readonly number[])[]): number[][] => rows.map((row) => row.slice(0, PROBLEM.features));
const DATA = {
  ...FILE,
  ...{ text: cut(FILE.text), image: cut(FILE.image) },
  validation: { text: cut(FILE.validation.text), image: cut(FILE.validation.image) },
};

/** Contrastive loss of one batch at W, by plain loops. */
function plainLoss(w: readonly number[], text: readonly number[][], image: readonly number[][]): number {
  const d = PROBLEM.features;
  const similarity = text.map((x) =>
    image.map((y) => x.reduce((t, xi, i) => t + y.reduce((r, yj, j) => r + xi * w[i * d + j] * yj, 0), 0) / VALUES.t),
  );
  const lse = (values: readonly number[]): number => Math.log(values.reduce((t, v) => t + Math.exp(v), 0));
  return similarity.reduce((t, row, k) => t + lse(row) + lse(similarity.map((r) => r[k])) - 2 * row[k], 0);
}

/** The whole objective at W, some pairs dropped from the data. */
function plainObjective(w: readonly number[], dropped: readonly number[] = []): number {
  const batches = FILE.batches.map((ids) => ids.filter((id) => !dropped.includes(id)));
  const losses = batches.map((ids) =>
    plainLoss(
      w,
      ids.map((i) => DATA.text[i]),
      ids.map((i) => DATA.image[i]),
    ),
  );
  return losses.reduce((a, b) => a + b, 0) + (VALUES.d / 2) * w.reduce((t, x) => t + x * x, 0);
}

const validation = (w: readonly number[]): number => plainLoss(w, DATA.validation.text, DATA.validation.image);

/** The minimiser without some pairs: another data set, another method, from zero. */
async function retrain(dropped: readonly number[]): Promise<number[]> {
  const batches = FILE.batches.map((ids) => ids.filter((id) => !dropped.includes(id)));
  const { problem, start } = placeConvex({ ...DATA, batches }, device);
  const { theta } = await ecif.minimise(ecif.totalLoss(problem), start, { method: 'lbfgs' });
  return [...(await theta.w.data())];
}

describe('remove it without retraining', async () => {
  const trained = await trainedModel.run(device, PROBLEM, quiet);

  it('trains to the minimiser', () => {
    const step = 1e-5;
    trained.theta.forEach((_, i) => {
      const at = (d: number): number => plainObjective(trained.theta.map((x, j) => (j === i ? x + d : x)));
      expect(Math.abs(at(step) - at(-step)) / (2 * step)).toBeLessThan(1e-8);
    });
    expect(trained.evaluation).toBeCloseTo(validation(trained.theta), 10);
  });

  it('retraining in the page is training without the pairs, and errors are measured from it', async () => {
    const { edits, seen } = await removalFound.run(
      device,
      { problem: PROBLEM, theta: trained.theta, remove: REMOVE },
      quiet,
    );
    const truth = await retrain(REMOVE);
    const way = Math.hypot(...truth.map((x, i) => x - trained.theta[i]));
    expect(edits.retrained.length / way).toBeCloseTo(1, 7);
    expect(edits.retrained.change).toBeCloseTo(validation(truth) - validation(trained.theta), 6);
    expect(edits.retrained.error).toBe(0);
    const errors = (['published', 'corrected', 'exact gradient', 'Newton'] as const).map(
      (name) => edits[name].error ?? NaN,
    );
    errors.slice(1).forEach((error, i) => expect(error).toBeLessThan(errors[i]));
    expect(errors[0]).toBeGreaterThan(10);
    expect(seen).toBeGreaterThan(0.95);
    for (const { at, length } of Object.values(edits))
      expect(Math.hypot(...at)).toBeLessThanOrEqual(length * (1 + 1e-12));
  });

  it('Newton’s step solves with differences of the plain gradient', async () => {
    const { edits } = await removalFound.run(device, { problem: PROBLEM, theta: trained.theta, remove: [9] }, quiet);
    const step = 1e-4;
    const n = trained.theta.length;
    const value = (i: number, a: number, j: number, b: number): number =>
      plainObjective(
        trained.theta.map((x, k) => x + (k === i ? a : 0) + (k === j ? b : 0)),
        [9],
      );
    const gradient = trained.theta.map((_, i) => (value(i, step, i, 0) - value(i, -step, i, 0)) / (2 * step));
    const hessian = Float64Array.from({ length: n * n }, (_, at) => {
      const [i, j] = [Math.floor(at / n), at % n];
      const corner = (a: number, b: number): number => value(i, a * step, j, b * step);
      return (corner(1, 1) - corner(1, -1) - corner(-1, 1) + corner(-1, -1)) / (4 * step * step);
    });
    const move = ecif.choleskySolve(ecif.cholesky(hessian, n), Float64Array.from(gradient));
    expect(edits.Newton.length / Math.hypot(...move)).toBeCloseTo(1, 4);
    const edited = trained.theta.map((x, i) => x - move[i]);
    expect(edits.Newton.change).toBeCloseTo(validation(edited) - validation(trained.theta), 4);
  });

  it('leaves each pair out by training without it', async () => {
    for (const pair of [0, 7, 15]) {
      const { actual } = await leftOut.run(device, { problem: PROBLEM, theta: trained.theta, pair }, quiet);
      expect(actual).toBeCloseTo(validation(await retrain([pair])) - validation(trained.theta), 6);
    }
  });

  it('scores are responses: the validation loss of models trained with a little less of a pair', async () => {
    const { problem, start } = placeConvex(DATA, device);
    const pair = 4;
    const seg = ecif.segOf(FILE.batches, [pair]);
    const [total, lost] = [ecif.totalLoss(problem), ecif.lossOf(problem, seg, 'corrected')];
    const less = async (share: number): Promise<number> => {
      const f = (theta: ecif.Bilinear): ecif.Tensor => ecif.sub(total(theta), ecif.mul(lost(theta), share));
      const { theta } = await ecif.minimise(f, start);
      return validation([...(await theta.w.data())]);
    };
    const step = 1e-4;
    const response = ((await less(step)) - (await less(-step))) / (2 * step);
    expect(trained.scores.corrected[pair] / response).toBeCloseTo(1, 5);
  });

  it('removes nothing without moving', async () => {
    const { edits } = await removalFound.run(device, { problem: PROBLEM, theta: trained.theta, remove: [] }, quiet);
    for (const { length, error } of Object.values(edits)) {
      expect(length).toBeLessThan(1e-12);
      expect(error).toBeNull();
    }
  });

  it('does for other δ and batches what the text says', async () => {
    const at = async (values: Parameters<typeof problemOf>[0]) => {
      const problem = problemOf(values);
      const { theta } = await trainedModel.run(device, problem, quiet);
      const { edits } = await removalFound.run(device, { problem, theta, remove: REMOVE }, quiet);
      const [published, ...errors] = Object.values(edits).map(({ error }) => error ?? NaN);
      return { published, errors: errors.slice(0, -1), way: edits.retrained.length };
    };
    const [low, usual, high] = [await at({ ...VALUES, d: 0.1 }), await at(VALUES), await at({ ...VALUES, d: 10 })];
    const four = await at({ ...VALUES, batch: '4' });
    low.errors.forEach((error, i) => expect(error).toBeGreaterThan(usual.errors[i]));
    expect(low.published).toBeLessThan(usual.published);
    high.errors.forEach((error) => expect(error).toBeLessThan(0.2));
    expect(low.way).toBeGreaterThan(usual.way);
    expect(four.way).toBeGreaterThan(usual.way);
    for (const { published } of [low, usual, high, four]) expect(published).toBeGreaterThan(1);
  });

  it('gives back all memory', async () => {
    const empty = new CpuDevice();
    const { theta } = await trainedModel.run(empty, PROBLEM, quiet);
    await removalFound.run(empty, { problem: PROBLEM, theta, remove: REMOVE }, quiet);
    await leftOut.run(empty, { problem: PROBLEM, theta, pair: 3 }, quiet);
    expect(empty.memory().live).toBe(0);
    await expect(leftOut.run(empty, { problem: PROBLEM, theta, pair: 999 }, quiet)).rejects.toThrow();
    expect(empty.memory().live).toBe(0);
  });
});
