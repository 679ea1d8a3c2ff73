// Peak memory of a sweep over 1,000 to 100,000 synthetic pairs, each made from its row number when its batch comes.

import { streamScores } from '../src/ecif/streamed-scores.ts';
import * as ecif from '../src/index.ts';
import { clipModel } from '../src/models/clip/clip.ts';
import type { ClipConfig } from '../src/models/clip/config.ts';
import { type Adapter, chooseLora, initLora } from '../src/models/clip/lora.ts';
import { afterPrefix, type Prefix } from '../src/models/clip/prefix.ts';
import { initClip } from '../src/models/clip/weights-init.ts';
import type { StreamedLoss } from '../src/models/streamed.ts';
import { growth } from './convex-growth.ts';
import { format, note, print, type Row, target } from './report.ts';

const SECTION = 'memory';
const SIZES = [1_000, 10_000, 100_000];
/** Divides every size into groups of equal batches, so that no tensor has another shape at one of them. */
const BATCH = 25;
const TOKENS = 4;

const tower = { width: 8, layers: 1, heads: 2, inner: 16, act: 'quickGelu', eps: 1e-5 } as const;
const config: ClipConfig = {
  projection: 8,
  logitScale: 1.5,
  vision: { ...tower, imageSize: 4, patchSize: 2, channels: 3 },
  text: { ...tower, vocabulary: 24, positions: TOKENS, eos: 23, pool: 'first-eos' },
};

/** Tokens of some rows, drawn from the row numbers. */
function drawTokens(device: ecif.Device, rows: Uint32Array, tokens: number, stream: number): ecif.Tensor {
  const each = tokens * tower.width;
  const values = new Float32Array(rows.length * each);
  rows.forEach((row, k) => {
    const rng = ecif.createRng(2 * row + stream);
    for (let i = 0; i < each; i++) values[k * each + i] = rng.normal();
  });
  return ecif.tensor(device, values, [rows.length, tokens, tower.width]);
}

/** A tiny CLIP over so many synthetic pairs. */
function synthetic(device: ecif.Device, pairs: number): { loss: StreamedLoss<Adapter, Prefix>; theta: Adapter } {
  const lora = chooseLora(config, { rank: 2, alpha: 4, targets: ['q_proj', 'v_proj'] });
  const model = afterPrefix(clipModel(initClip(config, device, ecif.createRng(1)), lora));
  const patches = (config.vision.imageSize / config.vision.patchSize) ** 2 + 1;
  const batch = (rows: Uint32Array): Promise<Prefix> =>
    Promise.resolve({
      text: drawTokens(device, rows, TOKENS, 0),
      image: drawTokens(device, rows, patches, 1),
      ends: new Int32Array(rows.length).fill(TOKENS - 1),
    });
  const partitions = [ecif.drawPartition(ecif.createRng(2), pairs, BATCH)];
  return { loss: { model, partitions, batch, l2: 1 }, theta: initLora(config, lora, device, ecif.createRng(3)) };
}

/** Peak bytes and time of one sweep on a device of its own. */
async function sweepOf(pairs: number): Promise<{ device: number; host: number; seconds: number; scored: number }> {
  const device = await ecif.openDevice();
  const { loss, theta } = synthetic(device, pairs);
  const begin = performance.now();
  let [scored, host, worst] = [0, 0, Infinity];
  for await (const batch of streamScores(loss, theta, { targets: [theta] })) {
    for (const { scores } of batch.pairs) worst = Math.min(worst, scores[0].score);
    scored += batch.pairs.length;
    host = Math.max(host, process.memoryUsage().heapUsed);
  }
  if (!Number.isFinite(worst)) throw new Error(`bench: the lowest score of ${pairs} pairs is ${worst}`);
  return { device: device.memory().peak, host, seconds: (performance.now() - begin) / 1000, scored };
}

/** The sweep at every size, the smallest twice: the first compiles. */
export async function memoryRows(): Promise<Row[]> {
  await sweepOf(SIZES[0]);
  const found = [];
  const rows: Row[] = [];
  for (const pairs of SIZES) {
    const one = await sweepOf(pairs);
    found.push(one);
    const value = `${format(one.device / 2 ** 20)} MiB in ${format(one.seconds)} s`;
    const raw = { device: one.device, host: one.host, seconds: one.seconds, scored: one.scored };
    rows.push(print(note(SECTION, `${pairs} pairs: peak on the device`, value, raw)));
    rows.push(print(note(SECTION, `${pairs} pairs: peak of the JavaScript heap`, `${format(one.host / 2 ** 20)} MiB`)));
  }
  const peaks = found.map((one) => one.device);
  const change = 100 * (Math.max(...peaks) / Math.min(...peaks) - 1);
  const time = growth(
    SIZES,
    found.map((one) => one.seconds),
  );
  const scored = found.every((one, i) => one.scored === SIZES[i]) ? 0 : 1;
  return [
    ...rows,
    ...[
      target(SECTION, 'change of the peak on the device', change, '≤', 5, ' %'),
      target(SECTION, 'sizes of which a pair was left out', scored, '≤', 0, ''),
      note(SECTION, 'time: exponent in N', format(time), { exponent: time }),
    ].map(print),
  ];
}
