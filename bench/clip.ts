// CLIP measured: embedding against ONNX Runtime, derivatives of an adapter with and without the frozen-prefix cache.
// `npm run bench:clip [-- small b16]` runs both models, or the one named.

import * as ecif from '../src/index.ts';
import { CpuDevice } from '../src/device/cpu.ts';
import { derivativeRows } from './clip-derivatives.ts';
import { embedRows } from './clip-embed.ts';
import { adapted, clipB16, drawPairs, smallClip } from './clip-problem.ts';
import { installWebGpu } from './peers.ts';
import { chosenParts, type Parts, runParts } from './parts.ts';
import type { Row } from './report.ts';
import type { CompareOptions } from './timing.ts';

/** Steps of central differences, and how close they come to a derivative, in float64 and in float32. */
const FLOAT64 = { step: 1e-4, close: 1e-5 };
const FLOAT32 = { step: 0.02, close: 0.02 };

/** Many short samples: none waits long for an idle machine. */
const timed = (rounds: number): CompareOptions => ({ rounds, patience: 500 });

/** The trained model of the repository, on both devices. */
async function smallRows(device: ecif.Device): Promise<Row[]> {
  const [gpu, cpu] = [await smallClip(device), await smallClip(new CpuDevice())];
  const rows: Row[] = [];
  for (const [count, rounds] of [
    [16, 9],
    [64, 5],
  ]) {
    const pairs = drawPairs(gpu.config, count);
    const exact = adapted(cpu, pairs);
    const name = `small CLIP ×${count}`;
    rows.push(...(await embedRows(`${name}, embed`, { WebGPU: gpu, CPU: cpu }, pairs, timed(rounds))));
    rows.push(...(await derivativeRows(`${name}, WebGPU`, adapted(gpu, pairs), { ...FLOAT32, exact }, timed(rounds))));
    if (count === 16) rows.push(...(await derivativeRows(`${name}, CPU`, exact, FLOAT64, timed(5))));
  }
  return rows;
}

/** The sizes of ViT-B/16, on WebGPU. */
async function largeRows(device: ecif.Device): Promise<Row[]> {
  const clip = await clipB16(device);
  const pairs = drawPairs(clip.config, 2);
  const name = 'ViT-B/16 ×2';
  return [
    ...(await embedRows(`${name}, embed`, { WebGPU: clip }, pairs, timed(3))),
    ...(await derivativeRows(`${name}, WebGPU`, adapted(clip, pairs), FLOAT32, timed(3))),
  ];
}

const PARTS: Parts<ecif.Device> = { small: smallRows, b16: largeRows };

const chosen = chosenParts('clip', PARTS);
await installWebGpu();
const device = await ecif.openDevice({ kind: 'webgpu' });
console.log(`${device.name}\n`);
await runParts('clip', device.name, PARTS, chosen, device);
