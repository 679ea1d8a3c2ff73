// Tracing answers of a model to the training pairs behind them: every pair’s influence on the loss of every question.

import { Flat } from '../autodiff/flat.ts';
import { disposeTree } from '../autodiff/tensor.ts';
import type { StreamedLoss } from '../models/streamed.ts';
import { type AnswerGradient, questionGradients, type Questions } from './questions.ts';
import { noiseOf, type ProbeOptions, solvedProbes } from './relative.ts';
import type { CurvatureSolver } from './solver.ts';
import { streamScores, type SweepPlan } from './streamed-scores.ts';

/** A training pair behind an answer; means over the partitions of training. */
export interface Source {
  readonly row: number;
  /** Predicted change of the loss of the question if the pair is removed; negative: the pair is against the truth. */
  readonly score: number;
  /** The largest change of that loss per unit of parameter change that re-weighting the pair can make. */
  readonly relative: number;
}

/**
 * Every training pair as a source, for each target of a sweep.
 * @param onBatch told after each batch, of how many
 * @returns lists by target, in the order of rows
 */
export async function sourcesOf<T, B>(
  loss: Pick<StreamedLoss<T, B>, 'model' | 'partitions' | 'batch'>,
  theta: T,
  plan: SweepPlan<T>,
  onBatch?: (done: number, of: number) => void,
): Promise<Source[][]> {
  const batches = loss.partitions.flat();
  const count = batches.reduce((most, rows) => rows.reduce((a, row) => Math.max(a, row + 1), most), 0);
  const sums = plan.targets.map(() => ({ score: new Float64Array(count), relative: new Float64Array(count) }));
  const seen = new Uint32Array(count);
  for await (const { index, pairs } of streamScores(loss, theta, plan)) {
    for (const { row, scores, relative } of pairs) {
      seen[row]++;
      sums.forEach((sum, i) => {
        sum.score[row] += scores[i].score;
        sum.relative[row] += relative.length === 0 ? 0 : relative[i].value;
      });
    }
    onBatch?.(index + 1, batches.length);
  }
  const rows = Array.from(seen.keys()).filter((row) => seen[row] > 0);
  return sums.map(({ score, relative }) =>
    rows.map((row) => ({ row, score: score[row] / seen[row], relative: relative[row] / seen[row] })),
  );
}

/** Sources that stand against the truth, and for it. */
export interface RankedSources {
  /** Their removal is predicted to lower the loss of the question, the most first. */
  readonly against: readonly Source[];
  /** Their removal is predicted to raise it, the most first. */
  readonly for: readonly Source[];
}

/**
 * The first sources on either side.
 * @param by what orders them: the score, or the relative score with the sign of the score
 */
export function rankSources(sources: readonly Source[], count: number, by: 'score' | 'relative'): RankedSources {
  const size = (source: Source): number => (by === 'score' ? Math.abs(source.score) : source.relative);
  const first = (side: readonly Source[]): Source[] =>
    side.toSorted((a, b) => size(b) - size(a) || a.row - b.row).slice(0, count);
  return { against: first(sources.filter((s) => s.score < 0)), for: first(sources.filter((s) => s.score > 0)) };
}

/** A question with what the model makes of it, and every training pair as a source. */
export interface TracedAnswer<T> extends AnswerGradient<T> {
  /** In the order of rows. */
  readonly sources: readonly Source[];
}

/**
 * Traces questions: a solve for each, one more for each probe, and one sweep over the training pairs for all together.
 * @param h H of the training objective at θ̂
 * @param options how relative scores are found: exactly for few parameters, by random probes for many
 * @example
 * const [{ mistaken, sources }] = await traceQueries(loss, theta, asked, cgSolver(loss, theta));
 * const { against } = rankSources(sources, 10, 'score'); // what misled the model
 */
export async function traceQueries<T, B, Q>(
  loss: StreamedLoss<T, B>,
  theta: T,
  asked: Questions<T, Q>,
  h: CurvatureSolver<T>,
  options: Omit<ProbeOptions, 'form'> = {},
): Promise<TracedAnswer<T>[]> {
  const answers = await questionGradients(asked, theta);
  const targets: T[] = [];
  for (const { gradient } of answers) targets.push(await h.solve(gradient));
  const probes = await solvedProbes(theta, h, options);
  const known = probes.exact ? await knownGradients(theta, answers, noiseOf(theta, h)) : {};
  const sources = await sourcesOf(loss, theta, { targets, probes: { ...probes, ...known } });
  disposeTree([targets, probes.probes, probes.solved]);
  return answers.map((answer, q) => ({ ...answer, sources: sources[q] }));
}

/** What makes relative scores exact where the probes are the unit vectors. */
export async function knownGradients<T>(
  theta: T,
  answers: readonly AnswerGradient<T>[],
  noise: number,
): Promise<Pick<NonNullable<SweepPlan<T>['probes']>, 'known'>> {
  const gradients: Float64Array[] = [];
  for (const { gradient } of answers) gradients.push(await new Flat(theta).toVector(gradient));
  return { known: { gradients, noise } };
}
