// Scores of pairs that are too many to hold: batch after batch, everything that one sweep tells of each pair.

import { EcifError } from '../array/errors.ts';
import { disposeTree, type Tensor } from '../autodiff/tensor.ts';
import { embedded } from '../models/model.ts';
import { pairsTogether, rowsOfStack, stackedModel, stacksOf } from '../models/stacked.ts';
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

/** A batch with its place. */
interface BatchPlace {
  readonly partition: number;
  readonly batch: number;
  readonly rows: Uint32Array;
}

/** Batches of a loss in order, with the place of each. */
export function batchPlaces<T, B>({ partitions }: Pick<StreamedLoss<T, B>, 'partitions'>): BatchPlace[] {
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
  { partition, batch, rows }: BatchPlace,
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

/** What the sweep of a stack found of one of its batches. */
function apart({ values, tangents }: Swept, size: number, index: number): Swept {
  const part = (row: Float64Array): Float64Array => row.subarray(index * size, (index + 1) * size);
  return {
    values: Object.fromEntries(Object.entries(values).map(([key, row]) => [key, part(row)])),
    tangents: Object.fromEntries(Object.entries(tangents).map(([key, rows]) => [key, rows.map(part)])),
  };
}

/**
 * One sweep over all batches of all partitions: scores with their parts for every target, relative and self scores where
 * probes are given, loss and cosine. One group of batches at a time is on the device, those of equal size laid together;
 * nothing is kept.
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
  const [model, together] = [stackedModel(loss.model), batchesTogether(along.length)];
  const most = first < places.length ? await pairsTogether(loss, places[first].rows) : 0;
  for (let at = first; at < places.length; at += together) {
    const stacks = stacksOf(places.slice(at, at + together), most);
    const batches: B[] = [];
    for (const stack of stacks) batches.push(await loss.batch(rowsOfStack(stack)));
    const terms = stacks.map((stack, i) => (t: T): Record<string, Tensor> => {
      const { u, v, s } = embedded(model, t, { pairs: batches[i], sizes: stack.map(({ rows }) => rows.length) });
      return { ...termsOf(s, form), cosine: cosinesOf({ u, v }) };
    });
    const swept = await sweepEach(terms, theta, along, true);
    disposeTree(batches);
    let index = at;
    for (const [i, stack] of stacks.entries()) {
      for (const [k, place] of stack.entries())
        yield { index: index++, pairs: pairsFrom(plan, place, apart(swept[i], place.rows.length, k)) };
    }
  }
}
