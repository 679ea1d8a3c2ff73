// ecif train --to-stationarity: the gradient vanishes by finite differences, a killed run goes on, rounding is told.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRng } from '../src/array/rng.ts';
import { Flat } from '../src/autodiff/flat.ts';
import { disposeTree } from '../src/autodiff/tensor.ts';
import { type FinalNorms, describeStationarity } from '../src/cli/train/end.ts';
import { settle, roundingOf } from '../src/models/settle.ts';
import { curvatureAt, gaussNewtonProduct, gradientNorm, hessianProduct, objectiveOf } from '../src/models/streamed.ts';
import { runCli } from './support/cli.ts';
import { killWhen, objectiveFromFiles, toyLoss } from './support/runs.ts';
import { bytesOf, temporaryFolder, trainHere, writeBase, writeShapes, writeTinyConfig } from './support/shapes.ts';

const SETTINGS = { iterations: 40, newtonSteps: 60, noise: 1e-13, memory: 2 ** 28 };
const LAYERS = { 'text-layers': 'last:1', 'vision-layers': 'last:1' };
const WORDS =
  '--device cpu --epochs 2 --batch 6 --rank 1 --targets v_proj --l2 50 --iterations 10 --text-layers last:1 --vision-layers last:1'.split(
    ' ',
  );

describe('products at a fixed θ', () => {
  it.each(['hessian', 'gauss-newton'] as const)(
    'are those of the whole objective, kept or streamed: %s',
    async (kind) => {
      const { loss, theta, device } = await toyLoss('cpu');
      const v = new Flat(theta).toTree(Float64Array.from({ length: new Flat(theta).size }, createRng(3).normal));
      const product = kind === 'hessian' ? hessianProduct(loss) : gaussNewtonProduct(loss);
      const wanted = await new Flat(theta).toVector(await product(theta, v));
      const live = device.memory().live;
      const kept: number[] = [];
      for (const memory of [0, 2e3, Infinity]) {
        const curvature = await curvatureAt(loss, theta, kind, memory);
        kept.push(device.memory().live - live);
        const made = await curvature.product(v);
        (await new Flat(theta).toVector(made)).forEach((x, i) => expect(x).toBeCloseTo(wanted[i], 9));
        curvature.release();
        disposeTree(made);
      }
      expect(device.memory().live).toBe(live);
      expect(kept[0]).toBe(0);
      expect(kept[1]).toBeGreaterThan(0);
      expect(kept[1]).toBeLessThan(kept[2]);
    },
  );
});

describe('settle', () => {
  it('comes to a point where the objective is flat along random directions; the start is not', async () => {
    const { loss, theta } = await toyLoss('cpu');
    const settled = await settle(loss, theta, { ...SETTINGS, tolerance: 1e-9 });
    expect(settled).toMatchObject({ converged: true, status: 'converged' });
    expect(settled.iterations.newton).toBeGreaterThan(0);
    const [flat, rng, h] = [new Flat(theta), createRng(5), 1e-4];
    const slope = async (at: typeof theta): Promise<number> => {
      const x = await flat.toVector(at);
      const d = x.map(() => rng.normal());
      const value = async (t: number) => (await objectiveOf(loss)(flat.toTree(x.map((xi, i) => xi + t * d[i])))).value;
      return Math.abs((await value(h)) - (await value(-h))) / (2 * h);
    };
    for (let i = 0; i < 4; i++) {
      expect(await slope(settled.theta)).toBeLessThan(1e-5);
      expect(await slope(theta)).toBeGreaterThan(1e-2);
    }
  });

  it('says that rounding is the limit where the tolerance is below it', async () => {
    const { loss, theta } = await toyLoss('cpu');
    const settled = await settle(loss, theta, { ...SETTINGS, tolerance: 0 });
    expect(settled).toMatchObject({ converged: false, status: 'rounding' });
    const { floor } = await roundingOf(loss, settled.theta);
    expect(settled.gradientNorm).toBeLessThanOrEqual(30 * floor);
    expect((await gradientNorm(loss, theta)).norm).toBeGreaterThan(1e6 * floor);
    const { gradientNorm: norm, status, iterations } = settled;
    const stationarity = { tolerance: 1e-40, reached: false, status, iterations, floor: settled.floor };
    const words = describeStationarity({ gradientNorm: norm, stationarity });
    expect(words).toMatch(/^NO, reached \de-1\d, rounding of this device allows about \de-1\d; asked for 1.0e-40/);
  });
});

