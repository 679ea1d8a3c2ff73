// Scores and removals of a LoRA CLIP from streamed batches: scores equal to per-pair gradients and to what re-weighting a
// pair does to the trained optimum, removals equal to those with all batches at hand and judged by retraining.
import { beforeAll, describe, expect, it } from 'vitest';
import { distance, dot, norm } from '../src/array/vector.ts';
import { Flat } from '../src/autodiff/flat.ts';
import { CpuDevice } from '../src/device/cpu.ts';
import { noiseOf, solvedProbes } from '../src/ecif/relative.ts';
import { streamedRemoval, touchedBatches, withoutRows } from '../src/ecif/streamed-removal.ts';
import { streamScores, type StreamedPair, type SweepPlan } from '../src/ecif/streamed-scores.ts';
import { overSeg } from '../src/ecif/influence.ts';
import * as ecif from '../src/index.ts';
import type { Adapter } from '../src/models/clip/lora.ts';
import { curvatureAt, gaussNewtonProduct, hessianProduct, objectiveOf } from '../src/models/streamed.ts';
import { stacked } from '../src/models/stacked.ts';
import { tinyClip } from './support/tiny-clip.ts';

const device = new CpuDevice();
const tiny = tinyClip(device);
const { loss, problem, partitions, validation } = tiny;
const COUNT = partitions.length;
const dense = { denseUpTo: 1000 };

let theta: Adapter;
let flat: Flat<Adapter>;
let h: ecif.CurvatureSolver<Adapter>;
let gradVal: Adapter;
let w: Adapter;

const collect = async (plan: SweepPlan<Adapter>, first = 0): Promise<StreamedPair[]> => {
  const out: StreamedPair[] = [];
  for await (const { pairs } of streamScores(loss, theta, plan, first)) out.push(...pairs);
  return out;
};

beforeAll(async () => {
  const total = ecif.totalLoss(problem);
  ({ theta } = await ecif.minimise(total, tiny.start, { method: 'newton', indefinite: 'reflect' }));
  flat = new Flat(theta);
  h = await ecif.curvatureAt(total, theta, dense);
  gradVal = ecif.grad(validation)(theta);
  w = await h.solve(gradVal);
});

describe('a streamed loss', () => {
  it('has the value, gradient and products of the problem with all batches at hand', async () => {
    const total = ecif.totalLoss(problem);
    const at = flat.toTree((await flat.toVector(theta)).map((x, i) => x + 0.1 * Math.sin(i)));
    const v = flat.toTree(Float64Array.from({ length: flat.size }, (_, i) => Math.cos(3 * i)));
    const { value, gradient } = await objectiveOf(loss)(at);
    expect(value * COUNT).toBeCloseTo(await total(at).item(), 9);
    const near = async (streamed: Adapter, whole: Adapter): Promise<void> => {
      const [a, b] = [await flat.toVector(streamed), await flat.toVector(whole)];
      a.forEach((x, i) => expect(x * COUNT).toBeCloseTo(b[i], 9));
    };
    await near(gradient, ecif.grad(total)(at));
    await near(await hessianProduct(loss)(at, v), ecif.hvp(total, at, v));
    const gauss = problem.batches
      .map((batch) => ecif.ggnvp((t: Adapter) => ecif.similarities(problem.model, t, batch), ecif.contrastive, at, v))
      .reduce((sum, part) => ecif.treeSpace<Adapter>().combine([1, 1], [sum, part]));
    const damped = ecif.treeSpace<Adapter>().combine([1, problem.decay], [gauss, v]);
    await near(await gaussNewtonProduct(loss)(at, v), damped);
  });

  it('is the same with batches of equal size laid together, in fewer passes', async () => {
    const together = await stacked(loss);
    expect(together.partitions.flat().length).toBeLessThan(loss.partitions.flat().length);
    const v = flat.toTree(Float64Array.from({ length: flat.size }, (_, i) => Math.cos(3 * i)));
    const [one, other] = [await objectiveOf(loss)(theta), await objectiveOf(together)(theta)];
    expect(other.value).toBeCloseTo(one.value, 9);
    const near = async (a: Adapter, b: Adapter): Promise<void> => {
      const [x, y] = [await flat.toVector(a), await flat.toVector(b)];
      expect(distance(x, y)).toBeLessThan(1e-9 * Math.hypot(...y));
    };
    await near(await hessianProduct(together)(theta, v), await hessianProduct(loss)(theta, v));
    await near(await gaussNewtonProduct(together)(theta, v), await gaussNewtonProduct(loss)(theta, v));
    const moved = flat.toTree((await flat.toVector(theta)).map((x, i) => x + 0.1 * Math.sin(i)));
    await near((await objectiveOf(together)(moved)).gradient, (await objectiveOf(loss)(moved)).gradient);
  });
});

