// Tracing: gradients of questions, scores against training again with other weights, and a planted source found first.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dot } from '../src/array/vector.ts';
import { Flat } from '../src/autodiff/flat.ts';
import { withDefaults } from '../src/cli/args.ts';
import type { Progress } from '../src/cli/progress.ts';
import { TRACE_OPTIONS, type TraceSettings } from '../src/cli/trace/options.ts';
import { runTrace } from '../src/cli/trace/run.ts';
import { CpuDevice } from '../src/device/cpu.ts';
import * as ecif from '../src/index.ts';
import type { Adapter } from '../src/models/clip/lora.ts';
import { prefixRows, type Prefix } from '../src/models/clip/prefix.ts';
import type { TracedQuery, TraceRecord } from '../src/report/records.ts';
import { runCli } from './support/cli.ts';
import { quiet, trainHere, writeBase } from './support/shapes.ts';
import { tinyClip } from './support/tiny-clip.ts';

const device = new CpuDevice();

describe('questions to a model whose temperature is trained too', () => {
  const { loss, start, held } = tinyClip(device, { pairs: 7, l2: 4 });
  const asked: ecif.Questions<Adapter, Prefix> = {
    model: { ...loss.model, scale: (t: Adapter) => ecif.exp(t.logit_scale) },
    batch: (rows) => Promise.resolve(prefixRows(held, rows)),
    candidates: Uint32Array.of(0, 2, 3, 4, 6),
    questions: [
      { row: 2, truth: 1 },
      { row: 5, truth: 4 },
      ...Array.from({ length: 5 }, (_, truth) => ({ row: 0, truth })),
    ],
    size: 2,
  };
  const theta: Adapter = { ...start, logit_scale: ecif.tensor(device, Float64Array.of(1.2), []) };

  /** The loss of a question from all similarities at once. */
  const plain = async ({ row, truth }: ecif.Question, at: Adapter): Promise<number> => {
    const s = await ecif.similarities(asked.model, at, held).data();
    const mine = Array.from(asked.candidates, (c) => s[c * 7 + row]);
    return Math.log(mine.reduce((sum, x) => sum + Math.exp(x), 0)) - mine[truth];
  };

  it('are answered by a softmax over the candidates', async () => {
    const answers = await ecif.answersOf(asked, theta);
    for (const [q, { loss: value, probabilities, mistaken }] of answers.entries()) {
      const { truth } = asked.questions[q];
      expect(value).toBeCloseTo(await plain(asked.questions[q], theta), 10);
      expect(probabilities.reduce((a, b) => a + b)).toBeCloseTo(1, 12);
      expect(-Math.log(probabilities[truth])).toBeCloseTo(value, 10);
      expect(mistaken).toBe(probabilities.some((p, c) => c !== truth && p >= probabilities[truth]));
    }
    // Of the truths of one picture, one alone is the likeliest.
    expect(answers.slice(2).filter(({ mistaken }) => !mistaken)).toHaveLength(1);
  });

  it('have the gradients that finite differences have', async () => {
    const [flat, rng] = [new Flat(theta), ecif.createRng(5)];
    const values = await flat.toVector(theta);
    const found = await ecif.questionGradients(asked, theta);
    const [step, direction] = [1e-5, Float64Array.from(values, () => rng.normal())];
    const slopes = [];
    for (const [q, { gradient }] of found.entries()) {
      const at = (t: number): Promise<number> =>
        plain(asked.questions[q], flat.toTree(values.map((x, i) => x + t * direction[i])));
      const expected = ((await at(step)) - (await at(-step))) / (2 * step);
      const slope = dot(await flat.toVector(gradient), direction);
      expect(Math.abs(slope - expected)).toBeLessThan(1e-7 * (1 + Math.abs(expected)));
      slopes.push(expected);
    }
    expect(Math.abs(slopes[0] - slopes[1])).toBeGreaterThan(1e-2);
  });

  it('are refused with one candidate, or a truth that is none', async () => {
    await expect(ecif.answersOf({ ...asked, candidates: Uint32Array.of(1) }, theta)).rejects.toThrow('1 candidates');
    await expect(ecif.answersOf({ ...asked, questions: [{ row: 0, truth: 5 }] }, theta)).rejects.toThrow('truth 5');
  });
});

