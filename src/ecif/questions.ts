// Questions to a model: which of some captions a picture shows. Its answers, and the gradient of the loss of each.

import { EcifError } from '../array/errors.ts';
import { mul } from '../autodiff/ops/binary.ts';
import { affine } from '../autodiff/ops/unary.ts';
import { disposeTree, scope, type Tensor, tensor } from '../autodiff/tensor.ts';
import { vjp } from '../autodiff/transforms.ts';
import { treeSpace } from '../linalg/tree-space.ts';
import type { Model } from '../models/model.ts';
import type { StreamedLoss } from '../models/streamed.ts';

/** A picture, and which candidate is its caption. */
export interface Question {
  /** Row of the pair whose picture is asked about. */
  readonly row: number;
  /** Which candidate is right, from 0. */
  readonly truth: number;
}

/** Questions against candidates, all of them pairs that come in batches. */
export interface Questions<T, B> extends Pick<StreamedLoss<T, B>, 'model' | 'batch'> {
  /** Rows of pairs whose captions are the candidates. */
  readonly candidates: Uint32Array;
  readonly questions: readonly Question[];
  /** Pairs of a batch; 64 unless told. */
  readonly size?: number | undefined;
}

/** What a model makes of a question. */
export interface Answer {
  /** log Σ_c e^{s_c} − s_truth: the cross-entropy of the picture over the candidates. */
  readonly loss: number;
  /** Of each candidate. */
  readonly probabilities: Float64Array;
  /** Whether the truth is not strictly the likeliest. */
  readonly mistaken: boolean;
}

/** Embeddings of one side, read back, and the factor of their products. */
interface Side {
  readonly values: Float64Array;
  readonly width: number;
}

/** Rows in batches. */
function* inBatches(rows: Uint32Array, size: number): Generator<{ rows: Uint32Array; first: number }> {
  for (let first = 0; first < rows.length; first += size) yield { rows: rows.subarray(first, first + size), first };
}

const scaleOf = async <T>(model: Model<T, never>, theta: T): Promise<number> => {
  const scale = scope(() => model.scale(theta));
  if (typeof scale === 'number') return scale;
  const value = await scale.item();
  scale.dispose();
  return value;
};

/** Embeddings of the captions or pictures of some rows. */
async function embeddings<T, B>(
  { model, batch }: Pick<Questions<T, B>, 'model' | 'batch'>,
  theta: T,
  rows: Uint32Array,
  side: 'u' | 'v',
  size: number,
): Promise<Side> {
  const parts: ArrayLike<number>[] = [];
  for (const { rows: some } of inBatches(rows, size)) {
    const pairs = await batch(some);
    const made = scope(() => affine(model.embed(theta, pairs)[side], 1, 0));
    parts.push(await made.data());
    disposeTree([made, pairs]);
  }
  const values = Float64Array.from(parts.flatMap((part) => Array.from(part)));
  return { values, width: values.length / rows.length };
}

const rowOf = ({ values, width }: Side, i: number): Float64Array => values.subarray(i * width, (i + 1) * width);

/** The answer from similarities of the candidates. */
function answerOf(similarities: Float64Array, truth: number): Answer {
  const peak = similarities.reduce((a, b) => Math.max(a, b));
  const total = similarities.reduce((sum, s) => sum + Math.exp(s - peak), 0);
  return {
    loss: peak + Math.log(total) - similarities[truth],
    probabilities: similarities.map((s) => Math.exp(s - peak) / total),
    mistaken: similarities.some((s, c) => c !== truth && !(s < similarities[truth])),
  };
}

/** Everything that answers and their gradients are made of. */
interface Asked {
  readonly texts: Side;
  readonly pictures: Side;
  readonly scale: number;
  readonly answers: readonly Answer[];
}

