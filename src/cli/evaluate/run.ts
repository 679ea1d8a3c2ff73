// What `ecif evaluate` measures: embeddings of a dataset, retrieval in both directions, zero-shot accuracy.

import { EcifError, NumericsError } from '../../array/errors.ts';
import { matmul } from '../../autodiff/ops/matmul.ts';
import { disposeTree, scope, tensor } from '../../autodiff/tensor.ts';
import { captionOf } from '../../data/dataset.ts';
import type { Device } from '../../device/open.ts';
import { type ClipModel, clipModel, embedImages, embedTexts, textBatch } from '../../models/clip/clip.ts';
import { fileFolder } from '../../models/clip/files.node.ts';
import { openAdapterDirectory, openClipDirectory } from '../../models/clip/hf-directory.ts';
import { loadAdapter } from '../../models/clip/lora-peft.ts';
import type { Adapter } from '../../models/clip/lora.ts';
import { loadClip } from '../../models/clip/weights.ts';
import { captionRecall, type Retrieval } from '../../models/retrieval.ts';
import { zeroShot, type ZeroShot } from '../../models/zero-shot.ts';
import { batchOfRows, type ClipInputs, type ReadyPairs } from '../runs/pairs.ts';
import type { Progress } from '../progress.ts';

/** A model ready to embed, with its parameters. */
export interface Embedder extends ClipInputs {
  readonly model: ClipModel;
  readonly theta: Adapter;
}

/** Rows of numbers of equal length. */
export interface Rows {
  readonly values: Float64Array;
  readonly width: number;
}

const CHUNK = 64;

/** Opens a CLIP folder, and an adapter on it if one is named. */
export async function openEmbedder(path: string, adapter: string | undefined, device: Device): Promise<Embedder> {
  const folders = [await fileFolder(path)];
  try {
    const directory = await openClipDirectory(folders[0]);
    const { config, preprocess } = directory;
    const tokenizer = await directory.tokenizer();
    const clip = await loadClip(config, directory.weights, device);
    if (adapter === undefined) return { config, preprocess, tokenizer, model: clipModel(clip), theta: {} };
    folders.push(await fileFolder(adapter));
    const { settings, weights } = await openAdapterDirectory(folders[1]);
    const { lora, theta } = await loadAdapter(config, settings, weights, device);
    return { config, preprocess, tokenizer, model: clipModel(clip, lora), theta };
  } finally {
    await Promise.all(folders.map((folder) => folder.close()));
  }
}

/** Puts rows together from pieces that are made one after the other. */
async function inPieces(
  count: number,
  width: number,
  make: (rows: readonly number[]) => Promise<ArrayLike<number>>,
  told: (done: number) => void,
): Promise<Rows> {
  const values = new Float64Array(count * width);
  for (let first = 0; first < count; first += CHUNK) {
    const rows = Array.from({ length: Math.min(CHUNK, count - first) }, (_, i) => first + i);
    values.set(await make(rows), first * width);
    told(first + rows.length);
  }
  return { values, width };
}

/** Unit embeddings of texts. */
export function textRows(
  { model, theta, config, tokenizer }: Embedder,
  texts: readonly string[],
  progress: Progress,
): Promise<Rows> {
  const { device } = model.clip;
  return inPieces(
    texts.length,
    config.projection,
    async (rows) => {
      const made = scope(() => {
        const batch = textBatch(
          config,
          device,
          rows.map((i) => tokenizer.encode(texts[i])),
        );
        return embedTexts(model.net(theta), config, batch);
      });
      const values = await made.data();
      made.dispose();
      return values;
    },
    (done) => progress.status(`texts: ${done}/${texts.length}`),
  );
}

/** Unit embeddings of the pictures of a dataset. */
export function imageRows({ model, theta, config }: Embedder, pairs: ReadyPairs, progress: Progress): Promise<Rows> {
  const { device } = model.clip;
  const count = pairs.dataset.rows.length;
  return inPieces(
    count,
    config.projection,
    async (rows) => {
      const batch = await batchOfRows(pairs, device, rows);
      const made = scope(() => embedImages(model.net(theta), config, batch.pixels));
      const values = await made.data();
      disposeTree([batch, made]);
      return values;
    },
    (done) => progress.status(`pictures: ${done}/${count}`),
  );
}

