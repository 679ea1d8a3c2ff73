// How good a model is on pairs that nothing else was done with: what each picture is taken for, of all captions of them.

import type { EvaluationPairs } from '../../src/cli/runs/opened-run.ts';
import { cosineOf, embedRows } from '../../src/ecif/baselines/embeddings.ts';
import type { Adapter } from '../../src/models/clip/lora.ts';

/** What a model does on test pairs. */
export interface Measures {
  /** Share of the pictures that are taken for a caption of their own class or group. */
  readonly accuracy: number;
  /** Share of the pictures whose own caption is first, and among the first five. */
  readonly r1: number;
  readonly r5: number;
  /** Mean cross-entropy of a picture over the captions. */
  readonly loss: number;
}

/** Pictures that go through the model together. */
const AT_ONCE = 100;

/** Rows in chunks, as one partition. */
export const chunksOf = (count: number): Uint32Array[] =>
  Array.from({ length: Math.ceil(count / AT_ONCE) }, (_, k) =>
    Uint32Array.from({ length: Math.min(AT_ONCE, count - k * AT_ONCE) }, (_, i) => k * AT_ONCE + i),
  );

/**
 * Measures a model.
 * @param classOf class or group of a row
 * @param scale factor of the cosines
 */
export async function measure(
  { dataset, loss }: Pick<EvaluationPairs, 'dataset' | 'loss'>,
  theta: Adapter,
  classOf: (row: number) => string,
  scale: number,
): Promise<Measures> {
  const { rows } = dataset;
  const count = rows.length;
  const { width, u, v } = await embedRows({ loss: { ...loss, partitions: [chunksOf(count)] }, theta, count });
  const captions = new Map(rows.map(({ caption }, row) => [caption, row]));
  const candidates = [...captions.values()];
  let [right, first, five, cross] = [0, 0, 0, 0];
  rows.forEach(({ caption }, row) => {
    const logits = candidates.map((other) => scale * cosineOf(width, u, other, v, row));
    const place = candidates.indexOf(captions.get(caption) as number);
    const own = logits[place];
    const most = Math.max(...logits);
    // Ties count against the model, as in ecif evaluate.
    const rank = logits.filter((x, i) => i !== place && !(x < own)).length;
    right += Number(candidates.every((other, i) => logits[i] < most || classOf(other) === classOf(row)));
    first += Number(rank < 1);
    five += Number(rank < 5);
    cross += most - own + Math.log(logits.reduce((sum, x) => sum + Math.exp(x - most), 0));
  });
  return { accuracy: right / count, r1: first / count, r5: five / count, loss: cross / count };
}
