// ecif compare: every scoring method on a convex problem and on the small CLIP, judged by retraining and by mismatches.

import type { Judged, Quality } from '../../ecif/baselines/index.ts';
import { studentFactor, summarise } from '../../ecif/metrics/interval.ts';
import { defineCommand } from '../command.ts';
import { PROBLEMS, runComparison, type SeedResult } from './run.ts';
import { withDevice } from '../devices.ts';
import { table } from '../format.ts';

const METRICS = ['lds', 'leaveOneOut', 'auroc', 'auprc'] as const satisfies readonly (keyof Quality)[];
type MetricName = (typeof METRICS)[number];

/** The truth itself, and what knows nothing: neither competes. */
const NOT_COMPETING = ['retraining', 'permuted', 'random'];

/** A number over seeds. */
interface Cell {
  readonly mean: number;
  /** Half of Student's 95 % interval; null for one seed. */
  readonly half: number | null;
  /** First, or as far as these seeds tell no worse than the first. */
  readonly leading: boolean;
}

/** A method over seeds. */
interface Line extends Record<MetricName, Cell> {
  readonly method: string;
  /** Mean of what its scores took; null where they are shared. */
  readonly seconds: number | null;
}

/** Mean and half of Student's 95 % interval. */
function interval(values: readonly number[]): { mean: number; half: number | null } {
  const { count, mean, sd } = summarise(values);
  return { mean, half: count < 2 ? null : (studentFactor(0.95, count - 1) * sd) / Math.sqrt(count) };
}

/** All methods of one problem over its seeds, in the order of the methods. */
export function summariseSeeds(results: readonly SeedResult[]): Line[] {
  const names = results[0].rows.map(({ method }) => method);
  const rowsOf = (method: string): Judged[] =>
    results.map(({ rows }) => rows.find((row) => row.method === method) as Judged);
  const valuesOf = (method: string, metric: MetricName): number[] => rowsOf(method).map((row) => row[metric]);
  const competing = names.filter((name) => !NOT_COMPETING.includes(name));
  const cellsOf = (metric: MetricName): Map<string, Cell> => {
    const means = new Map(names.map((name) => [name, interval(valuesOf(name, metric))]));
    const meanOf = (name: string): number => means.get(name)?.mean ?? NaN;
    const first = competing.reduce((a, b) => (meanOf(b) > meanOf(a) ? b : a));
    const firsts = valuesOf(first, metric);
    return new Map(
      names.map((name) => {
        const { mean, half } = interval(valuesOf(name, metric).map((x, i) => firsts[i] - x));
        const leading = competing.includes(name) && (name === first || mean <= (half ?? 0));
        return [name, { ...(means.get(name) as { mean: number; half: number | null }), leading }];
      }),
    );
  };
  const cells = Object.fromEntries(METRICS.map((metric) => [metric, cellsOf(metric)]));
  return names.map((method) => {
    const seconds = rowsOf(method).map((row) => row.seconds);
    return {
      method,
      ...(Object.fromEntries(METRICS.map((metric) => [metric, cells[metric].get(method)])) as Record<MetricName, Cell>),
      seconds: seconds.includes(null) ? null : summarise(seconds as number[]).mean,
    };
  });
}

const cellText = ({ mean, half, leading }: Cell): string =>
  `${mean.toFixed(2)}${half === null ? '' : ` ± ${half.toFixed(2)}`}${leading ? '*' : ' '}`;

/** Trainings that ended before the gradient was as small as asked for. */
function retrainingText(unsettled: readonly SeedResult[]): string {
  const count = unsettled.reduce((sum, { retraining }) => sum + retraining.unsettled, 0);
  const all = unsettled.reduce((sum, { retraining }) => sum + retraining.count, 0);
  const most = Math.max(...unsettled.map(({ retraining }) => retraining.most));
  const seeds = unsettled.map(({ seed }) => seed).join(', ');
  return `${count} of ${all} trainings of seeds ${seeds} ended early, at gradients up to ${most.toExponential(1)}, ${unsettled[0].made.training.tolerance} asked for: what they tell is not the truth`;
}

