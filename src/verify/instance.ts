// Random convex problems to put claims to the test, and tiny ones to show where a claim fails.

import { createRng, type Rng } from '../array/rng.ts';
import type { ConvexFile } from '../ecif/convex-file.ts';

/** Sizes and constants of an instance; what is not given is drawn. */
export interface Shape {
  readonly pairs?: number;
  readonly batches?: number;
  readonly text?: number;
  readonly image?: number;
  readonly temperature?: number;
  readonly decay?: number;
  readonly remove?: number;
  /** Remove from the first batch only. */
  readonly oneBatch?: boolean;
}

const unit = (v: readonly number[]): number[] => v.map((x) => x / Math.hypot(...v));

/**
 * Pairs as real ones are: text and image features of length one that share hidden factors, with noise of their own.
 * @param count pairs
 * @param p text features
 * @param q image features
 */
export function relatedPairs(rng: Rng, count: number, p: number, q: number): { text: number[][]; image: number[][] } {
  const hidden = Math.max(p, q);
  const normal = (rows: number, columns: number): number[][] =>
    Array.from({ length: rows }, () => Array.from({ length: columns }, () => rng.normal()));
  const [factors, a, b] = [normal(count, hidden), normal(p, hidden), normal(q, hidden)];
  const seen = (through: readonly (readonly number[])[]): number[][] =>
    factors.map((z) => unit(through.map((row) => row.reduce((t, x, i) => t + x * z[i], 0) + 0.6 * rng.normal())));
  return { text: seen(a), image: seen(b) };
}

/** Pairs of the validation batch. */
const VALIDATION = 4;

const pick = <R>(rng: Rng, of: readonly R[]): R => of[rng.int(of.length)];

/**
 * A random problem; equal seeds and shapes give equal ones.
 * @example randomInstance(7, { remove: 2, temperature: 0.5 });
 */
export function randomInstance(seed: number, shape: Shape = {}): ConvexFile {
  const rng = createRng(seed);
  const count = shape.batches ?? 1 + rng.int(3);
  const pairs = shape.pairs ?? count * (3 + rng.int(4));
  const [p, q] = [shape.text ?? 1 + rng.int(4), shape.image ?? 1 + rng.int(4)];
  const order = [...rng.permutation(pairs)];
  const size = Math.ceil(pairs / count);
  const batches = Array.from({ length: count }, (_, m) => order.slice(m * size, (m + 1) * size));
  const from = shape.oneBatch === true ? batches[0] : order;
  const shuffled = [...rng.permutation(from.length)].map((i) => from[i]);
  const remove = shape.remove ?? 1 + rng.int(3);
  const all = relatedPairs(rng, pairs + VALIDATION, p, q);
  return {
    name: `instance ${seed}`,
    temperature: shape.temperature ?? pick(rng, [0.2, 0.5, 1]),
    delta: shape.decay ?? pick(rng, [0.05, 0.2, 1, 5]),
    text: all.text.slice(0, pairs),
    image: all.image.slice(0, pairs),
    batches,
    remove: shuffled.slice(0, Math.min(remove, pairs - 1)),
    validation: { text: all.text.slice(pairs), image: all.image.slice(pairs) },
  };
}

const GRID = [-1, -0.5, 0.5, 1];

/** The smallest problems there are, smallest first: one batch of 2 to 4 pairs with one feature each side. */
export function* tinyInstances(shape: Shape = {}, each = 24): Generator<ConvexFile> {
  const rng = createRng(1);
  const column = (n: number): number[][] => Array.from({ length: n }, () => [pick(rng, GRID)]);
  for (let n = Math.max(2, (shape.remove ?? 1) + 1); n <= 4; n++) {
    for (let i = 0; i < each; i++) {
      yield {
        name: `tiny ${n}-${i}`,
        temperature: shape.temperature ?? 1,
        delta: shape.decay ?? pick(rng, [0.1, 1]),
        text: column(n),
        image: column(n),
        batches: [Array.from({ length: n }, (_, k) => k)],
        remove: Array.from({ length: shape.remove ?? 1 }, (_, k) => n - 1 - k),
        validation: { text: column(2), image: column(2) },
      };
    }
  }
}

const list = (rows: readonly (readonly number[])[]): string =>
  rows.map((row) => (row.length === 1 ? String(row[0]) : `[${row.map((x) => x.toPrecision(3)).join(' ')}]`)).join(', ');

/** An instance in one line. */
export function describeInstance({ text, image, batches, temperature, delta, remove }: ConvexFile): string {
  const constants = `τ=${temperature}, δ=${delta}, remove {${remove.join(', ')}}`;
  if (text.length > 4 || batches.length > 1) {
    const sizes = `${text.length} pairs in ${batches.length} batches, ${text[0].length}×${image[0].length} features`;
    return `${sizes}, ${constants}`;
  }
  return `x=(${list(text)}), y=(${list(image)}), ${constants}`;
}