describe('batches of unequal size', () => {
  // Batches of 4, 3 and 2 pairs: the second is filled up to lie with the first, the last is too small for that.
  const unequal = {
    ...loss,
    partitions: [[Uint32Array.of(6, 0), Uint32Array.of(1, 7, 3), Uint32Array.of(5, 2, 4, 0)]],
  };

  it('lie together, filled up, and are the same objective to second order', async () => {
    const together = await stacked(unequal, true);
    expect(together.partitions[0].map((rows) => [...rows])).toEqual([
      [5, 2, 4, 0, 1, 7, 3, 3],
      [6, 0],
    ]);
    const v = flat.toTree(Float64Array.from({ length: flat.size }, (_, i) => Math.cos(3 * i)));
    const [one, other] = [await objectiveOf(unequal)(theta), await objectiveOf(together)(theta)];
    expect(other.value).toBeCloseTo(one.value, 10);
    const near = async (a: Adapter, b: Adapter): Promise<void> => {
      const [x, y] = [await flat.toVector(a), await flat.toVector(b)];
      expect(distance(x, y)).toBeLessThan(1e-11 * norm(y));
    };
    await near(other.gradient, one.gradient);
    await near(await hessianProduct(together)(theta, v), await hessianProduct(unequal)(theta, v));
    await near(await gaussNewtonProduct(together)(theta, v), await gaussNewtonProduct(unequal)(theta, v));
    // Control: what fills up is told from the batch by `unmet` alone.
    const { embed, scale } = together.model;
    const blind = {
      ...together,
      model: { scale, embed: (...given: Parameters<typeof embed>) => ({ ...embed(...given), unmet: undefined }) },
    };
    expect(Math.abs((await objectiveOf(blind)(theta)).value - one.value)).toBeGreaterThan(0.1);
  });

  it.each(['corrected', 'exact', 'positives only', 'published'] as const)(
    'the %s gradient of a set is the same from the passes of the products and by itself',
    async (form) => {
      for (const removed of [[3, 5], [1, 7, 3], [0]]) {
        const { solve, solveGradient, dispose } = ecif.cgSolver(unequal, theta, { tolerance: 1e-12 });
        const edit = async (h: Pick<ecif.CurvatureSolver<Adapter>, 'solve' | 'solveGradient'>): Promise<Float64Array> =>
          flat.toVector(
            await ecif.removeLinear(
              streamedRemoval(unequal, theta, removed, h, () => Promise.reject(new Error('no Newton step'))),
              form,
            ),
          );
        const from = await flat.toVector(theta);
        const [shared, apart] = [
          await edit({ solve, solveGradient: solveGradient as () => Promise<Adapter> }),
          await edit({ solve }),
        ];
        dispose();
        expect(distance(apart, from)).toBeGreaterThan(1e-6);
        expect(distance(shared, apart)).toBeLessThan(1e-8 * distance(apart, from));
      }
    },
  );
});

