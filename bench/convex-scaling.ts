// Growth with the number of pairs and with the number of parameters: scores of all pairs, one removal, retraining.

import * as ecif from '../src/index.ts';
import { DENSE_UP_TO, place, type Trained, trained } from './convex-problem.ts';
import { removalTimes } from './convex-removal.ts';
import { checkRows, type Curve, growthRows, removalRows, scoreRows, type Setting } from './convex-rows.ts';
import { type Effort, type ScoreTimes, scoreTimes } from './convex-scores.ts';
import type { ConvexBench } from './convex.ts';
import { format, note, print, type Row } from './report.ts';

const PAIRS = [64, 256, 1024, 4096];
const WIDTHS = [4, 8, 16, 32];
const [WIDE, FEW] = [32, 256];

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
  return { pairs, parameters: width * width, cpu, gpu, removal: await removalTimes(problem, large) };
}

const measured = new Map<string, Promise<Setting>>();

/** Measures a problem that both sweeps hold once. */
function setting(bench: ConvexBench, pairs: number, width: number): Promise<Setting> {
  const key = `${pairs} ${width}`;
  const found = measured.get(key) ?? measure(bench, pairs, width);
  measured.set(key, found);
  return found;
}

const PAIR_CURVES: readonly Curve[] = [
  ['gradient, CPU', ({ cpu }) => cpu.gradient],
  ['sweep, CPU', ({ cpu }) => cpu.sweep, 1.1],
  ['all scores, CPU', ({ cpu }) => cpu.scores, 1.1],
  ['one retraining, CPU', ({ removal }) => removal.retraining],
  ['gradient, WebGPU', ({ gpu }) => gpu?.gradient],
  ['sweep, WebGPU', ({ gpu }) => gpu?.sweep, 1.1],
  ['all scores, WebGPU', ({ gpu }) => gpu?.scores, 1.1],
];

/** Growth with N at W 32×32: iterative solves. */
export async function pairRows(bench: ConvexBench): Promise<Row[]> {
  const size = `W ${WIDE}×${WIDE}`;
  const [rows, found]: [Row[], Setting[]] = [[], []];
  for (const pairs of PAIRS) {
    const s = await setting(bench, pairs, WIDE);
    found.push(s);
    const parts = [scoreRows(`scores, ${size}`, `N ${pairs}`, s), removalRows(`removal, ${size}`, `N ${pairs}`, s)];
    rows.push(...parts.flat().map(print));
  }
  const grown = growthRows('growth with pairs N', found, (s) => s.pairs, PAIR_CURVES);
  return [...rows, ...[...checkRows(`checks, ${size}`, found), ...grown].map(print)];
}

const PARAMETER_CURVES: readonly Curve[] = [
  ['sweep, CPU', ({ cpu }) => cpu.sweep, 1.1],
  ['all scores, CPU, iterative', ({ cpu }) => cpu.iterative, 1.1],
  ['all scores, CPU, dense', ({ cpu, parameters }) => (parameters <= DENSE_UP_TO ? cpu.scores : undefined), 1.5],
  ['one retraining, CPU', ({ removal }) => removal.retraining],
];

/** Growth with p·q at 256 pairs: dense curvature up to 600 parameters. */
export async function parameterRows(bench: ConvexBench): Promise<Row[]> {
  const [size, name] = [`N ${FEW}`, (width: number): string => `W ${width}×${width}`];
  const [rows, found]: [Row[], Setting[]] = [[], []];
  for (const width of WIDTHS) {
    const s = await setting(bench, FEW, width);
    found.push(s);
    const scores = scoreRows(`scores, ${size}`, name(width), s);
    const dense = `${format(s.cpu.scores / s.cpu.iterative)}×`;
    if (s.parameters <= DENSE_UP_TO)
      scores.push(note(`scores, ${size}`, `${name(width)}, CPU: dense / iterative`, dense));
    rows.push(...[...scores, ...removalRows(`removal, ${size}`, name(width), s)].map(print));
  }
  const grown = growthRows('growth with parameters p·q', found, (s) => s.parameters, PARAMETER_CURVES);
  return [...rows, ...[...checkRows(`checks, ${size}`, found), ...grown].map(print)];
}
