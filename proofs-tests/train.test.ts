// ecif train: equal runs give equal bits, a killed run goes on as if it had never been, and its record is true.
import { existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { batchOfRows, readyPairs } from '../src/cli/runs/pairs.ts';
import { openEmbedder } from '../src/cli/evaluate/run.ts';
import type { FinalNorms } from '../src/cli/train/end.ts';
import { itemOf, type Tensor } from '../src/autodiff/tensor.ts';
import { readDataset } from '../src/data/dataset.node.ts';
import { decodePartitions } from '../src/data/partitions.ts';
import { openDevice } from '../src/device/open.ts';
import { totalLoss } from '../src/ecif/objective.ts';
import type { Adapter } from '../src/models/clip/lora.ts';
import { runCli } from './support/cli.ts';
import { killWhen, objectiveFromFiles, readTheta } from './support/runs.ts';
import { bytesOf, temporaryFolder, trainHere, writeBase, writeShapes, writeTinyConfig } from './support/shapes.ts';

const FILES = ['model.safetensors', 'theta.safetensors', 'checkpoint.safetensors', 'partitions.bin', 'log.jsonl'];

/** Kills a run once its log has so many lines. */
const killAfter = (words: readonly string[], log: string, lines: number): Promise<void> =>
  killWhen(words, log, () => readFileSync(log, 'utf8').split('\n').length > lines);

describe('a run that is killed and resumed', () => {
  it('ends with the same bits as one that was not: all weights, random crops and mirroring', async () => {
    const folder = temporaryFolder();
    const [data, config] = [await writeShapes(folder), writeTinyConfig(join(folder, 'start'))];
    const words = (out: string) =>
      `train ${data} --from-scratch ${config} --out ${out} --device cpu --epochs 40 --batch 5 --crop 0.7 --flip 0.5 --checkpoint-every 7`.split(
        ' ',
      );
    const [whole, cut] = [join(folder, 'whole'), join(folder, 'cut')];
    const lines = 10 + Math.floor(Math.random() * 60);
    expect((await runCli(words(whole))).code).toBe(0);
    await killAfter(words(cut), join(cut, 'log.jsonl'), lines);
    expect(existsSync(join(cut, 'model.safetensors'))).toBe(false);
    const { code, stderr } = await runCli(['train', '--resume', '--out', cut, '--device', 'cpu']);
    expect(stderr).toMatch(/resumed after step \d+ of 120/);
    expect(code).toBe(0);
    for (const file of FILES)
      expect(bytesOf(cut, file).equals(bytesOf(whole, file)), `${file}, killed at ${lines}`).toBe(true);
  });

  it('ends with the same bits: an adapter with dropout', async () => {
    const folder = temporaryFolder();
    const { data, model } = await writeBase(folder);
    const words = (out: string) =>
      `train ${data} --model ${model} --out ${out} --device cpu --epochs 30 --batch 5 --rank 2 --dropout 0.3 --temperature --checkpoint-every 5`.split(
        ' ',
      );
    const [whole, cut] = [join(folder, 'whole'), join(folder, 'cut')];
    expect((await runCli(words(whole))).code).toBe(0);
    await killAfter(words(cut), join(cut, 'log.jsonl'), 3 + Math.floor(Math.random() * 50));
    expect((await runCli(['train', '--resume', '--out', cut, '--device', 'cpu'])).code).toBe(0);
    for (const file of ['adapter_model.safetensors', ...FILES.slice(1)]) {
      expect(bytesOf(cut, file).equals(bytesOf(whole, file)), file).toBe(true);
    }
  });

  it('begins at the start where no checkpoint was written, and refuses other options, pairs and folders', async () => {
    const folder = temporaryFolder();
    const [data, config, out] = [
      await writeShapes(folder),
      writeTinyConfig(join(folder, 'start')),
      join(folder, 'run'),
    ];
    const words = ['train', data, '--from-scratch', config, '--out', out, '--device', 'cpu', '--epochs', '2'];
    expect((await runCli(['train', '--resume', '--out', out])).stderr).toMatch(/no run to resume/);
    expect((await runCli(words)).code).toBe(0);
    expect((await runCli(words)).stderr).toMatch(/holds a run already; give --resume/);
    const resume = (...more: string[]) => runCli(['train', '--resume', '--out', out, '--device', 'cpu', ...more]);
    expect((await resume('--rate', '0.5')).stderr).toMatch(/--rate: the run was begun with 0.001/);
    // 10 epochs are the default, and not what the run was begun with.
    expect(await resume('--epochs', '10')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--epochs: the run was begun with 2') as unknown,
    });

    const record = readFileSync(join(out, 'run.json'), 'utf8');
    expect(await resume()).toMatchObject({ code: 0, stderr: expect.stringContaining('the run is done') as unknown });
    expect(readFileSync(join(out, 'run.json'), 'utf8')).toBe(record);

    const interrupted = record.replace('"status": "done"', '"status": "running"');
    const refused = async (why: RegExp, from = interrupted): Promise<void> => {
      writeFileSync(join(out, 'run.json'), from);
      const { code, stderr } = await resume();
      expect(code).toBe(2);
      expect(stderr).toMatch(why);
      expect(readFileSync(join(out, 'run.json'), 'utf8')).toBe(from);
    };
    await refused(/the run began on webgpu; go on with --device webgpu/, interrupted.replace('"cpu (', '"webgpu ('));
    const [pairs, sizes] = [readFileSync(data, 'utf8'), readFileSync(config, 'utf8')];
    writeFileSync(data, pairs.replace('a red square', 'a crimson square'));
    await refused(/other pairs than the run began with/);
    writeFileSync(data, pairs);
    writeFileSync(config, `${sizes} `);
    await refused(/the model is not the one the run began with/);
    writeFileSync(config, sizes);
    truncateSync(join(out, 'checkpoint.safetensors'), 500);
    await refused(/checkpoint\.safetensors/);
  });
});

