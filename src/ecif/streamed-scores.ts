// Scores of pairs that are too many to hold: batch after batch, everything that one sweep tells of each pair.

import { EcifError } from '../array/errors.ts';
import { disposeTree, type Tensor } from '../autodiff/tensor.ts';
import { embedded } from '../models/model.ts';
import type { StreamedLoss } from '../models/streamed.ts';
import { type Estimate, relativeFrom, type SolvedProbes, tangentRange } from './relative.ts';
import { partsOf, type ScoreParts } from './scores.ts';
import { cosinesOf, selfFrom } from './self.ts';
import { batchesTogether, pairsOf, type PairTangents, sweepEach, type Swept, termsOf } from './sweep.ts';
import type { NegForm } from './terms.ts';

/** What a sweep looks along. */
export interface SweepPlan<T> {
  /** w = H⁻¹·∇L of every evaluation target. */
  readonly targets: readonly T[];
  /** How negatives count; `corrected` unless told. */
  readonly form?: NegForm;
  /** For self and relative scores: probes with H⁻¹ of each, and where they are unit vectors what makes these exact. */
  readonly probes?: SolvedProbes<T> & {
    /** ∇L of every target, and the relative error of derivatives. */
    readonly known?: { readonly gradients: readonly Float64Array[]; readonly noise: number };
  };
}

/** What is known of a pair in one of its batches. */
export interface StreamedPair {
  readonly row: number;
  readonly partition: number;
  readonly batch: number;
  readonly position: number;
  /** One for each target. */
  readonly scores: readonly ScoreParts[];
  /** One for each target where probes were given. */
  readonly relative: readonly Estimate[];
  /** Where probes were given; of the loss 1 − cos. */
  readonly self: Estimate | null;
  /** The loss of the pair as anchor, in both directions. */
  readonly loss: number;
  /** cos(u_n, v_n), known as CLIPScore. */
  readonly cosine: number;
}

/** The pairs of one batch. */
export interface StreamedBatch {
  /** Counted over all partitions. */
  readonly index: number;
  readonly pairs: readonly StreamedPair[];
}

/** Batches of a loss in order, with the place of each. */
export function batchPlaces<T, B>({
  partitions,
}: Pick<StreamedLoss<T, B>, 'partitions'>): { partition: number; batch: number; rows: Uint32Array }[] {
  return partitions.flatMap((batches, partition) => batches.map((rows, batch) => ({ partition, batch, rows })));
}

/** Relative and self scores of a pair from its tangents along targets, solved probes and probes. */
function probed(
  plan: SweepPlan<unknown>,
  { pos, neg }: PairTangents,
  scores: readonly ScoreParts[],
  cosineTangents: Float64Array,
): Pick<StreamedPair, 'relative' | 'self'> {
  if (plan.probes === undefined) return { relative: [], self: null };
  const { exact, probes, known } = plan.probes;
  const [first, end] = [plan.targets.length, plan.targets.length + probes.length];
  const moved = { pos: tangentRange(pos, first, end), neg: tangentRange(neg, first, end) };
  const relative = scores.map((along, i) =>
    relativeFrom(moved, along, known === undefined ? null : { g: known.gradients[i], noise: known.noise }),
  );
  return {
    relative,
    self: selfFrom(
      cosineTangents.subarray(end).map((x) => -x),
      moved,
      exact,
    ),
  };
}

/** The pairs of a batch from what its sweep found. */
function pairsFrom<T>(
  plan: SweepPlan<T>,
  { partition, batch, rows }: ReturnType<typeof batchPlaces>[number],
  { values, tangents }: Swept,
): StreamedPair[] {
  return pairsOf(batch, tangents).map((pair) => {
    const { position } = pair;
    const scores = plan.targets.map((_, i) => partsOf(pair, i));
    const cosineTangents = Float64Array.from(tangents.cosine, (row) => row[position]);
    return {
      ...{ row: rows[position], partition, batch, position, scores },
      ...probed(plan, pair, scores, cosineTangents),
      loss: values.posT2i[position] + values.posI2t[position],
      cosine: values.cosine[position],
    };
  });
}

/**
 * One sweep over all batches of all partitions: scores with their parts for every target, relative and self scores where
 * probes are given, loss and cosine. One group of batches at a time is on the device; nothing is kept.
 * @param first batch to begin with, counted over all partitions, to go on where an earlier sweep ended
 * @param end batch to end before; the last one unless told
 * @example for await (const { pairs } of streamScores(loss, theta, { targets: [w] })) write(pairs);
 */
export async function* streamScores<T, B>(
  loss: Pick<StreamedLoss<T, B>, 'model' | 'partitions' | 'batch'>,
  theta: T,
  plan: SweepPlan<T>,
  first = 0,
  end = Infinity,
): AsyncGenerator<StreamedBatch> {
  const { targets, form = 'corrected', probes } = plan;
  const along = [...targets, ...(probes?.solved ?? []), ...(probes?.probes ?? [])];
  if (along.length === 0) throw new EcifError('streamScores: no target and no probe; give at least one direction');
  const places = batchPlaces(loss).slice(0, end);
  const together = batchesTogether(along.length);
  for (let at = first; at < places.length; at += together) {
    const group = places.slice(at, at + together);
    const batches: B[] = [];
    for (const { rows } of group) batches.push(await loss.batch(rows));
    const terms = batches.map((members) => (t: T): Record<string, Tensor> => {
      const { u, v, s } = embedded(loss.model, t, members);
      return { ...termsOf(s, form), cosine: cosinesOf({ u, v }) };
    });
    const swept = await sweepEach(terms, theta, along, true);
    disposeTree(batches);
    for (const [i, one] of swept.entries()) yield { index: at + i, pairs: pairsFrom(plan, group[i], one) };
  }
}