describe('curvature of a streamed loss at a point', () => {
  it.each([
    ['a batch', 'batch'],
    ['a function of S', 'on'],
  ])('gives everything back where %s fails', async (_what, which) => {
    const before = device.memory().live;
    let calls = 0;
    const fails = <R>(f: () => R): R => {
      if (++calls > 1) throw new Error('no more');
      return f();
    };
    const batch = (rows: Uint32Array) => (which === 'batch' ? fails(() => loss.batch(rows)) : loss.batch(rows));
    const on = (s: ecif.Tensor) => (which === 'on' ? fails(() => ecif.sum(s)) : ecif.sum(s));
    for (const memory of [0, 2 ** 30]) {
      calls = 0;
      await expect(curvatureAt({ ...loss, batch }, theta, 'hessian', memory, on)).rejects.toThrow('no more');
      expect(device.memory().live).toBe(before);
    }
  });

  it.each([
    ['hessian', hessianProduct],
    ['gauss-newton', gaussNewtonProduct],
  ] as const)('%s: products and gradient, whatever is kept of the forward passes', async (kind, product) => {
    const centred = { ...loss, centre: tiny.start };
    const at = flat.toTree((await flat.toVector(theta)).map((x, i) => x + 0.1 * Math.sin(i)));
    const v = flat.toTree(Float64Array.from({ length: flat.size }, (_, i) => Math.cos(3 * i)));
    const gradient = await flat.toVector((await objectiveOf(centred)(at)).gradient);
    const along = await flat.toVector(await product(centred)(at, v));
    const one = await objectiveOf({ ...centred, partitions: [[partitions[0][0]]] })(at);
    expect(distance(await flat.toVector(one.gradient), gradient)).toBeGreaterThan(0.1 * norm(gradient));
    // Nothing, some and all of the batches are kept.
    const needed = async (memory: number): Promise<number> => {
      const before = device.memory().live;
      const here = await curvatureAt(centred, at, kind, memory);
      const kept = device.memory().live - before;
      const [g, hv] = [await here.gradient(), await here.product(v)];
      expect(distance(await flat.toVector(g), gradient)).toBeLessThan(1e-12 * norm(gradient));
      expect(distance(await flat.toVector(hv), along)).toBeLessThan(1e-12 * norm(along));
      ecif.disposeTree([g, hv]);
      here.release();
      expect(device.memory().live).toBe(before);
      return kept;
    };
    const all = await needed(Infinity);
    const some = await needed(all / 2);
    expect([await needed(0), some > 0, some < all]).toEqual([0, true, true]);
  });
});

describe('streamed scores of a LoRA CLIP', () => {
  it('are the gradients of each pair along w, to 1e-9, in every part', async () => {
    const rows = await collect({ targets: [w] });
    expect(rows).toHaveLength(COUNT * 8);
    const along = await flat.toVector(w);
    const places = partitions.flatMap((batches, partition) => batches.map((_, batch) => ({ partition, batch })));
    let compared = 0;
    for (const { partition, batch, position, row, scores } of rows) {
      expect(partitions[partition][batch][position]).toBe(row);
      const at = places.findIndex((place) => place.partition === partition && place.batch === batch);
      const seg = [{ batch: at, positions: [position] }];
      const gradient = async (f: (t: Adapter) => ecif.Tensor): Promise<number> =>
        dot(await flat.toVector(ecif.grad(f)(theta)), along);
      const positive = await gradient(ecif.posOf(problem, seg));
      const negative = await gradient(ecif.negOf(problem, seg, 'corrected'));
      const t2i = await gradient(
        overSeg(problem, seg, (s, e) => ecif.add(ecif.posTerm(s, e).t2i, ecif.negTerm(s, e, 'corrected').t2i)),
      );
      const scale = Math.abs(positive) + Math.abs(negative);
      expect(Math.abs(scores[0].positive - positive)).toBeLessThan(1e-9 * scale);
      expect(Math.abs(scores[0].negative - negative)).toBeLessThan(1e-9 * scale);
      expect(Math.abs(scores[0].t2i - t2i)).toBeLessThan(1e-9 * scale);
      expect(Math.abs(scores[0].score - positive - negative)).toBeLessThan(1e-9 * scale);
      compared++;
    }
    expect(compared).toBe(COUNT * 8);
  });

  it('are minus the derivative of the evaluation loss when a pair is given weight, by training again', async () => {
    const rows = await collect({ targets: [w] });
    const step = 1e-3;
    for (const wanted of [0, 3, 6]) {
      const mine = rows.filter(({ row }) => row === wanted);
      expect(mine).toHaveLength(COUNT);
      const places = partitions.flatMap((batches) => batches);
      const seg = places.flatMap((members, batch) => {
        const position = members.indexOf(wanted);
        return position < 0 ? [] : [{ batch, positions: [position] }];
      });
      const total = ecif.totalLoss(problem);
      const extra = ecif.lossOf(problem, seg, 'corrected');
      const value = async (epsilon: number): Promise<number> => {
        const weighted = (t: Adapter): ecif.Tensor => ecif.add(total(t), ecif.affine(extra(t), epsilon, 0));
        const { theta: moved } = await ecif.minimise(weighted, theta, { method: 'newton', indefinite: 'reflect' });
        return validation(moved).item();
      };
      const derivative = ((await value(step)) - (await value(-step))) / (2 * step);
      const score = mine.reduce((sum, { scores }) => sum + scores[0].score, 0);
      expect(Math.abs(score + derivative)).toBeLessThan(1e-5 * Math.abs(derivative));
      // Another pair's score is not that derivative.
      const other = rows.filter(({ row }) => row === wanted + 1).reduce((sum, { scores }) => sum + scores[0].score, 0);
      expect(Math.abs(other + derivative)).toBeGreaterThan(1e-2 * Math.abs(derivative));
    }
  });

  it('go on at any batch, and take several targets along at once', async () => {
    const second = await h.solve(flat.toTree(Float64Array.from({ length: flat.size }, (_, i) => Math.sin(i))));
    const both = await collect({ targets: [w, second] });
    const [one, two] = [await collect({ targets: [w] }), await collect({ targets: [second] })];
    both.forEach(({ scores }, i) => expect(scores).toEqual([one[i].scores[0], two[i].scores[0]]));
    const rest = await collect({ targets: [w] }, 2);
    expect(rest).toEqual(one.filter(({ partition, batch }) => partition * 2 + batch >= 2));
    expect(rest.length).toBeLessThan(one.length);
  });

  it('hold self and relative scores equal to those of the problem, exact and by probes', async () => {
    const self = await ecif.selfScores(problem, theta, h, { probes: 0 });
    const relative = await ecif.relativeScores(problem, theta, h, gradVal, { probes: 0 });
    const probes = await solvedProbes(theta, h, { probes: 0 });
    const known = { gradients: [await flat.toVector(gradVal)], noise: noiseOf(theta, h) };
    const rows = await collect({ targets: [w], probes: { ...probes, known } });
    rows.forEach((row, i) => {
      expect(row.self?.value).toBeCloseTo(self[i].value, 10);
      expect(row.relative[0].value).toBeCloseTo(relative[i].value, 10);
    });
    const drawn = await solvedProbes(theta, h, { probes: 400, seed: 5 });
    const near = await collect({ targets: [w], probes: drawn });
    const off = near.map(({ self: found }, i) =>
      found === null ? NaN : (found.value - self[i].value) / found.standardError,
    );
    expect(Math.max(...off.map(Math.abs))).toBeLessThan(5);
    expect(Math.hypot(...off) / Math.sqrt(off.length)).toBeGreaterThan(0.2);
  });

  it('tell the loss and the cosine of each pair', async () => {
    const rows = await collect({ targets: [w] });
    const summed = rows.reduce((sum, { loss: one }) => sum + one, 0);
    const batches = problem.batches.map((batch) => ecif.batchLoss(problem.model, theta, batch));
    expect(summed).toBeCloseTo(await batches.reduce(ecif.add).item(), 9);
    const { u, v } = problem.model.embed(theta, problem.batches[0]);
    const [a, b] = [await u.data(), await v.data()];
    const width = u.shape[1];
    const cosine = Array.from({ length: width }, (_, i) => a[width + i] * b[width + i]).reduce((x, y) => x + y);
    expect(rows[1].cosine).toBeCloseTo(cosine, 10);
  });

  it('refuse a sweep along nothing', async () => {
    await expect(collect({ targets: [] })).rejects.toThrow('no target');
  });
});