describe('equal settings', () => {
  it('give equal bits; another seed other ones', async () => {
    const folder = temporaryFolder();
    const { data, config } = await writeBase(folder);
    const run = async (out: string, seed: number): Promise<Buffer> => {
      await trainHere({ data, 'from-scratch': config, out: join(folder, out), epochs: 2, batch: 5, crop: 0.8, seed });
      return bytesOf(join(folder, out), 'theta.safetensors');
    };
    const [a, b, c] = [await run('a', 1), await run('b', 1), await run('c', 2)];
    expect(a.equals(b)).toBe(true);
    expect(a.equals(c)).toBe(false);
  });

  it('give equal bits whether frozen layers are kept in memory or on disk', async () => {
    const folder = temporaryFolder();
    const { data, model } = await writeBase(folder);
    const run = async (out: string, megabytes: number): Promise<Buffer> => {
      const layers = { 'text-layers': 'last:1', 'vision-layers': '1' };
      await trainHere({ data, model, out: join(folder, out), epochs: 2, batch: 5, ...layers, 'cache-mb': megabytes });
      expect(existsSync(join(folder, out, 'frozen.tmp.text'))).toBe(false);
      return bytesOf(join(folder, out), 'theta.safetensors');
    };
    expect((await run('memory', 64)).equals(await run('disk', 0))).toBe(true);
  });
});

describe('the record of a run', () => {
  it('holds the partitions of its objective; --to-stationarity brings its gradient below the tolerance', async () => {
    const folder = temporaryFolder();
    const { data, model } = await writeBase(folder);
    const out = join(folder, 'run');
    const settings = {
      l2: 50,
      epochs: 2,
      batch: 6,
      rank: 1,
      targets: 'v_proj',
      'text-layers': 'last:1',
      'vision-layers': 'last:1',
    };
    const record = await trainHere({ data, model, out, ...settings, 'to-stationarity': 1e-7 });
    const norms = record.norms as FinalNorms;
    expect(norms.stationarity).toMatchObject({ reached: true, tolerance: 1e-7 });
    expect(norms.gradientNorm).toBeLessThanOrEqual(1e-7);
    const found = await objectiveFromFiles(out, model, data, settings.l2);
    expect(found.partitions).toBe(2);
    expect(norms.partitions).toBe(2);
    expect(found.value).toBeCloseTo(norms.objective, 9);
    expect(found.norm).toBeLessThanOrEqual(1.01e-7);
    expect(JSON.parse(readFileSync(join(out, 'run.json'), 'utf8'))).toMatchObject({
      status: 'done',
      options: settings,
      steps: 4,
    });
  });

  it('tells from where the objective grew, and nothing where it fell', async () => {
    const folder = temporaryFolder();
    const [data, config] = [await writeShapes(folder), writeTinyConfig(join(folder, 'start'))];
    const run = async (out: string, given: object): Promise<FinalNorms> =>
      (await trainHere({ data, 'from-scratch': config, out: join(folder, out), batch: 6, epochs: 4, ...given }))
        .norms as FinalNorms;
    expect((await run('falls', { rate: 3e-3 })).grownFrom).toBeNull();
    const { objective, grownFrom } = await run('grows', { rate: 3, clip: 0 });
    expect(grownFrom).toBeGreaterThan(0);
    expect(objective).toBeGreaterThan(grownFrom as number);
  });

  it('holds one partition where it was fixed', async () => {
    const folder = temporaryFolder();
    const { data, config } = await writeBase(folder);
    const out = join(folder, 'run');
    await trainHere({ data, 'from-scratch': config, out, epochs: 5, batch: 5, partitions: 1 });
    const { partitions } = decodePartitions('partitions.bin', bytesOf(out, 'partitions.bin'));
    expect(partitions.map((batches) => batches.map((rows) => rows.length))).toEqual([[4, 4, 4]]);
  });

  it('reloads its adapter into the same embeddings', async () => {
    const folder = temporaryFolder();
    const { data, model } = await writeBase(folder);
    const out = join(folder, 'run');
    await trainHere({ data, model, out, epochs: 3, batch: 6, rank: 2, targets: 'q_proj,fc1,fc2', temperature: true });
    const device = await openDevice({ kind: 'cpu' });
    const embedder = await openEmbedder(model, out, device);
    const pairs = await readyPairs(embedder, await readDataset(data), 2 ** 20);
    const batch = await batchOfRows(pairs, device, [...pairs.dataset.rows.keys()]);
    const exact = await readTheta(join(out, 'theta.safetensors'), 'theta', device);
    const [saved, trained] = [embedder.theta, exact].map((theta) => embedder.model.embed(theta, batch));
    const [still] = [await openEmbedder(model, undefined, device)].map((base) => base.model.embed({}, batch));
    for (const side of ['u', 'v'] as const) {
      const [a, b, c] = [await saved[side].data(), await trained[side].data(), await still[side].data()];
      const far = (x: ArrayLike<number>, y: ArrayLike<number>): number =>
        Math.max(...Array.from(x, (v, i) => Math.abs(v - y[i])));
      expect(far(a, b)).toBeLessThan(1e-6);
      expect(far(a, c)).toBeGreaterThan(1e-3);
    }
    expect(Object.keys(embedder.theta)).toContain('logit_scale');
  });
});

