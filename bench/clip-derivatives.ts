// Gradient, Hessian product and JVP of an adapted CLIP model, from the pixels and from the cached frozen prefix.

import * as ecif from '../src/index.ts';
import type { Adapter } from '../src/models/clip/lora.ts';
import { afterPrefix, prefixOf } from '../src/models/clip/prefix.ts';
import type { ClipProblem } from './clip-problem.ts';
import { readFlat, relativeError } from './errors.ts';
import { format, note, print, type Row, target } from './report.ts';
import { compare, type CompareOptions, ratio, type Timing } from './timing.ts';

/** Least gain by the cache in a training step. */
const LEAST_GAIN = 3;

/** What is timed, each at the parameters of the problem unless others are given; results are trees of tensors. */
interface Passes {
  readonly embed: (theta?: Adapter) => ecif.Tensor[];
  readonly gradient: (theta?: Adapter) => Adapter;
  readonly hvp: () => Adapter;
  readonly jvp: () => ecif.Tensor[];
}

function passesOf<B>(model: ecif.Model<Adapter, B>, batch: B, { theta, direction }: ClipProblem): Passes {
  const outputs = (t: Adapter): ecif.Tensor[] => {
    const { u, v } = model.embed(t, batch);
    return [u, v];
  };
  const loss = (t: Adapter): ecif.Tensor => ecif.batchLoss(model, t, batch);
  return {
    embed: (t = theta) => outputs(t),
    gradient: (t = theta) => ecif.grad(loss)(t),
    hvp: () => ecif.hvp(loss, theta, direction),
    jvp: () => ecif.jvp(outputs, theta, direction).tangent,
  };
}

const values = async (f: () => unknown): Promise<Float64Array> => {
  const result = ecif.scope(f);
  const read = await readFlat(result);
  ecif.disposeTree(result);
  return read;
};

/** The derivative of `f` along the direction, by central differences. */
async function differences(
  { theta, direction }: ClipProblem,
  step: number,
  f: (theta: Adapter) => unknown,
): Promise<Float64Array> {
  const at = (h: number): Promise<Float64Array> =>
    values(() =>
      f(Object.fromEntries(Object.entries(theta).map(([k, t]) => [k, ecif.combine(1, t, h, direction[k])]))),
    );
  const [ahead, behind] = [await at(step), await at(-step)];
  return ahead.map((x, i) => (x - behind[i]) / (2 * step));
}

/** What a result is held against. */
export interface Checks {
  /** Step of the differences, and what they may differ by. */
  readonly step: number;
  readonly close: number;
  /** The same problem in float64, where it is small enough for that. */
  readonly exact?: ClipProblem;
}

async function errorRows(section: string, problem: ClipProblem, short: Passes, checks: Checks): Promise<Row[]> {
  const { step, close, exact } = checks;
  const [hv, dv] = [await values(short.hvp), await values(short.jvp)];
  const of = (what: string, error: number, limit: number): Row => target(section, what, error, '≤', limit, '');
  const rows = [
    of('HVP: error to differences', relativeError(hv, await differences(problem, step, short.gradient)), close),
    of('JVP: error to differences', relativeError(dv, await differences(problem, step, short.embed)), close),
  ];
  if (exact === undefined) return rows;
  const { gradient, hvp, jvp } = passesOf(exact.model, exact.batch, exact);
  return [
    ...rows,
    of('gradient: error to float64', relativeError(await values(short.gradient), await values(gradient)), 1e-4),
    of('HVP: error to float64', relativeError(hv, await values(hvp)), 1e-4),
    of('JVP: error to float64', relativeError(dv, await values(jvp)), 1e-4),
  ];
}

/** Times a problem with and without the cache; whatever runs was run once before, for the checks. */
export async function derivativeRows(
  section: string,
  problem: ClipProblem,
  checks: Checks,
  options: CompareOptions,
): Promise<Row[]> {
  const { model, batch, theta, direction } = problem;
  const { device } = model.clip;
  const prefix = prefixOf(model, batch);
  const rest = afterPrefix(model);
  const [whole, short] = [passesOf(model, batch, problem), passesOf(rest, prefix, problem)];
  const cached = relativeError(await values(short.gradient), await values(whole.gradient));
  const errors = await errorRows(section, problem, short, checks);
  const lin = ecif.linearizeGrad((t: Adapter) => ecif.batchLoss(rest, t, prefix), theta);
  const contender = (name: string, f: () => unknown) => ({
    name,
    run: async () => {
      ecif.disposeTree(ecif.scope(f));
      await device.sync();
    },
  });
  const names = ['embed', 'gradient', 'hvp', 'jvp'] as const;
  const times = await compare(
    [
      ...names.map((name) => contender(name, () => short[name]())),
      contender('linearised', () => lin.hvp(direction)),
      ...names.map((name) => contender(name, () => whole[name]())),
    ],
    { warmup: 0, ...options },
  );
  lin.dispose();
  ecif.disposeTree(prefix);
  return [
    ...timeRows(section, batch.text.ends.length, times),
    target(section, 'gradient: difference by the cache', cached, '≤', 1e-5, ''),
    ...errors,
  ].map(print);
}

/** Times per pair, what the cache gains, and derivatives over what they are derivatives of. */
function timeRows(section: string, pairs: number, times: readonly Timing[]): Row[] {
  const short = times.slice(0, 4);
  const whole = times.slice(5);
  const [embed, gradient, hvp, jvp, linearised] = times;
  const ms = ({ median }: Timing): number => median / pairs;
  const over = (what: string, a: Timing, b: Timing): Row => {
    const value = ratio(a, b);
    return note(section, `from the cache: ${what}`, format(value), { ratio: value });
  };
  const perPair = short.map((t, i) => {
    const raw = { ms: ms(t), wholeMs: ms(whole[i]) };
    return note(
      section,
      `${t.name}, per pair: without cache, with`,
      `${format(raw.wholeMs)}, ${format(raw.ms)} ms`,
      raw,
    );
  });
  const gains = short.map((t, i) => {
    const gain = ratio(whole[i], t);
    const what = `${t.name}: × by the cache`;
    const raw = { ratio: gain, ratioOfBest: whole[i].best / t.best };
    if (t === gradient) return target(section, what, gain, '≥', LEAST_GAIN, '×', raw);
    return note(section, what, `${format(gain)}×`, raw);
  });
  return [
    ...perPair,
    ...gains,
    over('gradient / embed', gradient, embed),
    over('HVP / gradient', hvp, gradient),
    over('linearised HVP / gradient', linearised, gradient),
    over('JVP / embed', jvp, embed),
  ];
}