describe('sources of answers', () => {
  const { loss, problem, start, held, partitions } = tinyClip(device, { pairs: 8, l2: 4 });
  const asked: ecif.Questions<Adapter, Prefix> = {
    model: loss.model,
    batch: (rows) => Promise.resolve(prefixRows(held, rows)),
    candidates: Uint32Array.of(0, 1, 2, 3, 4),
    questions: [
      { row: 1, truth: 1 },
      { row: 6, truth: 2 },
    ],
  };
  const total = ecif.totalLoss(problem);
  let theta: Adapter;
  let h: ecif.CurvatureSolver<Adapter>;
  let traced: ecif.TracedAnswer<Adapter>[];

  beforeAll(async () => {
    ({ theta } = await ecif.minimise(total, start, { method: 'newton', indefinite: 'reflect' }));
    const whole = await ecif.curvatureAt(total, theta, { denseUpTo: 1000 });
    const space = ecif.treeSpace<Adapter>();
    // H of the streamed loss, the mean over partitions.
    h = { ...whole, solve: async (b) => space.combine([partitions.length], [await whole.solve(b)]) };
    traced = await ecif.traceQueries(loss, theta, asked, h, { probes: 0 });
  });

  it('score minus the derivative of the loss of the query by the weight of the pair, by training again', async () => {
    const step = 3e-4;
    for (const row of [0, 5]) {
      const seg = partitions.flat().flatMap((members, batch) => {
        const position = members.indexOf(row);
        return position < 0 ? [] : [{ batch, positions: [position] }];
      });
      const extra = ecif.lossOf(problem, seg, 'corrected');
      const at = async (epsilon: number): Promise<number[]> => {
        const weighted = (t: Adapter): ecif.Tensor => ecif.add(total(t), ecif.affine(extra(t), epsilon, 0));
        const { theta: moved } = await ecif.minimise(weighted, theta, { method: 'newton', indefinite: 'reflect' });
        return (await ecif.answersOf(asked, moved)).map((answer) => answer.loss);
      };
      const [up, down] = [await at(step), await at(-step)];
      traced.forEach(({ sources }, q) => {
        const derivative = (up[q] - down[q]) / (2 * step);
        expect(Math.abs(sources[row].score + derivative)).toBeLessThan(1e-5 * Math.abs(derivative));
        // Neither another pair’s score nor that for the other query is this derivative.
        expect(Math.abs(sources[row + 1].score + derivative)).toBeGreaterThan(1e-2 * Math.abs(derivative));
        expect(Math.abs(traced[1 - q].sources[row].score + derivative)).toBeGreaterThan(1e-2 * Math.abs(derivative));
      });
    }
  });

  it('have the relative scores of the problem, exact for few parameters', async () => {
    const whole = await ecif.curvatureAt(total, theta, { denseUpTo: 1000 });
    const relative = await ecif.relativeScores(problem, theta, whole, traced[0].gradient, { probes: 0 });
    const places = partitions.flat();
    for (const { row, relative: found } of traced[0].sources) {
      const mine = relative.filter(({ batch, position }) => places[batch][position] === row);
      expect(mine).toHaveLength(partitions.length);
      const mean = mine.reduce((sum, { value }) => sum + value, 0) / mine.length;
      expect(Math.abs(found - mean)).toBeLessThan(1e-6 * mean);
    }
    const probed = await ecif.traceQueries(loss, theta, asked, h, { probes: 64, seed: 1 });
    probed[0].sources.forEach(({ relative: estimate }, i) => {
      const exact = traced[0].sources[i].relative;
      expect(Math.abs(estimate - exact)).toBeLessThan(0.5 * exact);
    });
  });

  it('are ranked on either side by what was asked for', () => {
    const source = (row: number, score: number, relative: number): ecif.Source => ({ row, score, relative });
    const all = [source(0, -1, 9), source(1, 2, 1), source(2, -3, 1), source(3, 0, 5), source(4, -3, 2)];
    const rows = (list: readonly ecif.Source[]): number[] => list.map(({ row }) => row);
    expect(rows(ecif.rankSources(all, 2, 'score').against)).toEqual([2, 4]);
    expect(rows(ecif.rankSources(all, 2, 'relative').against)).toEqual([0, 4]);
    expect(rows(ecif.rankSources(all, 9, 'score').for)).toEqual([1]);
  });
});

