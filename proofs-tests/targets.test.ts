// Evaluation targets: value and gradient of the mean loss of chosen pairs, against differences of plain sums.
import { describe, expect, it } from 'vitest';
import { dot } from '../src/array/vector.ts';
import { Flat } from '../src/autodiff/flat.ts';
import { CpuDevice } from '../src/device/cpu.ts';
import { targetGradients } from '../src/ecif/targets.ts';
import type { Adapter } from '../src/models/clip/lora.ts';
import { embedded } from '../src/models/model.ts';
import { tinyClip } from './support/tiny-clip.ts';

const device = new CpuDevice();
const { loss, start } = tinyClip(device, { partitions: 2 });
const flat = new Flat(start);

/** Mean over partitions and rows of LSE(row) + LSE(column) − 2·S_kk, by loops. */
async function plainMean(theta: Adapter, rows: ReadonlySet<number> | null): Promise<number> {
  let [total, count] = [0, 0];
  for (const members of loss.partitions.flat()) {
    const s = await embedded(loss.model, theta, await loss.batch(members)).s.data();
    const n = members.length;
    for (let k = 0; k < n; k++) {
      if (rows !== null && !rows.has(members[k])) continue;
      let [row, column] = [0, 0];
      for (let j = 0; j < n; j++) [row, column] = [row + Math.exp(s[k * n + j]), column + Math.exp(s[j * n + k])];
      total += Math.log(row) + Math.log(column) - 2 * s[k * n + k];
      count++;
    }
  }
  return total / count;
}

describe('targets', () => {
  it('are the mean losses of their pairs, and their gradients', async () => {
    const targets = [
      { name: 'all', rows: null },
      { name: 'some', rows: new Set([1, 4, 6]) },
      { name: 'one', rows: new Set([3]) },
    ];
    const found = await targetGradients(loss, start, targets);
    expect(found.map(({ name, pairs }) => [name, pairs])).toEqual([
      ['all', 8],
      ['some', 3],
      ['one', 1],
    ]);
    const [at, step] = [await flat.toVector(start), 1e-5];
    const direction = at.map((_, i) => Math.sin(5 * i + 1));
    const moved = (h: number): Adapter => flat.toTree(at.map((x, i) => x + h * direction[i]));
    const slopes: number[] = [];
    for (const [i, { rows }] of targets.entries()) {
      expect(found[i].value).toBeCloseTo(await plainMean(start, rows), 10);
      const difference = ((await plainMean(moved(step), rows)) - (await plainMean(moved(-step), rows))) / (2 * step);
      const slope = dot(await flat.toVector(found[i].gradient), direction);
      expect(Math.abs(slope - difference)).toBeLessThan(1e-6 * Math.abs(difference));
      slopes.push(slope);
    }
    // Different targets have different gradients, so that each check above could fail.
    expect(Math.abs(slopes[0] - slopes[1])).toBeGreaterThan(1e-3 * Math.abs(slopes[0]));
    expect(Math.abs(slopes[1] - slopes[2])).toBeGreaterThan(1e-3 * Math.abs(slopes[1]));
  });

  it('without a pair are refused by name', async () => {
    await expect(targetGradients(loss, start, [{ name: 'none of it', rows: new Set([99]) }])).rejects.toThrow(
      'target "none of it": no pair',
    );
  });
});
