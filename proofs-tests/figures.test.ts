// The figures' data: equal for equal seeds, and true where it can be known in another way.

import { beforeAll, expect, it } from 'vitest';
import { CpuDevice } from '../src/device/cpu.ts';
import { RUNGS } from '../src/ecif/estimators.ts';
import { figuresOf, zetaInstance } from '../src/verify/figures.ts';
import { decayOf, derivative, plainMinimum } from '../src/verify/plain.ts';
import type { Figure, Series } from '../src/verify/result.ts';
import { plainProblem } from '../src/verify/setting.ts';

const SEED = 3;
const device = new CpuDevice();
let figures: Figure[] = [];
const told: string[] = [];

beforeAll(async () => {
  figures = await figuresOf(device, SEED, (text) => told.push(text));
});

function find(id: string): Figure {
  const figure = figures.find((f) => f.id === id);
  if (figure === undefined) throw new Error(`no figure ${id}`);
  return figure;
}

function seriesOf(id: string, name: string): Series['points'] {
  const series = find(id).series.find((s) => s.name === name);
  if (series === undefined) throw new Error(`no series ${name} in ${id}`);
  return series.points;
}

const LADDERS = ['ladder-decay', 'ladder-temperature', 'ladder-removed'];
it('has every figure, with finite points and a caption, and says how far it is', () => {
  expect(figures.map((f) => f.id)).toEqual(['zeta', 'parameters', 'evaluation', ...LADDERS, 'bounds']);
  expect(told).toHaveLength(figures.length);
  for (const { series, caption } of figures) {
    expect(caption.length).toBeGreaterThan(60);
    expect(caption).not.toMatch(/NaN|Infinity|undefined/);
    for (const { points } of series) {
      expect(points.length).toBeGreaterThan(0);
      expect(points.flat().every(Number.isFinite)).toBe(true);
    }
  }
});

it('equal seeds give equal figures, other seeds others; little memory is left behind', async () => {
  const own = new CpuDevice();
  const again = await figuresOf(own, SEED);
  expect(own.memory().live).toBe(0);
  expect(again).toEqual(figures);
  const ids = (of: readonly (readonly number[])[]): string => of.map((row) => row[0].toFixed(6)).join();
  expect(ids(zetaInstance(SEED + 1).text)).not.toBe(ids(zetaInstance(SEED).text));
});

it('zeta: the corrected line is the tangent, the exact chord ends at the loss after removal', () => {
  const file = zetaInstance(SEED);
  const plain = plainProblem(file);
  const w = plainMinimum(plain.total, new Float64Array(file.text[0].length * file.image[0].length));
  const removed = plain.removal(1)(w).value - decayOf(file.delta)(w).value;
  const [loss, corrected] = [seriesOf('zeta', 'loss'), seriesOf('zeta', 'corrected')];
  const [exact, published] = [seriesOf('zeta', 'exact'), seriesOf('zeta', 'published')];
  expect(exact[0]).toEqual([0, expect.closeTo(removed, 9)]);
  expect(loss[0]).toEqual([0, expect.closeTo(removed, 9)]);
  for (const points of [corrected, exact, published]) expect(points.at(-1)).toEqual(loss.at(-1));
  const at = (t: number): Float64Array => Float64Array.of(plain.negative(1 + t)(w).value);
  const slope = derivative(at, 1e-3)[0];
  expect(corrected[1][1] - corrected[0][1]).toBeCloseTo(slope, 8);
  // The loss is concave in ζ: it lies between the chord and the tangent.
  for (const [zeta, value] of loss) {
    const line = (points: Series['points']): number => points[1][1] + (zeta - 1) * (points[1][1] - points[0][1]);
    expect(value).toBeLessThanOrEqual(line(corrected) + 1e-9);
    expect(value).toBeGreaterThanOrEqual(line(exact) - 1e-9);
  }
  const rise = (published[1][1] - published[0][1]) / (published[1][0] - published[0][0]);
  expect(rise).toBeGreaterThan(5 * slope);
});

it('parameters: Newton is nearer to retraining than rescaled, rescaled than corrected', () => {
  const error = (name: string): number => seriesOf('parameters', name).reduce((sum, [x, y]) => sum + (x - y) ** 2, 0);
  expect(error('Newton')).toBeLessThan(error('rescaled'));
  expect(error('rescaled')).toBeLessThan(error('corrected'));
  expect(seriesOf('parameters', 'Newton').map(([x]) => x)).toEqual(seriesOf('parameters', 'corrected').map(([x]) => x));
});

it('evaluation: the loss at Newton’s parameters is nearer to the truth than the linear score', () => {
  const error = (name: string): number =>
    seriesOf('evaluation', name).reduce((sum, [x, y]) => sum + Math.abs(x - y), 0);
  expect(error('Newton')).toBeLessThan(error('linear score'));
});

it.each(LADDERS)('%s: medians fall from published to two Newton steps', (id) => {
  expect(find(id).series.map((s) => s.name)).toEqual(Object.keys(RUNGS));
  const xs = seriesOf(id, 'corrected').map(([x]) => x);
  for (const { points } of find(id).series) expect(points.map(([x]) => x)).toEqual(xs);
  xs.forEach((_, i) => {
    const at = (name: string): number => seriesOf(id, name)[i][1];
    expect(at('nothing')).toBeCloseTo(1, 9);
    expect(at('published')).toBeGreaterThan(1);
    expect(at('corrected')).toBeLessThan(1);
    expect(at('Newton')).toBeLessThan(at('corrected'));
    expect(at('two Newton steps')).toBeLessThan(at('Newton') / 3);
  });
});

it('bounds: all lie above the error but the printed theorem, which lies below it once', () => {
  const below = (name: string): number => seriesOf('bounds', name).filter(([x, y]) => y < x * (1 - 1e-9)).length;
  for (const name of ['Lipschitz', 'self-concordant', 'P1', 'P2', 'P3']) expect(below(name), name).toBe(0);
  expect(below('printed theorem')).toBe(1);
});
