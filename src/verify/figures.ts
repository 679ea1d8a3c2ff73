// The data of the report's figures: every estimator and every bound on random instances, against retraining.

import { addScaled, distance, norm } from '../array/vector.ts';
import { Flat } from '../autodiff/flat.ts';
import { disposeTree, type Tensor } from '../autodiff/tensor.ts';
import type { Device } from '../device/open.ts';
import { certificates, priorBounds } from '../ecif/bounds.ts';
import type { ConvexFile } from '../ecif/convex-file.ts';
import { RUNGS } from '../ecif/estimators.ts';
import { negativeIF, negOf, positiveIF } from '../ecif/influence.ts';
import { printedTheorem } from '../ecif/printed-theorem.ts';
import { taskScore } from '../ecif/scores.ts';
import type { NegForm } from '../ecif/terms.ts';
import { batchLoss } from '../models/model.ts';
import { say } from './claim.ts';
import { ONE_DIMENSION } from './claims/bound.ts';
import { randomInstance, type Shape } from './instance.ts';
import type { Figure, Series } from './result.ts';
import { type Setting, withSetting } from './setting.ts';
import { overInstances, type Run, type Trial, trialOf } from './trial.ts';

type Vector = Float64Array;
type Point = readonly [number, number];

/** What the instances have in common unless a figure varies it. */
const USUAL = { pairs: 12, batches: 2, text: 2, image: 3, temperature: 0.5, decay: 1, remove: 2 };

/** Instances of each point of a ladder; fewer on WebGPU, where so small a problem takes many times as long. */
const repeatsOn = ({ kind }: Device): number => (kind === 'cpu' ? 7 : 3);

/** Where the instances of one figure begin. */
const firstOf = (seed: number, figure: number): number => (Math.imul(seed, 1_000_003) + 1000 * figure) >>> 0;

const finite = (points: readonly Point[]): Point[] => points.filter((p) => p.every(Number.isFinite));

