// Embedding pairs, from host memory to host memory, against ONNX Runtime on the same forward pass and weights.

import * as ecif from '../src/index.ts';
import { type Clip, clipBatch, clipModel } from '../src/models/clip/clip.ts';
import { poolPosition } from '../src/models/clip/text.ts';
import { imageModel, textModel, type Weights } from './clip-onnx.ts';
import type { HostPairs } from './clip-problem.ts';
import { readFlat, relativeError } from './errors.ts';
import { type OrtProvider, ortSession, ortTensor } from './onnx-session.ts';
import { ortCpu, ortWebGpu } from './peers.ts';
import { format, note, print, type Row, target } from './report.ts';
import { compare, type CompareOptions, ratio } from './timing.ts';

/** Someone who embeds the pairs. */
interface Embedder {
  readonly name: string;
  /** Embeddings of the texts, then of the images. */
  embed(): Promise<Float64Array>;
  dispose(): Promise<void>;
}

const PEERS: readonly (readonly [OrtProvider, typeof ortCpu])[] = [
  ['cpu', ortCpu],
  ['webgpu', ortWebGpu],
];

function ours(name: string, clip: Clip, { ids, pixels }: HostPairs): Embedder {
  const model = clipModel(clip);
  return {
    name,
    embed: async () => {
      const batch = clipBatch(clip.config, clip.device, ids, pixels);
      const { u, v } = ecif.scope(() => model.embed({}, batch));
      const values = await readFlat([u, v]);
      ecif.disposeTree([u, v, batch.text.ids, batch.pixels]);
      return values;
    },
    dispose: () => Promise.resolve(),
  };
}

/** Weights of a model in host memory. */
async function readWeights({ tensors }: Clip): Promise<Weights> {
  const values = new Map<string, Float32Array>();
  for (const [name, one] of tensors) values.set(name, Float32Array.from(await one.data()));
  return (name) => {
    const found = values.get(name);
    if (found === undefined) throw new Error(`clip-embed: no tensor ${name} in the model`);
    return found;
  };
}

/** Token ids as our own batch has them, and where each text is pooled in them. */
function textFeeds({ config }: Clip, { ids }: HostPairs): { tokens: number; ids: BigInt64Array; rows: BigInt64Array } {
  const ends = ids.map((row) => poolPosition(config.text, row));
  const tokens = Math.max(...ends) + 1;
  const filled = ids.flatMap((row) => Array.from({ length: tokens }, (_, i) => row[Math.min(i, row.length - 1)]));
  return {
    tokens,
    ids: BigInt64Array.from(filled, BigInt),
    rows: BigInt64Array.from(ends, (end, k) => BigInt(k * tokens + end)),
  };
}

/** Both towers on ONNX Runtime, with everything it can do to the graph done. */
async function onnx(
  name: string,
  provider: OrtProvider,
  clip: Clip,
  weights: Weights,
  pairs: HostPairs,
): Promise<Embedder> {
  const { config } = clip;
  const { channels, imageSize } = config.vision;
  const count = pairs.ids.length;
  const { tokens, ids, rows } = textFeeds(clip, pairs);
  const text = await ortSession(textModel(config, weights, count, tokens), provider, 'all');
  const image = await ortSession(imageModel(config, weights, count), provider, 'all');
  const feeds = {
    text: { ids: await ortTensor(ids, [count, tokens]), rows: await ortTensor(rows, [count, 1]) },
    image: { pixels: await ortTensor(pairs.pixels, [count, channels, imageSize, imageSize]) },
  };
  return {
    name,
    embed: async () => {
      const u = await (await text.run(feeds.text)).out.getData();
      const v = await (await image.run(feeds.image)).out.getData();
      return Float64Array.from([...u, ...v]);
    },
    dispose: async () => {
      await text.release();
      await image.release();
    },
  };
}

/** The peers that can run here, and a row with the reason for each that cannot. */
async function peersOf(section: string, clip: Clip, pairs: HostPairs): Promise<{ others: Embedder[]; rows: Row[] }> {
  const [others, rows]: [Embedder[], Row[]] = [[], []];
  const weights = await readWeights(clip);
  for (const [provider, peer] of PEERS) {
    const found = await peer.available();
    if (found === true) others.push(await onnx(peer.name, provider, clip, weights, pairs));
    else rows.push(note(section, peer.name, `cannot run: ${found}`));
  }
  return { others, rows };
}

/** How far everyone's embeddings are from those of the first peer. */
function errorRows(section: string, all: readonly Embedder[], values: readonly Float64Array[], first: number): Row[] {
  return all.flatMap(({ name }, i) => {
    if (i === first || first === all.length) return [];
    const error = relativeError(values[i], values[first]);
    return [target(section, `${name}: difference to ${all[first].name}`, error, '≤', 1e-4, '')];
  });
}

/**
 * Times everyone who can embed the pairs; each runs once before, for its embeddings to be checked.
 * @param clips the model on each of our devices, by the name of the device
 */
export async function embedRows(
  section: string,
  clips: Readonly<Record<string, Clip>>,
  pairs: HostPairs,
  options: CompareOptions,
): Promise<Row[]> {
  const own = Object.entries(clips).map(([device, clip]) => ours(`ecif ${device}`, clip, pairs));
  const { others, rows } = await peersOf(section, Object.values(clips)[0], pairs);
  const all = [...own, ...others];
  const values: Float64Array[] = [];
  for (const one of all) values.push(await one.embed());
  const runs = all.map(({ name, embed }) => ({ name, run: async () => void (await embed()) }));
  const times = await compare(runs, { warmup: 0, ...options });
  for (const one of all) await one.dispose();
  for (const { name, median } of times) {
    const ms = median / pairs.ids.length;
    rows.push(note(section, `${name}, per pair`, `${format(ms)} ms`, { ms }));
  }
  own.forEach((mine, i) =>
    others.forEach((other, j) => {
      const gain = ratio(times[own.length + j], times[i]);
      rows.push(note(section, `${mine.name}, × ${other.name}`, `${format(gain)}×`, { ratio: gain }));
    }),
  );
  return [...rows, ...errorRows(section, all, values, own.length)].map(print);
}
