// Growth with the number of pairs and with the number of parameters: scores of all pairs, one removal, retraining.

import * as ecif from '../src/index.ts';
import { growth } from './convex-growth.ts';
import { place, type Trained, trained } from './convex-problem.ts';
import { type RemovalTimes, removalTimes } from './convex-removal.ts';
import { DENSE, type ScoreTimes, scoreTimes } from './convex-scores.ts';
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
async function onGpu({ data, theta }: Trained, device: ecif.Device, rounds: number): Promise<ScoreTimes> {
  const { width } = data;
  const copy = { w: ecif.tensor(device, await theta.w.data(), [width, width]) };
  return scoreTimes(place(data, device), copy, data, { rounds, sample: 3, patience: 500 });
}

async function setting({ device }: ConvexBench, pairs: number, width: number): Promise<Setting> {
  const problem = await trained(pairs, width);
  const large = pairs > 1024;
  const rounds = large ? 3 : 5;
  const { placed, theta, data } = problem;
  const cpu = await scoreTimes(placed, theta, data, { rounds, sample: large ? 3 : 6, patience: 500 });
  const gpu = device.kind === 'webgpu' ? await onGpu(problem, device, rounds) : null;
  const removal = await removalTimes(problem, { rounds: large ? 1 : 3, warmup: large ? 0 : 1, patience: 500 });
  return { pairs, parameters: width * width, cpu, gpu, removal };
}

const ms = (t: number): string => `${format(t)} ms`;

/** Rows of the scores of one setting on one device. */
function scoreRows(section: string, name: string, s: ScoreTimes, limits: { sweep: number; error: number }): Row[] {
  return [
    note(section, `${name}: scores of all pairs`, ms(s.scores), { ms: s.scores, gradientMs: s.gradient }),
    target(section, `${name}: solves`, s.solves, '≤', 1, ''),
    target(section, `${name}: sweep / gradient`, s.sweepPerGradient, '≤', limits.sweep, '', { ms: s.sweep }),
    note(section, `${name}: all scores / gradient`, format(s.scoresPerGradient), { value: s.scoresPerGradient }),
    target(section, `${name}: error to scores one by one`, s.error, '≤', limits.error, ''),
  ];
}

const FLOAT64 = { sweep: 3, error: 1e-8 };
const FLOAT32 = { sweep: 6, error: 1e-4 };

/** Rows of the scores of one setting on both devices. */
function bothRows(section: string, name: string, { cpu, gpu }: Setting): Row[] {
  if (gpu === null) return scoreRows(section, `${name}, CPU`, cpu, FLOAT64);
  return [
    ...scoreRows(section, `${name}, CPU`, cpu, FLOAT64),
    ...scoreRows(section, `${name}, WebGPU`, gpu, FLOAT32),
    target(section, `${name}, WebGPU: error to float64`, relativeError(gpu.values, cpu.values), '≤', 1e-4, ''),
  ];
}

/** Rows of one removal. */
function removalRows(section: string, name: string, { removal, parameters }: Setting): Row[] {
  const { ratios, errors, retraining, curvature, corrected, rescaled, newton, equalRatio } = removal;
  const dense = parameters <= DENSE;
  const saved = retraining - rescaled;
  return [
    note(section, `${name}: retraining`, ms(retraining), { ms: retraining }),
    target(section, `${name}: retraining / corrected`, ratios.corrected, '≥', dense ? 10 : 1.5, '×', { ms: corrected }),
    target(section, `${name}: retraining / rescaled`, ratios.rescaled, '≥', dense ? 5 : 1.2, '×', { ms: rescaled }),
    note(section, `${name}: retraining / Newton`, `${format(ratios.newton)}×`, { ms: newton }),
    note(section, `${name}: retraining stopped as stationary as Newton / Newton`, `${format(equalRatio)}×`),
    ...(dense
      ? [
          note(section, `${name}: dense curvature, once`, ms(curvature), { ms: curvature }),
          note(section, `${name}: rescaled removals that pay for it`, format(saved > 0 ? curvature / saved : Infinity)),
        ]
      : []),
    target(section, `${name}: parameter error, corrected`, errors.corrected, '≤', 0.6, ''),
    target(section, `${name}: parameter error, rescaled`, errors.rescaled, '≤', 0.3, ''),
    target(section, `${name}: parameter error, Newton`, errors.newton, '≤', 0.02, ''),
  ];
}