/** One problem for people, the best foretold first; what is beyond comparison stands apart. */
function describe(results: readonly SeedResult[], lines: readonly Line[]): string {
  const { problem, settings } = results[0];
  const seeds = results.map(({ seed }) => seed);
  const seconds = results.reduce((sum, each) => sum + each.seconds, 0);
  const row = (line: Line): string[] => [
    line.method,
    ...METRICS.map((metric) => cellText(line[metric])),
    line.seconds === null ? '' : line.seconds.toFixed(2),
  ];
  const ordered = lines
    .filter(({ method }) => !NOT_COMPETING.includes(method))
    .toSorted((a, b) => b.lds.mean - a.lds.mean);
  const apart = lines.filter(({ method }) => NOT_COMPETING.includes(method));
  const about = Object.entries(settings).map(([name, value]) => `${name} ${value}`);
  const unsettled = results.filter((result) => result.retraining.unsettled > 0);
  return [
    `${problem}: seeds ${seeds.join(', ')}, ${seconds.toFixed(0)} s; ${about.join(', ')}`,
    ...(unsettled.length === 0 ? [] : [retrainingText(unsettled)]),
    '',
    table([['method', 'LDS ', 'leave-one-out ', 'AUROC ', 'AUPRC ', 's'], ...[...apart, ...ordered].map(row)]),
  ].join('\n');
}

/** How far permuted scores may be from chance. */
const CHANCE = { lds: 0.15, leaveOneOut: 0.1, auroc: 0.05 };

/** Whether permuted scores are as good as none. */
const isChance = ({ lds, leaveOneOut, auroc }: Line): boolean =>
  Math.abs(lds.mean) < CHANCE.lds &&
  Math.abs(leaveOneOut.mean) < CHANCE.leaveOneOut &&
  Math.abs(auroc.mean - 0.5) < CHANCE.auroc;

export const compare = defineCommand({
  name: 'compare',
  summary: 'every scoring method on two problems with swapped captions, against retraining',
  example: 'ecif compare --quick --problem convex',
  options: {
    problem: {
      kind: 'choice',
      choices: ['both', ...PROBLEMS],
      default: 'both',
      help: 'bilinear model, LoRA on a CLIP',
    },
    seeds: {
      kind: 'number',
      help: 'problems of each kind; 5 unless told, 1 with --quick',
      whole: true,
      least: 1,
      most: 1000,
    },
    seed: { kind: 'number', help: 'seed of the first', default: 1, whole: true, least: 0, most: 1e6 },
    held: { kind: 'number', help: 'clean pairs of the evaluation loss', whole: true, least: 2, most: 2000 },
    quick: { kind: 'flag', help: 'much smaller problems, for a look' },
    out: { kind: 'text', label: 'FOLDER', help: 'keep finished seeds here; a run that finds them goes on after them' },
  },
  run: async ({ problem, seeds, seed, held, quick, out }, { device: kind, progress }) => {
    const settings = {
      problems: problem === 'both' ? PROBLEMS : [problem],
      seeds: Array.from({ length: seeds ?? (quick ? 1 : 5) }, (_, i) => seed + i),
      size: quick ? 'quick' : 'full',
      ...{ held, out },
    } as const;
    // Influence is measured against small differences here, so float64 unless told.
    const results = await withDevice(kind === 'auto' ? 'cpu' : kind, (device) =>
      runComparison(settings, device, progress),
    );
    const each = settings.problems.map((name) => results.filter((result) => result.problem === name));
    const lines = each.map(summariseSeeds);
    const permuted = lines.map((of) => of.find(({ method }) => method === 'permuted') as Line);
    const ok = permuted.every(isChance);
    return {
      json: { problems: each.map((of, i) => ({ problem: of[0].problem, methods: lines[i], seeds: of })), ok },
      text: [
        ...each.map((of, i) => `${describe(of, lines[i])}\n`),
        'mean ± half of the 95 % interval over seeds; * first, or no worse as far as these seeds tell (paired).',
        `Permuted scores are ${ok ? 'chance' : 'NOT chance: something is wrong with a metric'}.`,
      ].join('\n'),
      ok,
    };
  },
});