function median(values: readonly number[]): number {
  const sorted = values.map((x) => (Number.isNaN(x) ? Infinity : x)).toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

const inWords = (x: number): string =>
  Number.isFinite(x) ? say(x).replaceAll('-', '−') : 'beyond the range of numbers';

const repeated = (count: number, shape: Shape = USUAL): Shape[] => Array.from({ length: count }, () => shape);

// ---- the loss on the way to removal ---------------------------------------------------------------------------------

/** The part of a line of slope `rise` through (1, `end`) that lies above `floor`. */
function lineAbove(floor: number, end: number, rise: number): Point[] {
  const leaves = end - rise < floor ? 1 - (end - floor) / rise : 0;
  return [
    [leaves, end + (leaves - 1) * rise],
    [1, end],
  ];
}

/** The instance of the first figure: half of one batch is removed. */
export const zetaInstance = (seed: number): ConvexFile =>
  randomInstance(firstOf(seed, 0), { ...USUAL, pairs: 6, batches: 1, remove: 3 });

async function zetaFigure(device: Device, seed: number): Promise<Figure> {
  return withSetting(zetaInstance(seed), device, async ({ problem, seg, plain, w, value }) => {
    const lossAt = (zeta: number): number =>
      plain.terms((removed) => ({
        anchor: (k) => (removed(k) ? 0 : 1),
        candidate: (_, j) => (removed(j) ? zeta : 1),
      }))(w).value;
    const slope = (form: NegForm): Promise<number> => value(negOf(problem, seg, form));
    const [tangent, chord, printed] = [await slope('corrected'), await slope('exact'), await slope('published')];
    const end = lossAt(1);
    const floor = lossAt(0) - 0.25 * (end - lossAt(0));
    const published = lineAbove(floor, end, printed);
    const leaves = published[0][0] > 0 ? `It leaves the picture at ζ = ${say(published[0][0])} and ends` : 'It ends';
    return {
      id: 'zeta',
      title: 'The loss as negatives fade out',
      caption:
        `Loss of the kept anchors of one batch, the removed candidates weighted by ζ: ζ = 1 is the full batch, ζ = 0 ` +
        `true removal. The corrected form L + (ζ − 1)·Σ P_k is the tangent at ζ = 1; the exact form ` +
        `L + (ζ − 1)·Σ −log(1 − P_k) is the chord that ends at true removal, ${say(lossAt(0))}. The published form has ` +
        `the slope Σ 1/P_k = ${inWords(printed)} where the loss has ${say(tangent)}. ${leaves} at ` +
        `${inWords(end - printed)}.`,
      x: { label: 'weight ζ of the removed candidates', log: false },
      y: { label: 'batch loss', log: false },
      kind: 'lines',
      diagonal: false,
      series: [
        { name: 'loss', points: Array.from({ length: 41 }, (_, i): Point => [i / 40, lossAt(i / 40)]) },
        { name: 'corrected', points: lineAbove(-Infinity, end, tangent) },
        { name: 'exact', points: lineAbove(-Infinity, end, chord) },
        { name: 'published', points: finite(published) },
      ],
    };
  });
}

// ---- predictions against retraining ---------------------------------------------------------------------------------

async function parameterFigure(device: Device, seed: number): Promise<Figure> {
  const shown = ['corrected', 'rescaled', 'Newton'] as const;
  const found = await overInstances(device, firstOf(seed, 1), repeated(10), async (setting) => {
    const { edited, change } = trialOf(setting);
    const predicted = async (run: Run): Promise<Vector> => addScaled(await edited(run), -1, setting.optimum);
    const clouds: Point[][] = [];
    for (const rung of shown) clouds.push([...(await predicted(RUNGS[rung]))].map((y, i): Point => [change[i], y]));
    return { clouds, ratio: norm(await predicted(RUNGS.published)) / norm(change) };
  });
  return {
    id: 'parameters',
    title: 'Change of the parameters, predicted and retrained',
    caption:
      `Every coordinate of W in ${found.length} removals of ${USUAL.remove} pairs of ${USUAL.pairs}; on the diagonal the ` +
      `prediction is retraining. The published form is not shown: its predicted change is ` +
      `${inWords(median(found.map(({ ratio }) => ratio)))} times as long as the true one in the median.`,
    x: { label: 'change after retraining', log: false },
    y: { label: 'predicted change', log: false },
    kind: 'points',
    diagonal: true,
    series: shown.map((name, i) => ({ name, points: finite(found.flatMap(({ clouds }) => clouds[i])) })),
  };
}

async function evaluationFigure(device: Device, seed: number): Promise<Figure> {
  const shapes = Array.from({ length: 24 }, (_, i): Shape => ({ ...USUAL, remove: 1 + (i % 4) }));
  const found = await overInstances(device, firstOf(seed, 2), shapes, async (setting) => {
    const { problem, validation, theta, h, plain, optimum, read } = setting;
    const { seg, edited, retrained } = trialOf(setting);
    const [p, n] = [await positiveIF(problem, theta, seg, h), await negativeIF(problem, theta, seg, 'corrected', h)];
    const gradient = await setting.gradient((t): Tensor => batchLoss(problem.model, t, validation));
    const score = taskScore(await read(() => p), await read(() => n), gradient);
    const from = plain.evaluation(optimum).value;
    const x = plain.evaluation(retrained).value - from;
    const newton = plain.evaluation(await edited(RUNGS.Newton)).value - from;
    return { linear: [x, score] as Point, newton: [x, newton] as Point };
  });
  return {
    id: 'evaluation',
    title: 'Change of the validation loss, predicted and retrained',
    caption:
      `${found.length} removals of 1 to 4 pairs of ${USUAL.pairs}. The linear score −∇L_val·(positiveIF + negativeIF) ranks ` +
      `removals; the loss at Newton’s parameters, L_val(θ̃) − L_val(θ̂), measures them. Above zero the removal hurts.`,
    x: { label: 'change after retraining', log: false },
    y: { label: 'predicted change', log: false },
    kind: 'points',
    diagonal: true,
    series: [
      { name: 'linear score', points: finite(found.map(({ linear }) => linear)) },
      { name: 'Newton', points: finite(found.map(({ newton }) => newton)) },
    ],
  };
}

// ---- the ladder -----------------------------------------------------------------------------------------------------

/** ‖θ̃ − θ*‖/‖θ* − θ̂‖ of every rung. */
async function ladderErrors({ edited, retrained, change }: Trial): Promise<number[]> {
  const errors: number[] = [];
  for (const run of Object.values(RUNGS)) errors.push(distance(await edited(run), retrained) / norm(change));
  return errors;
}

/** Medians of every rung at each x; `trials[r][i]` are the errors at x_i in repetition r. */
function ladderSeries(xs: readonly number[], trials: readonly (readonly number[][])[]): Series[] {
  return Object.keys(RUNGS).map((name, rung) => ({
    name,
    points: finite(xs.map((x, i): Point => [x, median(trials.map((errors) => errors[i][rung]))])),
  }));
}

function ladderFigure(
  id: string,
  what: string,
  x: Figure['x'],
  given: string,
  xs: readonly number[],
  trials: readonly (readonly number[][])[],
): Figure {
  return {
    id: `ladder-${id}`,
    title: `Every estimator over the ${what}`,
    caption:
      `Median of ‖θ̃ − θ*‖/‖θ* − θ̂‖ over ${trials.length} instances (${given}); 1 is doing nothing, 0 is retraining. ` +
      `Each curve follows the same pairs.`,
    x,
    y: { label: 'relative parameter error', log: true },
    kind: 'lines',
    diagonal: false,
    series: ladderSeries(xs, trials),
  };
}

/** A ladder over one constant of the instances, on the same pairs. */
async function constantLadder(
  device: Device,
  seed: number,
  xs: readonly number[],
  shapeAt: (x: number) => Shape,
): Promise<number[][][]> {
  const trials: number[][][] = [];
  for (let r = 0; r < repeatsOn(device); r++) {
    const files = xs.map((x) => randomInstance(firstOf(seed, 3) + r, { ...USUAL, ...shapeAt(x) }));
    const errors: number[][] = [];
    for (const file of files) errors.push(await withSetting(file, device, (s) => ladderErrors(trialOf(s))));
    trials.push(errors);
  }
  return trials;
}

async function decayLadder(device: Device, seed: number): Promise<Figure> {
  const xs = [0.03, 0.1, 0.3, 1, 3, 10];
  const trials = await constantLadder(device, seed, xs, (decay) => ({ decay }));
  const given = `τ = ${USUAL.temperature}, ${USUAL.remove} of ${USUAL.pairs} pairs removed`;
  return ladderFigure('decay', 'weight decay', { label: 'weight decay δ', log: true }, given, xs, trials);
}

async function temperatureLadder(device: Device, seed: number): Promise<Figure> {
  const xs = [0.1, 0.2, 0.5, 1, 2];
  const trials = await constantLadder(device, seed, xs, (temperature) => ({ temperature }));
  const given = `δ = ${USUAL.decay}, ${USUAL.remove} of ${USUAL.pairs} pairs removed`;
  return ladderFigure('temperature', 'temperature', { label: 'temperature τ', log: true }, given, xs, trials);
}

async function removedLadder(device: Device, seed: number): Promise<Figure> {
  const xs = [1, 2, 3, 4, 5];
  const shapes = repeated(repeatsOn(device), { ...USUAL, remove: xs.length });
  const trials = await overInstances(device, firstOf(seed, 3), shapes, async (setting) => {
    const errors: number[][] = [];
    for (const x of xs) errors.push(await ladderErrors(trialOf(setting, setting.file.remove.slice(0, x))));
    return errors;
  });
  const given = `τ = ${USUAL.temperature}, δ = ${USUAL.decay}, ${USUAL.pairs} pairs`;
  return ladderFigure('removed', 'number removed', { label: 'removed pairs |D*|', log: false }, given, xs, trials);
}

// ---- bounds ---------------------------------------------------------------------------------------------------------

/** One feature each side and hardly any decay: the printed theorem is below the error. */
const VIOLATION: ConvexFile = { ...ONE_DIMENSION, delta: 1e-6 };

async function boundsOf(setting: Setting): Promise<{ error: number; bounds: Record<string, number | null> }> {
  const { problem, theta } = setting;
  const { seg, removal, retrained } = trialOf(setting);
  const edited = await RUNGS.corrected(removal);
  const error = distance(await new Flat(theta).toVector(edited), retrained);
  const { lipschitz, selfConcordant } = await priorBounds(problem, theta, seg);
  const { p1, p2, p3 } = await certificates(problem, edited, seg);
  const { total } = await printedTheorem(problem, theta, seg);
  disposeTree(edited);
  const bounds = { 'printed theorem': total, Lipschitz: lipschitz, 'self-concordant': selfConcordant };
  return { error, bounds: { ...bounds, P1: p1, P2: p2, P3: p3 } };
}

async function boundsFigure(device: Device, seed: number): Promise<Figure> {
  const shapes = Array.from({ length: 30 }, (_, i): Shape => {
    const [temperature, decay] = [[0.5, 1, 2][i % 3], [0.1, 0.3, 1, 3, 10][i % 5]];
    return { ...USUAL, temperature, decay, remove: [1, 2, 4][(i >> 1) % 3] };
  });
  const found = await overInstances(device, firstOf(seed, 4), shapes, boundsOf);
  found.push(await withSetting(VIOLATION, device, boundsOf));
  const broken = found.at(-1)!;
  const points = (name: string): Point[] =>
    found.flatMap(({ error, bounds }) => (bounds[name] === null ? [] : [[error, bounds[name]] as Point]));
  return {
    id: 'bounds',
    title: 'Bounds against the error they bound',
    caption:
      `Removal by the corrected form: ‖θ̃ − θ*‖ across, what is said of it upwards; a bound is true above the diagonal and ` +
      `useful near it. Lipschitz and self-concordant are known before the edit, P1, P2 and P3 are certificates at the ` +
      `edited model, and some exist for part of the ${found.length} removals only. The printed theorem is violated in one ` +
      `dimension, where it says ${say(broken.bounds['printed theorem'] ?? NaN)} and the error is ${say(broken.error)}.`,
    x: { label: 'error ‖θ̃ − θ*‖', log: true },
    y: { label: 'bound', log: true },
    kind: 'points',
    diagonal: true,
    series: Object.keys(broken.bounds).map((name) => ({ name, points: finite(points(name)) })),
  };
}

/** Every figure, in the order of the report. */
const FIGURES = [
  zetaFigure,
  parameterFigure,
  evaluationFigure,
  decayLadder,
  temperatureLadder,
  removedLadder,
  boundsFigure,
];

/**
 * Computes the figures of the report on random instances; equal seeds give equal figures.
 * @param onProgress told before each figure
 * @example const figures = await figuresOf(device, 1);
 */
export async function figuresOf(
  device: Device,
  seed: number,
  onProgress: (text: string) => void = () => undefined,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const make of FIGURES) {
    onProgress(`figure ${figures.length + 1} of ${FIGURES.length}`);
    figures.push(await make(device, seed));
  }
  return figures;
}