/** A slope as a row. */
const slope = (
  section: string,
  what: string,
  sizes: readonly number[],
  times: readonly number[],
  limit?: number,
): Row => {
  const x = growth(sizes, times);
  return limit === undefined ? note(section, what, format(x), { value: x }) : target(section, what, x, '≤', limit, '');
};

/** Growth with N at W 32×32: iterative solves. */
export async function pairRows(bench: ConvexBench): Promise<Row[]> {
  const [scores, removals, growths] = [
    `scores, W ${WIDE}×${WIDE}`,
    `removal, W ${WIDE}×${WIDE}`,
    'growth with pairs N',
  ];
  const [rows, found]: [Row[], Setting[]] = [[], []];
  for (const pairs of PAIRS) {
    const s = await setting(bench, pairs, WIDE);
    const name = `${pairs} pairs`;
    const every = (pairs * s.removal.retraining) / s.cpu.scores;
    found.push(s);
    rows.push(
      ...[
        ...bothRows(scores, name, s),
        target(scores, `${name}, CPU: N × one retraining / all scores`, every, '≥', 30, '×'),
        ...removalRows(removals, name, s),
      ].map(print),
    );
  }
  const of = (time: (s: Setting) => number): number[] => found.map(time);
  const gpu = found.flatMap((s) => s.gpu ?? []);
  const last = [
    slope(
      growths,
      'gradient, CPU: exponent',
      PAIRS,
      of((s) => s.cpu.gradient),
    ),
    slope(
      growths,
      'sweep, CPU: exponent',
      PAIRS,
      of((s) => s.cpu.sweep),
      1.1,
    ),
    slope(
      growths,
      'all scores, CPU: exponent',
      PAIRS,
      of((s) => s.cpu.scores),
      1.1,
    ),
    slope(
      growths,
      'one retraining, CPU: exponent',
      PAIRS,
      of((s) => s.removal.retraining),
    ),
    ...(gpu.length === 0
      ? []
      : [
          slope(
            growths,
            'sweep, WebGPU: exponent',
            PAIRS,
            gpu.map((s) => s.sweep),
            1.1,
          ),
          slope(
            growths,
            'all scores, WebGPU: exponent',
            PAIRS,
            gpu.map((s) => s.scores),
            1.1,
          ),
        ]),
  ];
  return [...rows, ...last.map(print)];
}

/** Growth with p·q at 256 pairs: dense curvature up to 600 parameters. */
export async function parameterRows(bench: ConvexBench): Promise<Row[]> {
  const [scores, removals, growths] = [`scores, ${FEW} pairs`, `removal, ${FEW} pairs`, 'growth with parameters p·q'];
  const [rows, found]: [Row[], Setting[]] = [[], []];
  for (const width of WIDTHS) {
    const s = await setting(bench, FEW, width);
    const name = `W ${width}×${width}`;
    found.push(s);
    const { cpu } = s;
    rows.push(
      ...[
        ...bothRows(scores, name, s),
        ...(s.parameters <= DENSE
          ? [note(scores, `${name}, CPU: dense / iterative scores`, `${format(cpu.scores / cpu.iterative)}×`)]
          : []),
        ...removalRows(removals, name, s),
      ].map(print),
    );
  }
  const sizes = found.map((s) => s.parameters);
  const dense = found.filter((s) => s.parameters <= DENSE);
  const last = [
    slope(
      growths,
      'sweep: exponent',
      sizes,
      found.map((s) => s.cpu.sweep),
      1.1,
    ),
    slope(
      growths,
      'all scores, iterative: exponent',
      sizes,
      found.map((s) => s.cpu.iterative),
      1.1,
    ),
    slope(
      growths,
      'all scores, dense: exponent',
      sizes.slice(0, dense.length),
      dense.map((s) => s.cpu.scores),
      1.5,
    ),
    slope(
      growths,
      'one retraining: exponent',
      sizes,
      found.map((s) => s.removal.retraining),
    ),
  ];
  return [...rows, ...last.map(print)];
}