/** Refuses embeddings that are no numbers, naming the first. */
function requireNumbers({ values, width }: Rows, nameOf: (row: number) => string): void {
  const at = values.findIndex((x) => !Number.isFinite(x));
  if (at < 0) return;
  const name = JSON.stringify(nameOf(Math.floor(at / width)));
  throw new NumericsError(`evaluate: the embedding of ${name} is ${values[at]}; are the weights damaged?`);
}

/** ⟨a_i, b_j⟩ of all rows, (rows of a, rows of b). */
export async function products(device: Device, a: Rows, b: Rows): Promise<Float64Array> {
  const [n, m] = [a, b].map(({ values, width }) => values.length / width);
  const right = tensor(device, b.values, [m, b.width]);
  const { values } = await inPieces(
    n,
    m,
    async (rows) => {
      const part = a.values.subarray(rows[0] * a.width, (rows[0] + rows.length) * a.width);
      const made = scope(() => matmul(tensor(device, part, [rows.length, a.width]), right, { form: 'nt' }));
      const found = await made.data();
      made.dispose();
      return found;
    },
    () => undefined,
  );
  right.dispose();
  return values;
}

/** Each value once, and the number of each. */
function distinct(values: readonly string[]): { names: string[]; index: number[] } {
  const numbers = new Map<string, number>();
  const index = values.map((value) => {
    if (!numbers.has(value)) numbers.set(value, numbers.size);
    return numbers.get(value) as number;
  });
  return { names: [...numbers.keys()], index };
}

/** Mean over the templates of each class, at unit length. */
function meanRows({ values, width }: Rows, templates: number): Rows {
  const classes = values.length / width / templates;
  const out = new Float64Array(classes * width);
  for (let c = 0; c < classes; c++) {
    const row = out.subarray(c * width, (c + 1) * width);
    for (let t = 0; t < templates; t++)
      for (let k = 0; k < width; k++) row[k] += values[(c * templates + t) * width + k];
    const norm = Math.hypot(...row);
    row.forEach((x, k) => (row[k] = norm === 0 ? 0 : x / norm));
  }
  return { values: out, width };
}

/** Similarities that are held at once at most. */
const MOST = 2 ** 28;

function requireRoom(captions: number, pictures: number): void {
  if (captions * pictures <= MOST) return;
  const found = `${captions} captions and ${pictures} pictures`;
  throw new EcifError(`evaluate: ${found}, at most ${MOST} similarities are held; give a shorter list`);
}

/** What was measured. */
export interface Evaluation {
  readonly device: string;
  readonly pictures: number;
  /** Different captions. */
  readonly captions: number;
  readonly retrieval: Retrieval;
  /** Null where the dataset names no classes. */
  readonly zeroShot: ZeroShot | null;
}

/** Embeds a dataset and measures it. */
export async function evaluatePairs(
  embedder: Embedder,
  pairs: ReadyPairs,
  templates: readonly string[],
  progress: Progress,
): Promise<Evaluation> {
  const { device } = embedder.model.clip;
  const { rows } = pairs.dataset;
  const captions = distinct(rows.map(({ caption }) => caption));
  requireRoom(captions.names.length, rows.length);
  const images = await imageRows(embedder, pairs, progress);
  const texts = await textRows(embedder, captions.names, progress);
  requireNumbers(images, (row) => rows[row].id);
  requireNumbers(texts, (row) => captions.names[row]);
  const retrieval = captionRecall(await products(device, texts, images), captions.names.length, captions.index);
  const found = { device: device.name, pictures: rows.length, captions: captions.names.length, retrieval };
  if (rows.some(({ label }) => label === null)) return { ...found, zeroShot: null };
  const labels = distinct(rows.map(({ label }) => label as string));
  const prompts = labels.names.flatMap((name) => templates.map((template) => captionOf(template, name)));
  const classes = meanRows(await textRows(embedder, prompts, progress), templates.length);
  const scores = await products(device, images, classes);
  return { ...found, zeroShot: zeroShot(scores, labels.index, labels.names) };
}