describe('L2', () => {
  it('pulls to the start, or to zero as in the paper', async () => {
    const folder = temporaryFolder();
    const { data, model } = await writeBase(folder);
    const lengths: Record<string, number> = {};
    for (const toward of ['start', 'zero'] as const) {
      const out = join(folder, toward);
      await trainHere({ data, model, out, epochs: 0, batch: 12, rank: 2, l2: 1e5, toward, 'to-stationarity': 1e-6 });
      const device = await openDevice({ kind: 'cpu' });
      const theta = await readTheta(join(out, 'theta.safetensors'), 'theta', device);
      lengths[toward] = Math.sqrt(await itemOf(() => squaredLength(theta)));
    }
    expect(lengths.zero).toBeLessThan(1e-3);
    expect(lengths.start).toBeGreaterThan(0.5);
  });
});

/** ‖θ‖². */
const squaredLength = (theta: Adapter): Tensor =>
  totalLoss<Adapter, never>({
    model: {
      embed: () => {
        throw new Error('no batches');
      },
      scale: () => 1,
    },
    batches: [],
    decay: 2,
  })(theta);

describe('a loss that is no number', () => {
  it('stops the run with exit code 1 and the ids of its batch', async () => {
    const folder = temporaryFolder();
    const [data, config, out] = [
      await writeShapes(folder),
      writeTinyConfig(join(folder, 'start')),
      join(folder, 'run'),
    ];
    const words = `train ${data} --from-scratch ${config} --out ${out} --device cpu --epochs 3 --batch 4 --rate 1e300 --schedule constant --clip 0`;
    const { code, stderr } = await runCli(words.split(' '));
    expect(code).toBe(1);
    const record = JSON.parse(readFileSync(join(out, 'run.json'), 'utf8')) as {
      status: string;
      diverged: { step: number; batch: string[] };
    };
    expect(record.status).toBe('diverged');
    const { step, batch } = record.diverged;
    const { partitions } = decodePartitions('partitions.bin', bytesOf(out, 'partitions.bin'));
    const { rows } = await readDataset(data);
    expect(batch).toEqual(Array.from(partitions[Math.floor((step - 1) / 3)][(step - 1) % 3], (row) => rows[row].id));
    expect(stderr).toContain(
      `at step ${step}, on the batch of pairs ${batch.map((id) => JSON.stringify(id)).join(', ')}`,
    );
  });

  it('is no success where it is found at the end, with or without stationarity', async () => {
    const folder = temporaryFolder();
    const { data, model } = await writeBase(folder);
    for (const more of [[], ['--to-stationarity', '1e-3']]) {
      const out = join(folder, `run-${more.length}`);
      const words = ['train', data, '--model', model, '--out', out, '--device', 'cpu', '--epochs', '0', '--batch', '6'];
      const { code, stderr } = await runCli([...words, '--alpha', '1e308', ...more]);
      expect(code).toBe(1);
      expect(stderr).toMatch(/gradient norm (?:NaN|Infinity) at step 0, on the batch of pairs "/);
      expect(readFileSync(join(out, 'run.json'), 'utf8')).toContain('"status": "diverged"');
    }
  });
});
