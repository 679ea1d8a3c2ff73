// Every scoring method behind one interface: TRAK by its closed form, scores from embeddings by plain loops, retraining by
// plain Newton steps; what each says that it needs is what it needs.
import { describe, expect, it } from 'vitest';
import { dot } from '../src/array/vector.ts';
import { Flat } from '../src/autodiff/flat.ts';
import { CpuDevice } from '../src/device/cpu.ts';
import * as ecif from '../src/index.ts';
import { lu, luSolve } from '../src/linalg/index.ts';
import { batchTerms } from '../src/verify/plain.ts';
import { byRow, plainTask, type PlainPlace } from './support/scoring.ts';
import { gapOf } from './support/streamed.ts';
import { tinyClip } from './support/tiny-clip.ts';

const plain = plainTask(4, { count: 14 });
const { task, w, pairs, held } = plain;
const size = w.length;

const method = (name: string): ecif.Method => {
  const found = ecif.METHODS.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no method ${name}`);
  return found;
};

/** Log-odds of a pair in one direction with its gradient: minus the loss that has no own candidate. */
function oddsOf({ batch, position }: PlainPlace, direction: 't2i' | 'i2t') {
  const weights = {
    anchor: (k: number) => (k === position ? 1 : 0),
    candidate: (k: number, j: number) => (k === j ? 0 : 1),
  };
  const { value, gradient } = batchTerms(batch, w, weights, direction, 1);
  return { value: -value, gradient: gradient.map((x) => -x) };
}

/** The gradient of the log-odds in both directions. Pictures are fixed: constant negatives lose only i2t's captions. */
function featureOf(place: PlainPlace, negatives: ecif.Negatives): Float64Array {
  const [rows, columns] = [oddsOf(place, 't2i').gradient, oddsOf(place, 'i2t').gradient];
  const anchor = place.batch.anchors[place.position];
  const own = anchor.z.subarray(place.position * size, (place.position + 1) * size);
  return rows.map((x, i) => x + (negatives === 'moving' ? columns[i] : own[i]));
}

const doubtOf = (place: PlainPlace): number =>
  1 - (['t2i', 'i2t'] as const).reduce((sum, d) => sum + 1 / (1 + Math.exp(-oddsOf(place, d).value)), 0) / 2;

/** TRAK by its definition, every gradient in full. */
function closedForm(negatives: ecif.Negatives): Float64Array {
  const components = Array.from({ length: size }, (_, i) => byRow(plain, (place) => featureOf(place, negatives)[i]));
  const phi = Array.from({ length: task.count }, (_, n) => Float64Array.from(components, (c) => c[n]));
  const kernel = new Float64Array(size * size);
  for (const row of phi) row.forEach((x, i) => row.forEach((y, j) => (kernel[i * size + j] += x * y)));
  const target = new Float64Array(size);
  for (const place of plain.judged) featureOf(place, negatives).forEach((x, i) => (target[i] += doubtOf(place) * x));
  const x = luSolve(lu(kernel, size), target);
  const doubt = byRow(plain, doubtOf);
  return Float64Array.from(phi, (row, n) => doubt[n] * dot(row, x));
}

const whole = { projections: size, repeats: 1, checkpoints: 0, ridge: 0 };

describe('TRAK', () => {
  it.each(['moving', 'constant'] as const)('of full rank is its closed form, negatives %s', async (negatives) => {
    const expected = closedForm(negatives);
    const full = ecif.trakOf({ name: 'full', negatives, ...whole });
    expect(gapOf(await full.scores(task), expected)).toBeLessThan(1e-7);
    // Of full rank no projection matters; of lower rank it does.
    expect(gapOf(await full.scores({ ...task, seed: 9 }), expected)).toBeLessThan(1e-7);
    const low = ecif.trakOf({ name: 'low', negatives, ...whole, projections: 2 });
    expect(gapOf(await low.scores(task), expected)).toBeGreaterThan(0.05);
  });

  it('with constant negatives is another score', async () => {
    expect(gapOf(closedForm('constant'), closedForm('moving'))).toBeGreaterThan(0.1);
  });

  it('averages the kernel part and 1 − p over checkpoints', async () => {
    const one = { ...task, checkpoints: [{ theta: task.theta, rate: 1 }] };
    const full = { name: 'full', negatives: 'moving', ...whole } as const;
    const twice = await ecif.trakOf({ ...full, checkpoints: 1 }).scores(one);
    expect(gapOf(twice, closedForm('moving'))).toBeLessThan(1e-7);
    const mixed = await ecif.trakOf({ ...full, checkpoints: 1 }).scores(task);
    expect(gapOf(mixed, twice)).toBeGreaterThan(0.01);
    expect(() => ecif.trakOf({ ...full, projections: 0 })).toThrow(/0 projections/);
  });
});

describe('scores from embeddings', () => {
  const unit = (v: readonly number[]): number[] => v.map((x) => x / Math.hypot(...v));
  const texts = (of: typeof pairs): number[][] =>
    of.text.map((x) =>
      unit(of.image[0].map((_, b) => x.reduce((sum, a, i) => sum + a * w[i * of.image[0].length + b], 0))),
    );
  const images = (of: typeof pairs): number[][] => of.image.map(unit);
  const inner = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, x, i) => sum + x * b[i], 0);
  const [u, v] = [texts(pairs), images(pairs)];

  it('CLIPScore is the cosine', async () => {
    const expected = Float64Array.from(u, (x, n) => inner(x, v[n]));
    expect(gapOf(await method('clipscore').scores(task), expected)).toBeLessThan(1e-12);
  });

  it('representation is the mean cosine of the joined embeddings to those of the evaluation pairs', async () => {
    const joined = (a: number[][], b: number[][]): number[][] => a.map((x, n) => unit([...x, ...b[n]]));
    const [own, others] = [joined(u, v), joined(texts(held), images(held))];
    const expected = Float64Array.from(own, (x) => others.reduce((sum, y) => sum + inner(x, y), 0) / others.length);
    expect(gapOf(await method('representation').scores(task), expected)).toBeLessThan(1e-12);
    expect(gapOf(await method('clipscore').scores(task), expected)).toBeGreaterThan(0.1);
  });

  it('loss is minus the pair’s own, the mean over its batches', async () => {
    const expected = byRow(
      plain,
      ({ batch, position }) =>
        -batchTerms(batch, w, { anchor: (k) => (k === position ? 1 : 0), candidate: () => 1 }, 'both', 0).value,
    );
    expect(gapOf(await method('loss').scores(task), expected)).toBeLessThan(1e-10);
  });

  it('influence and loss together go by both orders', async () => {
    const [both, influence, fit] = await Promise.all(
      ['ecif+loss', 'ecif', 'loss'].map((name) => method(name).scores(task)),
    );
    const below = (of: Float64Array, n: number): number => of.filter((x) => x < of[n]).length;
    const expected = both.map((_, n) => (below(influence, n) + below(fit, n) + 2) / (2 * task.count));
    expect(gapOf(both, expected)).toBeLessThan(1e-12);
  });

  it('neighbours are those by brute force', async () => {
    const far = (a: readonly number[], b: readonly number[]): number => 1 - inner(a, b);
    const k = 5;
    const say = (n: number, by: number[][], of: number[][]): number => {
      const ranked = by.map((x, j) => [far(by[n], x), j] as const).filter(([, j]) => j !== n);
      let sum = 0;
      for (const [distance, j] of ranked.toSorted(([a], [b]) => a - b).slice(0, k))
        sum += far(of[n], of[j]) * Math.exp(-0.1 * distance) * Math.exp(-5 * far(u[j], v[j]));
      return sum / k;
    };
    const expected = Float64Array.from(u, (x, n) => -(far(x, v[n]) + 5 * say(n, v, u) + 5 * say(n, u, v)));
    expect(gapOf(await method('lemon').scores(task), expected)).toBeLessThan(1e-10);
    const other = ecif.lemonOf({ neighbours: 2 });
    expect(gapOf(await other.scores(task), expected)).toBeGreaterThan(0.01);
    await expect(ecif.lemonOf({ neighbours: 14 }).scores(task)).rejects.toThrow(/14 neighbours among 14/);
  });
});

describe('the two ends', () => {
  it('retraining is what plain Newton steps without the pair find', async () => {
    const before = plain.evaluate(w);
    const expected = Float64Array.from({ length: task.count }, (_, n) => plain.evaluate(plain.minimum(n)) - before);
    expect(gapOf(await method('retraining').scores(task), expected)).toBeLessThan(1e-6);
    // The exact scores order pairs much as training again does; random ones do not.
    expect(ecif.spearman(await method('ecif').scores(task), expected)).toBeGreaterThan(0.8);
    expect(ecif.spearman(await method('random').scores(task), expected)).toBeLessThan(0.6);
  });

  it('random scores follow the seed alone', async () => {
    const first = await method('random').scores(task);
    expect(await method('random').scores({ ...task, evaluation: { text: task.theta.w, image: task.theta.w } })).toEqual(
      first,
    );
    expect(await method('random').scores({ ...task, seed: 4 })).not.toEqual(first);
  });
});

describe('every method', () => {
  it('has a name of its own', () => {
    expect(new Set(ecif.METHODS.map(({ name }) => name)).size).toBe(ecif.METHODS.length);
    expect(ecif.METHODS.length).toBeGreaterThan(20);
  });

  it.each(ecif.METHODS.map((each) => [each.name, each] as const))('%s asks for what it needs', async (_, each) => {
    const refused = (): never => {
      throw new Error('retrained');
    };
    const lacking = (need: ecif.Need): Partial<typeof task> =>
      ({
        evaluation: { evaluation: { text: task.theta.w, image: task.theta.w } },
        checkpoints: { checkpoints: [] },
        retraining: { retrain: refused },
        curvature: {},
      })[need];
    const all = await each.scores(task);
    expect(all).toHaveLength(task.count);
    expect(all.every(Number.isFinite)).toBe(true);
    for (const need of ['evaluation', 'checkpoints', 'retraining'] as const) {
      const outcome = await each.scores({ ...task, ...lacking(need) }).then(
        (scores) => gapOf(scores, all) < 1e-12,
        () => false,
      );
      expect([need, outcome]).toEqual([need, !each.needs.includes(need)]);
    }
  });

  it('refuses rows that are in no batch', async () => {
    await expect(method('clipscore').scores({ ...task, count: 15 })).rejects.toThrow(/row 14 of 15 is in no batch/);
  });
});

describe('on a CLIP with LoRA', () => {
  const tiny = tinyClip(new CpuDevice());
  const clip = {
    ...{ loss: tiny.loss, count: 8, theta: tiny.start, seed: 1 },
    evaluation: tiny.held,
    checkpoints: [{ theta: tiny.start, rate: 1 }],
    retrain: () => Promise.reject(new Error('not here')),
  };

  it('GradDot is the gradient of each pair’s own loss, by reverse mode', async () => {
    const { problem, start, partitions, validation } = tiny;
    const flat = new Flat(start);
    const g = await flat.toVector(ecif.grad(validation)(start));
    const expected = new Float64Array(8);
    for (const [batch, rows] of partitions.flat().entries()) {
      for (const [position, row] of rows.entries()) {
        const own = ecif.grad(ecif.posOf(problem, [{ batch, positions: [position] }]))(start);
        expected[row] += dot(await flat.toVector(own), g) / partitions.length;
      }
    }
    expect(gapOf(await method('graddot').scores(clip), expected)).toBeLessThan(1e-9);
    expect(gapOf(await method('identity').scores(clip), expected)).toBeGreaterThan(0.1);
  });

  it.each(['ecif-ekfac', 'ecif-logra', 'gradcos', 'trak', 'trak-constant', 'lemon'])(
    '%s gives numbers',
    async (name) => {
      const scores = await method(name).scores(clip);
      expect(scores).toHaveLength(8);
      expect(new Set(scores).size).toBe(8);
    },
  );
});