describe('removal from a streamed LoRA CLIP', () => {
  const REMOVED = [2, 5];
  const seg = partitions.flat().flatMap((members, batch) => {
    const positions = Array.from(members.keys()).filter((i) => REMOVED.includes(members[i]));
    return positions.length === 0 ? [] : [{ batch, positions }];
  });
  const atHand = ecif.lossWithout(problem, seg);
  const solverAt = (_: unknown, at: Adapter) =>
    ecif.curvatureAt((t: Adapter) => ecif.affine(atHand(t), 1 / COUNT, 0), at, dense);

  // H of the streamed loss is that of the problem over the number of partitions.
  const removal = () =>
    streamedRemoval(
      loss,
      theta,
      REMOVED,
      { solve: async (b) => ecif.treeSpace<Adapter>().combine([COUNT], [await h.solve(b)]) },
      solverAt,
    );

  it('takes rows that can be told once', async () => {
    const once = function* (): Generator<number> {
      yield* REMOVED;
    };
    const told = streamedRemoval(loss, theta, once(), h, solverAt);
    const [a, b] = [await told.lostGradient('exact'), await removal().lostGradient('exact')];
    expect(await flat.toVector(a)).toEqual(await flat.toVector(b));
    expect(told.without.partitions).toEqual(withoutRows(loss, REMOVED).partitions);
  });

  it('is that of the problem with all batches at hand, rung by rung', async () => {
    const whole = ecif.removalOf(problem, theta, seg, h, dense);
    const streamed = removal();
    const near = async (a: Adapter, b: Adapter): Promise<void> => {
      const [x, y, from] = [await flat.toVector(a), await flat.toVector(b), await flat.toVector(theta)];
      expect(distance(x, y)).toBeLessThan(1e-9 * distance(y, from));
    };
    await near(await ecif.removeLinear(streamed, 'corrected'), await ecif.removeLinear(whole, 'corrected'));
    await near(await ecif.removeLinear(streamed, 'exact'), await ecif.removeLinear(whole, 'exact'));
    await near((await ecif.removeRescaled(streamed)).theta, (await ecif.removeRescaled(whole)).theta);
    await near(await ecif.removeKrylov(streamed, 2), await ecif.removeKrylov(whole, 2));
    await near(await ecif.removeByNewton(streamed), await ecif.removeByNewton(whole));
  });

  it('takes the gradient of a Newton step from the passes that its products keep, and else by itself', async () => {
    let batches = 0;
    const counted = { ...loss, batch: (rows: Uint32Array) => (batches++, loss.batch(rows)) };
    const step = async (of: typeof loss, forget: boolean): Promise<Float64Array> => {
      const at = (after: typeof loss, x: Adapter) => {
        const { solve, solveGradient, dispose } = ecif.cgSolver(after, x, { tolerance: 1e-12 });
        return Promise.resolve({ solve, dispose, ...(forget ? {} : { solveGradient }) });
      };
      return flat.toVector(await ecif.removeByNewton(streamedRemoval(of, theta, REMOVED, h, at)));
    };
    const [together, apart] = [await step(counted, false), batches];
    const other = await step(counted, true);
    const from = await flat.toVector(theta);
    expect(distance(together, other)).toBeLessThan(1e-9 * distance(together, from));
    expect(batches - apart).toBeGreaterThan(apart);
    expect(distance(together, await flat.toVector(await ecif.removeByNewton(removal())))).toBeLessThan(
      1e-7 * distance(together, from),
    );
  });

  it('by Woodbury is the Gauss-Newton step after removal, and of rank 0 that before', async () => {
    const inverse = async (of: typeof loss) => (await ecif.denseOf(of, theta, { curvature: 'gauss-newton' })).solver();
    const h0 = await inverse(loss);
    const { problem: at, seg: places, solver } = await touchedBatches(loss, REMOVED, h0);
    const prepared = await ecif.prepareBatches(
      at,
      theta,
      places.map(({ batch }) => batch),
      solver,
    );
    const from = await flat.toVector(theta);
    const stepOf = async (edited: Adapter): Promise<Float64Array> =>
      (await flat.toVector(edited)).map((x, i) => x - from[i]);
    const lost = await removal().lostGradient('exact');
    const after = await flat.toVector(await (await inverse(withoutRows(loss, REMOVED))).solve(lost));
    const before = await flat.toVector(await h0.solve(lost));
    const full = await stepOf((await ecif.removeWoodbury(prepared, places)).theta);
    const none = await stepOf((await ecif.removeWoodbury(prepared, places, 0)).theta);
    expect(distance(full, after)).toBeLessThan(1e-8 * norm(after));
    expect(distance(none, before)).toBeLessThan(1e-9 * norm(before));
    expect(distance(before, after)).toBeGreaterThan(1e-2 * norm(after));
  });

  it('comes nearer to retraining from rung to rung, and doing nothing is the farthest', async () => {
    const { theta: retrained } = await ecif.minimise(atHand, theta, { method: 'newton', indefinite: 'reflect' });
    const truth = await flat.toVector(retrained);
    const streamed = removal();
    const errorOf = async (edited: Adapter): Promise<number> => distance(await flat.toVector(edited), truth);
    const [nothing, corrected, newton, three] = [
      await errorOf(theta),
      await errorOf(await ecif.removeLinear(streamed, 'corrected')),
      await errorOf(await ecif.removeByNewton(streamed)),
      await errorOf(await ecif.removeByNewton(streamed, 3)),
    ];
    expect(corrected).toBeLessThan(nothing);
    expect(newton).toBeLessThan(nothing);
    expect(three).toBeLessThan(0.3 * newton);
    // The streamed loss after removal is stationary where training again ends.
    const { gradient } = await objectiveOf(withoutRows(loss, REMOVED))(retrained);
    expect(Math.hypot(...(await flat.toVector(gradient)))).toBeLessThan(1e-8);
  });

  it('refuses rows that were not trained on', () => {
    expect(() => withoutRows(loss, [99])).toThrow('row 99');
  });
});
