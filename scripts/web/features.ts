// npm run web:data: emoji with features of their pictures and captions, as the small CLIP embeds them, for the playground.

import { basename, join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import * as ecif from '../../src/index.ts';
import { createRng } from '../../src/array/rng.ts';
import { type Emoji, listEmoji } from '../../src/data/emoji.node.ts';
import { symmetricEigen } from '../../src/linalg/symmetric-eigen.ts';
import { fileFolder } from '../../src/node.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const OUT = join(ROOT, 'web', 'data', 'emoji.gen.ts');

/** Emoji of each group, and groups that are left out: most of theirs differ in details that do not show. */
const EACH = 12;
const LEFT_OUT = ['Flags', 'Symbols', 'People & Body'];
/** Not for a class. */
const UNFIT = ['face vomiting', 'coffin', 'bikini', 'kiss mark', 'drooling face'];
/** Directions in which pictures and captions vary together. */
const FEATURES = 6;
/** Names longer than this do not fit beside a matrix. */
const LONGEST = 14;

/** Some emoji of each group, with short names, of a seed. */
async function choose(): Promise<Emoji[]> {
  const all = (await listEmoji()).filter(
    ({ group, caption }) =>
      !LEFT_OUT.includes(group) && !UNFIT.includes(caption) && caption.length <= LONGEST && !caption.includes(':'),
  );
  const rng = createRng(20);
  return [...new Set(all.map(({ group }) => group))].flatMap((group) => {
    const of = all.filter((one) => one.group === group);
    return Array.from(rng.permutation(of.length).slice(0, EACH), (i) => of[i]);
  });
}

/** Unit embeddings of captions and pictures, (n, d) each. */
async function embed(chosen: readonly Emoji[]): Promise<{ u: Float64Array; v: Float64Array; width: number }> {
  const device = await ecif.openDevice({ kind: 'cpu' });
  const folder = await fileFolder(join(ROOT, 'models', 'small-clip'));
  const { config, weights, preprocess, tokenizer } = await ecif.openClipDirectory(folder);
  const clip = await ecif.loadClip(config, weights, device);
  const { encode } = await tokenizer();
  await folder.close();
  const pixels: number[] = [];
  for (const { file } of chosen) {
    const drawn = sharp(file, { density: 144 }).resize(128, 128).flatten({ background: '#fff' }).removeAlpha();
    const { data, info } = await drawn.raw().toBuffer({ resolveWithObject: true });
    pixels.push(...ecif.preprocess({ width: info.width, height: info.height, channels: 3, data }, preprocess));
  }
  const captions = chosen.map(({ caption }) => encode(caption));
  const batch = ecif.clipBatch(config, device, captions, Float32Array.from(pixels));
  const { u, v } = ecif.clipModel(clip).embed({}, batch);
  const [texts, images] = await ecif.readAll([u, v]);
  return { u: Float64Array.from(texts), v: Float64Array.from(images), width: config.projection };
}

/** Rows less their mean. */
function centred(x: Float64Array, width: number): Float64Array {
  const n = x.length / width;
  const mean = Array.from({ length: width }, (_, d) => {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += x[i * width + d];
    return sum / n;
  });
  return x.map((value, i) => value - mean[i % width]);
}

/** XᵀY of two lists of rows, (a, b). */
function cross(x: Float64Array, y: Float64Array, a: number, b: number): Float64Array {
  const n = x.length / a;
  return Float64Array.from({ length: a * b }, (_, at) => {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += x[i * a + Math.floor(at / b)] * y[i * b + (at % b)];
    return sum;
  });
}

/** The first singular directions of C = UᵀV: eigenvectors of C·Cᵀ, and Cᵀ applied to them. */
function directions(c: Float64Array, d: number): { left: Float64Array[]; right: Float64Array[] } {
  const transposed = Float64Array.from({ length: d * d }, (_, i) => c[(i % d) * d + Math.floor(i / d)]);
  const { values, vectors } = symmetricEigen(cross(transposed, transposed, d, d), d);
  const order = Array.from(values.keys()).sort((a, b) => values[b] - values[a]);
  const left = order.slice(0, FEATURES).map((k) => vectors.slice(k * d, (k + 1) * d));
  const right = left.map((l) => {
    const r = Float64Array.from({ length: d }, (_, j) => l.reduce((sum, x, i) => sum + x * c[i * d + j], 0));
    const length = Math.hypot(...r);
    return r.map((x) => x / length);
  });
  return { left, right };
}

/** Rows in the directions, scaled to mean square 1 a feature, rounded. */
function projected(x: Float64Array, width: number, along: readonly Float64Array[]): number[][] {
  const n = x.length / width;
  const rows = Array.from({ length: n }, (_, i) =>
    along.map((direction) => direction.reduce((sum, value, d) => sum + value * x[i * width + d], 0)),
  );
  const size = Math.sqrt(rows.flat().reduce((sum, value) => sum + value ** 2, 0) / (n * along.length));
  return rows.map((row) => row.map((value) => Number((value / size).toFixed(3))));
}

const chosen = await choose();
const { u, v, width } = await embed(chosen);
const [texts, images] = [centred(u, width), centred(v, width)];
const { left, right } = directions(cross(texts, images, width, width), width);
const [text, image] = [projected(texts, width, left), projected(images, width, right)];
const lines = chosen.map(({ caption, group, file }, i) => {
  const pair = { code: basename(file, '.svg'), caption, group, text: text[i], image: image[i] };
  return `  ${JSON.stringify(pair)},`;
});
writeFileSync(
  OUT,
  `// Generated by \`npm run web:data\`; do not edit. Twemoji with features of their captions and pictures: embeddings by
// models/small-clip, in the ${FEATURES} directions in which both vary together most.

/** A pair of the playground. */
export interface EmojiPair {
  /** Code points, the name of its picture. */
  readonly code: string;
  readonly caption: string;
  readonly group: string;
  readonly text: readonly number[];
  readonly image: readonly number[];
}

export const EMOJI: readonly EmojiPair[] = [
${lines.join('\n')}
];
`,
);
console.log(`${chosen.length} pairs, ${FEATURES} features of each half: ${OUT}`);