async function ask<T, B>(asked: Questions<T, B>, theta: T): Promise<Asked> {
  const { model, candidates, questions, size = 64 } = asked;
  const odd = questions.find(({ truth }) => !(Number.isInteger(truth) && truth >= 0 && truth < candidates.length));
  if (odd !== undefined || candidates.length < 2) {
    const found = odd === undefined ? '' : `, truth ${odd.truth}`;
    throw new EcifError(`question: ${candidates.length} candidates${found}; give two or more, the truth among them`);
  }
  const rows = Uint32Array.from(questions, ({ row }) => row);
  const texts = await embeddings(asked, theta, candidates, 'u', size);
  const pictures = await embeddings(asked, theta, rows, 'v', size);
  const scale = await scaleOf(model as Model<T, never>, theta);
  const answers = questions.map(({ truth }, q) => {
    const picture = rowOf(pictures, q);
    const similarity = (c: number): number => scale * rowOf(texts, c).reduce((sum, x, k) => sum + x * picture[k], 0);
    return answerOf(
      Float64Array.from(candidates, (_, c) => similarity(c)),
      truth,
    );
  });
  return { texts, pictures, scale, answers };
}

/**
 * What a model makes of pictures: the loss and the probability of every candidate.
 * @throws EcifError for fewer than two candidates, or a truth that is none of them
 * @example const [{ mistaken }] = await answersOf({ model, batch, candidates, questions: [{ row: 3, truth: 0 }] }, theta);
 */
export const answersOf = async <T, B>(asked: Questions<T, B>, theta: T): Promise<readonly Answer[]> =>
  (await ask(asked, theta)).answers;

/** Adds Σ over rows of Jᵀ·weights to the gradient of every question, J being the derivative of embeddings that `f` makes. */
async function pullInto<T, B>(
  sums: T[],
  theta: T,
  pairs: B,
  f: (t: T, pairs: B) => Tensor,
  weights: (question: number) => Float64Array | null,
): Promise<void> {
  const space = treeSpace<T>();
  const back = vjp((t: T) => f(t, pairs), theta);
  for (const q of sums.keys()) {
    const values = weights(q);
    if (values === null) continue;
    const ct = tensor(back.value.device, values, back.value.shape);
    const part = back.pull(ct);
    const next = space.combine([1, 1], [sums[q], part]);
    disposeTree([ct, part, sums[q]]);
    sums[q] = next;
    await back.value.device.tick();
  }
  disposeTree([back.value, pairs]);
  back.dispose();
}

/** An answer with the gradient of its loss. */
export interface AnswerGradient<T> extends Answer {
  readonly gradient: T;
}

/**
 * Answers with ∇ of the loss of each question: the cross-entropy of its picture over the candidate captions. The other
 * direction, of a caption over pictures, is no part of it: a mistake is about what a picture is taken for. Every batch
 * of candidates is embedded once for all questions.
 * @throws EcifError as {@link answersOf}
 * @example const [{ gradient, loss }] = await questionGradients(asked, theta); const w = await h.solve(gradient);
 */
export async function questionGradients<T, B>(asked: Questions<T, B>, theta: T): Promise<AnswerGradient<T>[]> {
  const { model, batch, candidates, questions, size = 64 } = asked;
  const { texts, pictures, scale, answers } = await ask(asked, theta);
  const { width } = texts;
  // ∂loss/∂s_c, and the mixture of captions that the picture is pushed along.
  const slopes = answers.map(({ probabilities }, q) =>
    probabilities.map((p, c) => p - Number(c === questions[q].truth)),
  );
  const sums = questions.map(() => treeSpace<T>().zeros(theta));
  for (const { rows, first } of inBatches(candidates, size)) {
    // The factor of the similarities is differentiated here, with the captions.
    const scaled = (t: T, pairs: B): Tensor => mul(model.embed(t, pairs).u, model.scale(t));
    await pullInto(sums, theta, await batch(rows), scaled, (q) => {
      const [slope, picture] = [slopes[q], rowOf(pictures, q)];
      return Float64Array.from(
        { length: rows.length * width },
        (_, i) => slope[first + Math.floor(i / width)] * picture[i % width],
      );
    });
  }
  for (const { rows, first } of inBatches(
    Uint32Array.from(questions, ({ row }) => row),
    size,
  )) {
    await pullInto(
      sums,
      theta,
      await batch(rows),
      (t, pairs) => affine(model.embed(t, pairs).v, 1, 0),
      (q) => {
        if (q < first || q >= first + rows.length) return null;
        const values = new Float64Array(rows.length * width);
        const mixture = values.subarray((q - first) * width, (q - first + 1) * width);
        slopes[q].forEach((slope, c) => rowOf(texts, c).forEach((x, k) => (mixture[k] += scale * slope * x)));
        return values;
      },
    );
  }
  return answers.map((answer, q) => ({ ...answer, gradient: sums[q] }));
}
