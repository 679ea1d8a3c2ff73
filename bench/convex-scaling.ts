// Growth with the number of pairs and with the number of parameters: scores of all pairs, one removal, retraining.

import * as ecif from '../src/index.ts';
import { DENSE_UP_TO } from '../src/ecif/solver.ts';
import { growth } from './convex-growth.ts';
import { place, type Trained, trained } from './convex-problem.ts';
import { type RemovalTimes, removalTimes } from './convex-removal.ts';
import { type Effort, type ScoreTimes, scoreTimes } from './convex-scores.ts';
import type { ConvexBench } from './convex.ts';
import { relativeError } from './errors.ts';
import { format, note, print, type Row, target } from './report.ts';

const PAIRS = [64, 256, 1024, 4096];
const WIDTHS = [4, 8, 16, 32];
const [WIDE, FEW] = [32, 256];

/** Everything measured of one problem. */
interface Setting {
  readonly pairs: number;
  readonly parameters: number;
  readonly cpu: ScoreTimes;
  /** Null where the device is the CPU. */
  readonly gpu: ScoreTimes | null;
  readonly removal: RemovalTimes;
}

/** The same problem and θ̂ in float32 on the other device. */
async function onGpu({ data, theta }: Trained, device: ecif.Device, effort: Effort): Promise<ScoreTimes> {
  const { width } = data;
  const copy = { w: ecif.tensor(device, await theta.w.data(), [width, width]) };
  return scoreTimes(place(data, device), copy, data, effort);
}

async function measure({ device }: ConvexBench, pairs: number, width: number): Promise<Setting> {
  const problem = await trained(pairs, width);
  const large = pairs > 1024;
  const effort = { rounds: large ? 3 : 5, sample: large ? 2 : 4 };
  const cpu = await scoreTimes(problem.placed, problem.theta, problem.data, effort);
  const gpu = device.kind === 'webgpu' ? await onGpu(problem, device, effort) : null;
  return { pairs, parameters: width * width, cpu, gpu, removal: await removalTimes(problem, large ? 1 : 3) };
}

const measured = new Map<string, Promise<Setting>>();

/** Measures a problem that both sweeps hold once. */
function setting(bench: ConvexBench, pairs: number, width: number): Promise<Setting> {
  const key = `${pairs} ${width}`;
  const found = measured.get(key) ?? measure(bench, pairs, width);
  measured.set(key, found);
  return found;
}

const ms = (t: number): string => `${format(t)} ms`;

/** Rows of the scores of one setting, on both devices. */
function scoreRows(section: string, name: string, { cpu, gpu, pairs, removal }: Setting): Row[] {
  const on = (device: string, s: ScoreTimes, limit: number): Row[] => [
    note(section, `${name}, ${device}: all scores`, ms(s.scores), { ms: s.scores, gradientMs: s.gradient }),
    note(section, `${name}, ${device}: all scores / one gradient`, format(s.scores / s.gradient)),
    target(section, `${name}, ${device}: sweep / one gradient`, s.sweepPerGradient, '≤', limit, '', { ms: s.sweep }),
  ];
  const every = (pairs * removal.retraining) / cpu.scores;
  return [
    ...on('CPU', cpu, 3),
    ...(gpu === null ? [] : on('WebGPU', gpu, 6)),
    target(section, `${name}, CPU: N × one retraining / all scores`, every, '≥', 30, '×'),
  ];
}

/** Rows of the removal of one pair. */
function removalRows(section: string, name: string, { removal, parameters }: Setting): Row[] {
  const { ratios, retraining, curvature, corrected, rescaled, newton, equalRatio } = removal;
  const dense = parameters <= DENSE_UP_TO;
  const saved = retraining - rescaled;
  return [
    note(section, `${name}: retraining`, ms(retraining), { ms: retraining }),
    target(section, `${name}: retraining / corrected`, ratios.corrected, '≥', dense ? 10 : 1.5, '×', { ms: corrected }),
    target(section, `${name}: retraining / rescaled`, ratios.rescaled, '≥', dense ? 5 : 1.2, '×', { ms: rescaled }),
    note(section, `${name}: retraining / Newton`, `${format(ratios.newton)}×`, { ms: newton }),
    note(section, `${name}: retraining as far as Newton / Newton`, `${format(equalRatio)}×`),
    ...(dense
      ? [
          note(section, `${name}: dense curvature, once`, ms(curvature), { ms: curvature }),
          note(section, `${name}: rescaled removals that pay for it`, format(saved > 0 ? curvature / saved : Infinity)),
        ]
      : []),
  ];
}

