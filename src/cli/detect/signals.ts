// What is known of every pair of a run that may tell a mismatch: fit, cosine, influence on validation pairs and on itself.

import { disposeTree, scope } from '../../autodiff/tensor.ts';
import { SCORE_COLUMNS, scoreRow } from '../../data/score-columns.ts';
import { readTable } from '../../data/score-reader.node.ts';
import type { Device } from '../../device/open.ts';
import { cosineOf, embedRows, type UnitRows } from '../../ecif/baselines/embeddings.ts';
import { candidatesOf, lossesAmongAll } from '../../ecif/detect/fit.ts';
import { type Matching, matchPairs } from '../../ecif/detect/match.ts';
import { solvedProbes } from '../../ecif/relative.ts';
import { streamScores } from '../../ecif/streamed-scores.ts';
import type { PairScores } from '../../report/records.ts';
import { withDefaults } from '../args.ts';
import type { DetectSettings, SignalName } from './options.ts';
import type { Progress } from '../progress.ts';
import type { OpenedRun } from '../runs/opened-run.ts';
import { detectScores } from '../score/files.ts';
import { SCORE_OPTIONS, type ScoreSettings, solverSettings } from '../score/options.ts';
import { scoreOpened } from '../score/run.ts';
import { solverAt } from '../solve/open-solver.ts';

/** Influences of every pair, by row; null where they were not asked for. */
type Influences = Pick<PairScores, 'score' | 'positive' | 'negative' | 't2i' | 'i2t' | 'self'>;

const NONE: Influences = { score: null, positive: null, negative: null, t2i: null, i2t: null, self: null };

/** Probes for self-influence where it is needed, unless told, and what needs it. */
const PROBES = 16;
const NEED_SELF: ReadonlySet<DetectSettings['by']> = new Set(['combined', 'left-out', 'self']);

const probesOf = ({ probes, by }: DetectSettings): number => (probes === 0 && NEED_SELF.has(by) ? PROBES : probes);

/**
 * Influences on the validation pairs, by `ecif score` into `RUN/scores.parquet`, which goes on where an earlier one was;
 * scores of another question that are there stay, and these go beside them.
 * @returns the influences of a pair by its id
 */
export async function scoreInfluences(
  folder: string,
  run: OpenedRun,
  settings: DetectSettings & { readonly validation: string },
  device: Device,
  progress: Progress,
): Promise<Map<string, Influences>> {
  const { validation, split, format, seed, 'cache-mb': cache } = settings;
  const probes = probesOf(settings);
  const asked = { ...solverSettings(settings), validation, split, format, probes, seed, 'cache-mb': cache };
  const scoring = { ...(withDefaults(asked, SCORE_OPTIONS) as unknown as ScoreSettings), validation };
  const place = (signature: string): string => detectScores(folder, signature, progress);
  const { out } = await scoreOpened(folder, run, scoring, device, progress, place);
  const found = new Map<string, Influences>();
  for await (const cells of readTable(out, SCORE_COLUMNS)) {
    const { id, score, positive, negative, t2i, i2t, self } = scoreRow(cells);
    found.set(id, { score, positive, negative, t2i, i2t, self });
  }
  return found;
}

/** What removing each pair would do to its own 1 − cos, by probes in one partition. */
async function selfInfluences(
  { loss, theta, dataset }: OpenedRun,
  settings: DetectSettings,
  progress: Progress,
): Promise<Float64Array> {
  const solver = await solverAt(loss, theta, solverSettings({ ...settings, solver: 'ekfac' }), progress);
  const probes = await solvedProbes(theta, solver, { probes: probesOf(settings), seed: settings.seed });
  solver.dispose();
  const values = new Float64Array(dataset.rows.length);
  const one = { ...loss, partitions: loss.partitions.slice(0, 1) };
  const total = one.partitions[0].length;
  for await (const { index, pairs } of streamScores(one, theta, { targets: [], probes })) {
    for (const { row, self } of pairs) values[row] = self?.value ?? 0;
    progress.status(`self-influence: batch ${index + 1} of ${total}`);
  }
  disposeTree([probes.probes, probes.solved]);
  return values;
}

/** Factor of the cosines in the similarities of a run. */
export async function scaleOf({ loss: { model }, theta }: OpenedRun): Promise<number> {
  const scale = scope(() => model.scale(theta));
  if (typeof scale === 'number') return scale;
  const value = await scale.item();
  scale.dispose();
  return value;
}

/** Everything that is known of the pairs of a run. */
export interface Known {
  readonly embedded: UnitRows;
  readonly scale: number;
  readonly candidates: Uint32Array;
  readonly matching: Matching;
  readonly pairs: readonly PairScores[];
}

/** Looks at every pair of a run. */
export async function lookAtPairs(
  run: OpenedRun,
  influences: ReadonlyMap<string, Influences> | null,
  settings: DetectSettings,
  progress: Progress,
): Promise<Known> {
  const { dataset, loss, theta } = run;
  const count = dataset.rows.length;
  const [embedded, scale] = [await embedRows({ loss, theta, count }), await scaleOf(run)];
  const candidates = candidatesOf(count, { most: settings.candidates, seed: settings.seed });
  const losses = lossesAmongAll(embedded, scale, candidates);
  const captions = dataset.rows.map(({ caption }) => caption);
  const matching = matchPairs(embedded, { scale, captions });
  const self = influences === null && probesOf(settings) > 0 ? await selfInfluences(run, settings, progress) : null;
  const pairs = dataset.rows.map(({ id }, row) => ({
    ...NONE,
    ...(self === null ? {} : { self: self[row] }),
    ...influences?.get(id),
    match: matching.odds[row],
    fit: -losses[row],
    clipscore: cosineOf(embedded.width, embedded.u, row, embedded.v, row),
  }));
  return { embedded, scale, candidates, matching, pairs };
}

/** A signal of a pair, high for one that fits; null where it was not asked for. */
export function signalOf(name: SignalName, { score, self, match, fit, clipscore }: PairScores): number | null {
  if (name === 'match') return match;
  // The logarithm makes both kinds of pairs nearly normal, which the cut-off takes them for; their order stays.
  if (name === 'fit') return -Math.log1p(-fit);
  if (name === 'clipscore') return clipscore;
  if (name === 'score') return score;
  // A pair that the model had to be bent for fits worse once it is gone: its cosine if it had not been trained on.
  if (name === 'left-out') return self === null ? null : clipscore - self;
  return self === null ? null : -self;
}
