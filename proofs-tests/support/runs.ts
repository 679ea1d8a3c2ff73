// Runs of `ecif train` that are killed, the objective put together from a run's files, and a small loss to settle.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createRng } from '../../src/array/rng.ts';
import { treeLeaves } from '../../src/array/tree.ts';
import { grad } from '../../src/autodiff/transforms.ts';
import { itemOf, keep, scope, type Tensor, tensor } from '../../src/autodiff/tensor.ts';
import { openEmbedder } from '../../src/cli/evaluate/run.ts';
import { batchOfRows, readyPairs } from '../../src/cli/runs/pairs.ts';
import { readDataset } from '../../src/data/dataset.node.ts';
import { decodePartitions } from '../../src/data/partitions.ts';
import { type Device, openDevice } from '../../src/device/open.ts';
import { overPartitions, type Problem, totalLoss } from '../../src/ecif/objective.ts';
import { bilinear, type Bilinear } from '../../src/models/bilinear.ts';
import type { ClipBatch } from '../../src/models/clip/clip.ts';
import { fullModel } from '../../src/models/clip/full.ts';
import { fileSource } from '../../src/models/clip/files.node.ts';
import type { Adapter } from '../../src/models/clip/lora.ts';
import { openSafetensors } from '../../src/models/clip/safetensors.ts';
import type { PairBatch } from '../../src/models/model.ts';
import type { StreamedLoss } from '../../src/models/streamed.ts';
import { bytesOf } from './shapes.ts';

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

/** Starts a run and kills it, as a power cut would, once a file of it says so. */
export function killWhen(words: readonly string[], file: string, ready: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--import', 'tsx', main, ...words], { stdio: 'ignore' });
    const watch = setInterval(() => {
      if (!existsSync(file) || !ready()) return;
      clearInterval(watch);
      child.kill('SIGKILL');
    }, 2);
    child.on('exit', (code, signal) => {
      clearInterval(watch);
      if (signal === 'SIGKILL') resolve();
      else reject(new Error(`the run ended with ${String(code)} before it could be killed`));
    });
  });
}

/** Parameters of a part of a file in the run folder, on a device. */
export async function readTheta(path: string, part: string, device: Device): Promise<Adapter> {
  const source = await fileSource(path);
  const file = await openSafetensors(source);
  const entries: [string, Tensor][] = [];
  for (const [name, { shape }] of file.tensors) {
    if (name.startsWith(`${part}/`))
      entries.push([name.slice(part.length + 1), tensor(device, await file.values(name), shape)]);
  }
  await source.close();
  return Object.fromEntries(entries);
}

/** ‖∇f(θ)‖. */
async function slopeOf(f: (theta: Adapter) => Tensor, theta: Adapter): Promise<number> {
  let square = 0;
  for (const leaf of treeLeaves<Tensor>(scope(() => grad(f)(theta)))) {
    for (const x of await leaf.data()) square += x ** 2;
  }
  return Math.sqrt(square);
}

/**
 * The objective of a run in float64, put together from its files by other code than trained it.
 * @param model the folder that an adapter was trained on; null where all weights were trained
 * @param part whose parameters: those the run ended with, or the centre, where it began
 */
export async function objectiveFromFiles(run: string, model: string | null, data: string, l2: number, part = 'theta') {
  const device = await openDevice({ kind: 'cpu' });
  const embedder = await (model === null ? openEmbedder(run, undefined, device) : openEmbedder(model, run, device));
  const pairs = await readyPairs(embedder, await readDataset(data), 2 ** 20);
  const { partitions } = decodePartitions('partitions.bin', bytesOf(run, 'partitions.bin'));
  const batches: ClipBatch[][] = [];
  for (const partition of partitions) {
    batches.push([]);
    for (const rows of partition) batches.at(-1)?.push(await batchOfRows(pairs, device, rows));
  }
  const theta = await readTheta(join(run, 'theta.safetensors'), part, device);
  const centre = await readTheta(join(run, 'theta.safetensors'), 'centre', device);
  const trained = model === null ? fullModel(embedder.config) : embedder.model;
  const base: Omit<Problem<Adapter, ClipBatch>, 'batches'> = { model: trained, decay: l2, centre };
  const measure = async (some: readonly (readonly ClipBatch[])[]): Promise<{ value: number; norm: number }> => {
    const f = totalLoss(overPartitions(base, some));
    return { value: (await itemOf(() => f(theta))) / some.length, norm: (await slopeOf(f, theta)) / some.length };
  };
  return { ...(await measure(batches)), last: await measure(batches.slice(-1)), partitions: partitions.length };
}

const [WIDTH, PAIRS, BATCH] = [6, 24, 6];

/** A small bilinear model, whose objective is convex, on random pairs that are alike, four batches of them, and where to start. */
export async function toyLoss(
  kind: 'cpu' | 'webgpu',
): Promise<{ device: Device; loss: StreamedLoss<Bilinear, PairBatch>; theta: Bilinear }> {
  const device = await openDevice({ kind });
  const rng = createRng(11);
  const texts = Array.from({ length: PAIRS }, () => Array.from({ length: WIDTH }, () => rng.normal()));
  const images = texts.map((text) => text.map((x) => x + 0.5 * rng.normal()));
  const theta = keep({
    w: tensor(
      device,
      Array.from({ length: WIDTH }, () => Array.from({ length: WIDTH }, () => rng.normal())),
    ),
  });
  const rows = Array.from({ length: PAIRS / BATCH }, (_, k) =>
    Uint32Array.from({ length: BATCH }, (_v, i) => BATCH * k + i),
  );
  const batch = async (of: Uint32Array): Promise<PairBatch> =>
    keep({
      text: tensor(
        device,
        Array.from(of, (row) => texts[row]),
      ),
      image: tensor(
        device,
        Array.from(of, (row) => images[row]),
      ),
    });
  return { device, theta, loss: { model: bilinear(0.5), partitions: [rows], batch, l2: 0.01, centre: theta } };
}