/** What the record of a run says of its end. */
const normsOf = (run: string): FinalNorms =>
  (JSON.parse(readFileSync(join(run, 'run.json'), 'utf8')) as { norms: FinalNorms }).norms;

function expectMeasured(norms: FinalNorms, found: { readonly value: number; readonly norm: number }): void {
  expect(norms.gradientNorm / found.norm).toBeCloseTo(1, 9);
  expect(norms.objective / found.value).toBeCloseTo(1, 9);
}

describe('ecif train --to-stationarity', () => {
  it('killed while it settles, goes on there and ends with the same bits', async () => {
    const folder = temporaryFolder();
    const { data, model } = await writeBase(folder);
    const words = (out: string) => [
      'train',
      data,
      '--model',
      model,
      '--out',
      out,
      '--to-stationarity',
      '1e-8',
      ...WORDS,
    ];
    const [whole, cut] = [join(folder, 'whole'), join(folder, 'cut')];
    expect((await runCli(words(whole))).code).toBe(0);
    const checkpoint = join(cut, 'checkpoint.safetensors');
    await killWhen(words(cut), checkpoint, () => readFileSync(checkpoint).includes('settled'));
    const { code, stderr } = await runCli(['train', '--resume', '--out', cut, '--device', 'cpu']);
    expect(stderr).toMatch(/resumed after \d+ L-BFGS iterations and \d+ Newton steps/);
    expect(code).toBe(0);
    for (const file of ['adapter_model.safetensors', 'theta.safetensors', 'checkpoint.safetensors'])
      expect(bytesOf(cut, file).equals(bytesOf(whole, file)), file).toBe(true);
    expect(normsOf(cut)).toEqual(normsOf(whole));
    expect(normsOf(cut).stationarity).toMatchObject({ reached: true, status: 'converged' });
    expect((await objectiveFromFiles(cut, model, data, 50)).norm).toBeLessThanOrEqual(1.01e-8);
  });

  it('left out, the gradient of an adapter is measured over all partitions', async () => {
    const folder = temporaryFolder();
    const { data, model } = await writeBase(folder);
    const out = join(folder, 'run');
    const record = await trainHere({ data, model, out, l2: 3, epochs: 3, batch: 4, rank: 1, ...LAYERS });
    const found = await objectiveFromFiles(out, model, data, 3);
    expect(record.norms).toMatchObject({ partitions: 3, recorded: 3, stationarity: null });
    expectMeasured(record.norms as FinalNorms, found);
    expect(found.last.norm / found.norm).not.toBeCloseTo(1, 3);
  });

  it('left out, the gradient of all weights is measured over the last partition, which the output says', async () => {
    const folder = temporaryFolder();
    const [data, config] = [await writeShapes(folder), writeTinyConfig(join(folder, 'start'))];
    const out = join(folder, 'run');
    const words = ['train', data, '--from-scratch', config, '--out', out, '--device', 'cpu'];
    const { code, stdout } = await runCli([...words, '--epochs', '3', '--batch', '4', '--l2', '3']);
    expect(code).toBe(0);
    expect(stdout.match(/over the last of 3 partitions/g)).toHaveLength(2);
    const norms = normsOf(out);
    const found = await objectiveFromFiles(out, null, data, 3);
    expect(norms).toMatchObject({ partitions: 1, recorded: 3, stationarity: null });
    expectMeasured(norms, found.last);
    expect(found.last.norm / found.norm).not.toBeCloseTo(1, 3);
  });

  it('asked for, the gradient of all weights is measured over all partitions', async () => {
    const folder = temporaryFolder();
    const [data, config] = [await writeShapes(folder), writeTinyConfig(join(folder, 'start'))];
    const out = join(folder, 'run');
    const short = { epochs: 2, batch: 6, iterations: 1, 'newton-steps': 0, 'to-stationarity': 1e-9 };
    const record = await trainHere({ data, 'from-scratch': config, out, l2: 3, ...short });
    expect(record.norms).toMatchObject({ partitions: 2, recorded: 2, stationarity: { reached: false } });
    expectMeasured(record.norms as FinalNorms, await objectiveFromFiles(out, null, data, 3));
  });
});