describe('ecif trace', () => {
  const home = join(tmpdir(), `ecif-trace-${process.pid}`);
  const run = join(home, 'run');
  let data = '';
  const settings = (given: Partial<TraceSettings>): TraceSettings =>
    withDefaults(
      { queries: data, against: 'captions', tolerance: 1e-6, preconditioner: 'none', rung: 'none', ...given },
      TRACE_OPTIONS,
    ) as unknown as TraceSettings;
  const trace = (given: Partial<TraceSettings>, progress: Progress = quiet): Promise<TraceRecord> =>
    runTrace(run, settings(given), device, progress);

  beforeAll(async () => {
    mkdirSync(home, { recursive: true });
    const base = await writeBase(home);
    ({ data } = base);
    // The picture of a red square is trained with the caption of a blue circle.
    const misled = join(home, 'misled.csv');
    writeFileSync(misled, readFileSync(data, 'utf8').replace('a red square,red-square', 'a blue circle,planted'));
    const lora = { rank: 1, alpha: 4, targets: 'v_proj', 'text-layers': 'last:1', 'vision-layers': 'last:1' };
    const loop = { epochs: 1, batch: 12, l2: 1.5, 'to-stationarity': 1e-6, seed: 1 };
    await trainHere({ data: misled, model: base.model, out: run, ...lora, ...loop });
  });
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  it('finds the mislabelled pair behind a mistake first; permuted scores do not', async () => {
    const { queries, asked, mistaken } = await trace({ ids: 'red-square', top: 12 });
    const [query] = queries;
    expect([asked, queries.length, query.mistaken]).toEqual([12, 1, true]);
    expect(mistaken).toBeGreaterThan(0);
    expect(query.against[0]).toMatchObject({ id: 'planted', caption: 'a blue circle', label: 'square', swapped: null });
    expect(query.against[0].score).toBeLessThan(0);
    expect(query.for[0].score).toBeGreaterThan(0);
    expect(query.against.length + query.for.length).toBe(12);
    const scores = [...query.against, ...query.for].map(({ score }) => score);
    const rng = ecif.createRng(0);
    const first = Array.from({ length: 200 }, () => scores[rng.permutation(12)[0]] === Math.min(...scores));
    expect(first.filter(Boolean).length / 200).toBeLessThan(0.2);
  });

  it('says what the pictures are taken for, and what removing the sources does', async () => {
    const { queries, mistaken } = await trace({ rung: 'rescaled', top: 2, most: 3 });
    expect(queries).toHaveLength(3);
    expect(mistaken).toBeGreaterThanOrEqual(3);
    const losses = queries.map(({ loss }) => loss);
    expect(losses).toEqual(losses.toSorted((a, b) => b - a));
    for (const { predictions, removal, loss, against } of queries) {
      const right = predictions.filter((one) => one.right);
      expect(right).toHaveLength(1);
      expect(-Math.log(right[0].probability)).toBeCloseTo(loss, 9);
      const { ids, predictedLoss, editedLoss, probabilityBefore, probabilityAfter } = removal as NonNullable<
        TracedQuery['removal']
      >;
      expect(ids).toEqual(against.map(({ id }) => id));
      expect(predictedLoss).toBeLessThan(loss);
      expect([-Math.log(probabilityBefore), -Math.log(probabilityAfter)].map((x) => x.toFixed(9))).toEqual(
        [loss, editedLoss].map((x) => x.toFixed(9)),
      );
    }
  });

  it('asks by classes where pairs have labels, and solves no question twice', async () => {
    const told: string[] = [];
    const progress = { line: () => undefined, status: (text: string) => void told.push(text) };
    const given = { against: 'auto', all: true, most: 2, out: join(home, 'classes.json') } as const;
    const { seconds: _, ...first } = await trace(given, progress);
    expect(first.queries[0].predictions.map(({ caption }) => caption).sort()).toEqual([
      ...['a photo of a circle', 'a photo of a square', 'a photo of a triangle'],
    ]);
    expect(told.some((text) => text.startsWith('cg '))).toBe(true);
    told.length = 0;
    const files = readdirSync(join(run, 'solutions'));
    const { seconds: __, ...second } = await trace(given, progress);
    expect(second).toEqual(first);
    expect(told.some((text) => text.startsWith('cg '))).toBe(false);
    expect(readdirSync(join(run, 'solutions'))).toEqual(files);
    expect(JSON.parse(readFileSync(given.out, 'utf8'))).toMatchObject(JSON.parse(JSON.stringify(first)) as object);
  });

  it('prints a table, and refuses what cannot be traced in one line', async () => {
    const words = ['trace', run, '--queries', data, '--device', 'cpu', '--ids'];
    const [good, bad] = await Promise.all([
      runCli([...words, 'red-square', '--against', 'captions', '--rung', 'none']),
      runCli([...words, 'red-sqare', '--out', join(home, 'bad.json')]),
    ]);
    expect(good.code).toBe(0);
    expect(good.stdout).toMatch(/red-square: taken for "a .+" \d+\.\d%, is "a red square" \d+\.\d%, loss/);
    expect(good.stdout).toMatch(/against the truth +score +relative +caption\nplanted /);
    expect(existsSync(join(run, 'trace.json'))).toBe(true);
    expect([bad.code, bad.stdout]).toEqual([2, '']);
    expect(bad.stderr.trimEnd().split('\n').at(-1)).toMatch(
      /^ecif: .*no pair "red-sqare" \(did you mean "red-square"\?\)/,
    );
    expect(existsSync(join(home, 'bad.json'))).toBe(false);
  });

  it.each<[string, Partial<TraceSettings>, string]>([
    ['nothing to ask', { queries: undefined }, 'give --queries DATA'],
    ['no labels', { queries: 'PLAIN', against: 'classes' }, 'a pair without a label'],
    ['one caption', { queries: 'ONE' }, 'one caption to choose from'],
    ['no id', { ids: ',' }, 'no query is named'],
    [
      'a file that cannot be written',
      { out: '/proc/nothing/trace.json' },
      '/proc/nothing/trace.json: cannot be written',
    ],
  ])('refuses %s', async (_, given, message) => {
    const lines = readFileSync(data, 'utf8').trimEnd().split('\n');
    const lists: Record<string, string> = {
      PLAIN: lines.map((line) => line.replace(/,[^,]*$/, '')).join('\n'),
      ONE: lines.slice(0, 2).join('\n'),
    };
    const list = join(home, `${given.queries ?? 'none'}.csv`);
    if (given.queries !== undefined) writeFileSync(list, lists[given.queries]);
    await expect(trace({ ...given, ...(given.queries === undefined ? {} : { queries: list }) })).rejects.toThrow(
      message,
    );
  });
});