/** The worst of all settings: solves, and errors of scores and removals. */
function checkRows(section: string, found: readonly Setting[]): Row[] {
  const worst = (value: (s: Setting) => number): number => Math.max(...found.map(value));
  const { corrected, rescaled, newton } = {
    corrected: worst(({ removal }) => removal.errors.corrected),
    rescaled: worst(({ removal }) => removal.errors.rescaled),
    newton: worst(({ removal }) => removal.errors.newton),
  };
  const gpu = found.flatMap((s) => (s.gpu === null ? [] : [{ cpu: s.cpu, gpu: s.gpu }]));
  const onGpu = (value: (s: ScoreTimes, reference: ScoreTimes) => number): number =>
    Math.max(...gpu.map((s) => value(s.gpu, s.cpu)));
  const solves = Math.max(...found.flatMap(({ cpu, gpu: other }) => [cpu.solves, other?.solves ?? 0]));
  return [
    target(section, 'solves for all scores, most of all settings', solves, '≤', 1, ''),
    target(
      section,
      'scores against one by one, CPU, largest error',
      worst(({ cpu }) => cpu.error),
      '≤',
      1e-8,
      '',
    ),
    ...(gpu.length === 0
      ? []
      : [
          target(
            section,
            'scores against one by one, WebGPU, largest error',
            onGpu((s) => s.error),
            '≤',
            1e-4,
            '',
          ),
          target(
            section,
            'scores of all pairs, WebGPU against CPU, largest error',
            onGpu((s, reference) => relativeError(s.values, reference.values)),
            '≤',
            1e-4,
            '',
          ),
        ]),
    target(section, 'removal against retraining, corrected, largest error', corrected, '≤', 0.6, ''),
    target(section, 'removal against retraining, rescaled, largest error', rescaled, '≤', 0.3, ''),
    target(section, 'removal against retraining, Newton, largest error', newton, '≤', 0.02, ''),
  ];
}

/** A slope as a row. */
function slope(section: string, what: string, sizes: readonly number[], times: readonly number[], limit?: number): Row {
  const x = growth(sizes, times);
  const name = `${what}: exponent`;
  return limit === undefined ? note(section, name, format(x), { value: x }) : target(section, name, x, '≤', limit, '');
}

/** Growth with N at W 32×32: iterative solves. */
export async function pairRows(bench: ConvexBench): Promise<Row[]> {
  const [size, growths] = [`W ${WIDE}×${WIDE}`, 'growth with pairs N'];
  const [rows, found]: [Row[], Setting[]] = [[], []];
  for (const pairs of PAIRS) {
    const s = await setting(bench, pairs, WIDE);
    found.push(s);
    const parts = [scoreRows(`scores, ${size}`, `N ${pairs}`, s), removalRows(`removal, ${size}`, `N ${pairs}`, s)];
    rows.push(...parts.flat().map(print));
  }
  const of = (time: (s: Setting) => number): number[] => found.map(time);
  const gpu = found.flatMap((s) => s.gpu ?? []);
  const last = [
    ...checkRows(`checks, ${size}`, found),
    slope(
      growths,
      'gradient, CPU',
      PAIRS,
      of(({ cpu }) => cpu.gradient),
    ),
    slope(
      growths,
      'sweep, CPU',
      PAIRS,
      of(({ cpu }) => cpu.sweep),
      1.1,
    ),
    slope(
      growths,
      'all scores, CPU',
      PAIRS,
      of(({ cpu }) => cpu.scores),
      1.1,
    ),
    slope(
      growths,
      'one retraining, CPU',
      PAIRS,
      of(({ removal }) => removal.retraining),
    ),
  ];
  if (gpu.length > 0) {
    const of32 = (time: (s: ScoreTimes) => number): number[] => gpu.map(time);
    last.push(
      slope(
        growths,
        'gradient, WebGPU',
        PAIRS,
        of32((s) => s.gradient),
      ),
      slope(
        growths,
        'sweep, WebGPU',
        PAIRS,
        of32((s) => s.sweep),
        1.1,
      ),
      slope(
        growths,
        'all scores, WebGPU',
        PAIRS,
        of32((s) => s.scores),
        1.1,
      ),
    );
  }
  return [...rows, ...last.map(print)];
}

/** Growth with p·q at 256 pairs: dense curvature up to 600 parameters. */
export async function parameterRows(bench: ConvexBench): Promise<Row[]> {
  const [size, growths] = [`N ${FEW}`, 'growth with parameters p·q'];
  const [rows, found]: [Row[], Setting[]] = [[], []];
  for (const width of WIDTHS) {
    const s = await setting(bench, FEW, width);
    const name = `W ${width}×${width}`;
    found.push(s);
    const parts = [scoreRows(`scores, ${size}`, name, s), removalRows(`removal, ${size}`, name, s)];
    if (s.parameters <= DENSE_UP_TO)
      parts[0].push(
        note(`scores, ${size}`, `${name}, CPU: dense / iterative`, `${format(s.cpu.scores / s.cpu.iterative)}×`),
      );
    rows.push(...parts.flat().map(print));
  }
  const sizes = found.map((s) => s.parameters);
  const dense = found.filter((s) => s.parameters <= DENSE_UP_TO);
  const times = (time: (s: Setting) => number, of = found): number[] => of.map(time);
  const last = [
    ...checkRows(`checks, ${size}`, found),
    slope(
      growths,
      'sweep, CPU',
      sizes,
      times(({ cpu }) => cpu.sweep),
      1.1,
    ),
    slope(
      growths,
      'all scores, CPU, iterative',
      sizes,
      times(({ cpu }) => cpu.iterative),
      1.1,
    ),
    slope(
      growths,
      'all scores, CPU, dense',
      sizes.slice(0, dense.length),
      times(({ cpu }) => cpu.scores, dense),
      1.5,
    ),
    slope(
      growths,
      'one retraining, CPU',
      sizes,
      times(({ removal }) => removal.retraining),
    ),
  ];
  return [...rows, ...last.map(print)];
}
