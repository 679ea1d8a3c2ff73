// Rows of the convex bench: scores, removals, what was checked, growth.

import { DENSE_UP_TO } from './convex-problem.ts';
import { growth } from './convex-growth.ts';
import type { RemovalTimes } from './convex-removal.ts';
import type { ScoreTimes } from './convex-scores.ts';
import { relativeError } from './errors.ts';
import { format, note, type Row, target } from './report.ts';

/** Everything measured of one problem. */
export interface Setting {
  readonly pairs: number;
  readonly parameters: number;
  readonly cpu: ScoreTimes;
  /** Null where the device is the CPU. */
  readonly gpu: ScoreTimes | null;
  readonly removal: RemovalTimes;
}

const ms = (t: number): string => `${format(t)} ms`;

/** Rows of the scores of one setting, on both devices. */
export function scoreRows(section: string, name: string, { cpu, gpu, pairs, removal }: Setting): Row[] {
  const on = (device: string, s: ScoreTimes, limit: number): Row[] => [
    note(section, `${name}, ${device}: all scores`, ms(s.scores), { ms: s.scores, gradientMs: s.gradient }),
    note(section, `${name}, ${device}: all scores / one gradient`, format(s.scores / s.gradient)),
    target(section, `${name}, ${device}: sweep / one gradient`, s.sweep / s.gradient, '≤', limit, '', { ms: s.sweep }),
  ];
  const every = (pairs * removal.retraining) / cpu.scores;
  return [
    ...on('CPU', cpu, 3),
    ...(gpu === null ? [] : on('WebGPU', gpu, 6)),
    target(section, `${name}, CPU: N × one retraining / all scores`, every, '≥', 20, '×'),
  ];
}

/** Rows of the removal of one pair. */
export function removalRows(section: string, name: string, { removal, parameters }: Setting): Row[] {
  const { retraining, curvature, corrected, rescaled, newton, asFarAsNewton } = removal;
  const [fast, better] = [retraining / corrected, retraining / rescaled];
  const dense = parameters <= DENSE_UP_TO;
  const saved = retraining - rescaled;
  return [
    note(section, `${name}: retraining`, ms(retraining), { ms: retraining }),
    target(section, `${name}: retraining / corrected`, fast, '≥', dense ? 10 : 1.5, '×', { ms: corrected }),
    target(section, `${name}: retraining / rescaled`, better, '≥', dense ? 5 : 1.2, '×', { ms: rescaled }),
    note(section, `${name}: retraining / Newton`, `${format(retraining / newton)}×`, { ms: newton }),
    note(section, `${name}: retraining as far as Newton / Newton`, `${format(asFarAsNewton / newton)}×`),
    ...(dense
      ? [
          note(section, `${name}: dense curvature, once`, ms(curvature), { ms: curvature }),
          note(section, `${name}: rescaled removals that pay for it`, format(saved > 0 ? curvature / saved : Infinity)),
        ]
      : []),
  ];
}

/** The worst errors of the scores of some settings, on both devices. */
function scoreChecks(section: string, found: readonly Setting[]): Row[] {
  const both = found.flatMap(({ cpu, gpu }) => (gpu === null ? [] : [{ cpu, gpu }]));
  const alone = (of: readonly ScoreTimes[]): number => Math.max(...of.map(({ error }) => error));
  const check = (what: string, error: number, limit: number): Row =>
    target(section, `scores ${what}, largest error`, error, '≤', limit, '');
  const rows = [check('against one by one, CPU', alone(found.map(({ cpu }) => cpu)), 1e-8)];
  if (both.length === 0) return rows;
  const toFloat64 = Math.max(...both.map(({ cpu, gpu }) => relativeError(gpu.values, cpu.values)));
  return [
    ...rows,
    check('against one by one, WebGPU', alone(both.map(({ gpu }) => gpu)), 1e-4),
    check('of all pairs, WebGPU against CPU', toFloat64, 1e-4),
  ];
}

/** The worst of all settings: solves, and errors of scores and removals. */
export function checkRows(section: string, found: readonly Setting[]): Row[] {
  const solves = Math.max(...found.flatMap(({ cpu, gpu }) => [cpu.solves, gpu?.solves ?? 0]));
  const removal = (name: keyof RemovalTimes['errors'], limit: number): Row => {
    const worst = Math.max(...found.map((s) => s.removal.errors[name]));
    return target(section, `removal against retraining, ${name}, largest error`, worst, '≤', limit, '');
  };
  return [
    target(section, 'solves for all scores, most of all settings', solves, '≤', 1, ''),
    ...scoreChecks(section, found),
    removal('corrected', 0.6),
    removal('rescaled', 0.3),
    removal('newton', 0.02),
  ];
}

/** One time as a function of a setting, with the largest exponent allowed, if any. */
export type Curve = readonly [what: string, time: (s: Setting) => number | undefined, limit?: number];

/** How times grow with a size, over the settings that have them. */
export function growthRows(
  section: string,
  found: readonly Setting[],
  size: (s: Setting) => number,
  curves: readonly Curve[],
): Row[] {
  return curves.flatMap(([what, time, limit]): Row[] => {
    const points = found.flatMap((s) => [[size(s), time(s)]]).filter((p): p is [number, number] => p[1] !== undefined);
    if (points.length < 2) return [];
    const x = growth(
      points.map(([n]) => n),
      points.map(([, t]) => t),
    );
    const name = `${what}: exponent`;
    return [
      limit === undefined ? note(section, name, format(x), { value: x }) : target(section, name, x, '≤', limit, ''),
    ];
  });
}
