// npm run reproduce on tiny data: every part of a removal and a detection, kept and found again, and a page made of it.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pageOf } from '../scripts/reproduce/page.ts';
import { collect } from '../scripts/reproduce/results.ts';
import { type Asked, runExperiments } from '../scripts/reproduce/run.ts';
import { COMPARED, type Sizes } from '../scripts/reproduce/settings.ts';
import type { Detection } from '../scripts/reproduce/experiments/detection.ts';
import type { Utility } from '../scripts/reproduce/experiments/utility.ts';
import { openDevice } from '../src/device/open.ts';
import { temporaryFolder, writeBase } from './support/shapes.ts';

const TINY: Sizes = {
  ...{ emoji: 8, ofClass: 1, epochs: 1, noise: [0.5], valuable: [0.5], harmful: [0.5], several: [0.2], queries: 1 },
  ...{ decay: 100, tolerance: 1e-3, iterations: 300, newtonSteps: 20 },
};

/** Twelve shapes cut in three lists where the command expects emoji, and a tiny CLIP. */
async function writeTiny(out: string): Promise<string> {
  const place = join(out, 'data', 'emoji');
  mkdirSync(place, { recursive: true });
  const { data, model } = await writeBase(place);
  const [, ...rows] = readFileSync(data, 'utf8').trim().split('\n');
  const write = (name: string, some: readonly string[]): void =>
    writeFileSync(join(place, `${name}.csv`), `image,caption,id,label\n${some.join('\n')}\n`);
  write('pool', rows.slice(0, 8));
  write('validation', rows.slice(4));
  write('test', rows.slice(2));
  return model;
}

describe('npm run reproduce', () => {
  it(
    'trains, edits and trains again, keeps what is finished, and makes a page of it',
    { timeout: 120_000 },
    async () => {
      const out = temporaryFolder();
      const model = await writeTiny(out);
      const device = await openDevice({ kind: 'cpu' });
      const lines: string[] = [];
      const progress = { line: (text: string) => void lines.push(text), status: () => undefined };
      const asked: Asked = {
        only: [1, 3, 7],
        datasets: ['emoji'],
        seeds: [1],
        size: 'tiny',
        sizes: TINY,
        model,
        out,
        cifar10n: undefined,
      };
      const cells = await runExperiments(asked, device, progress);
      const [cell, found] = cells;
      expect(lines.some((line) => line.includes('experiment 7 (human) is left out: CIFAR-10N'))).toBe(true);
      const { base, removals } = cell.result as Utility;
      const record = JSON.parse(readFileSync(join(out, 'tiny', base.run, 'run.json'), 'utf8')) as {
        dataset: { pairs: number };
      };
      expect(record.dataset.pairs).toBe(8);
      for (const { retrained, edits } of Object.values(removals)) {
        expect(retrained.about.pairs).toBe(7);
        // A Newton step is nearer to training again than doing nothing, whose error is 1.
        expect(edits.newton.error).toBeLessThan(1);
      }

      const { wrong, detect, methods } = (found.result as Detection)['50'];
      expect(wrong).toBe(4);
      expect(Object.keys(methods)).toEqual([...COMPARED]);
      // Two ways to the same number: the signal of `ecif detect`, and the method of that name.
      expect(detect.clipscore.auroc).toBeCloseTo(methods.clipscore.auroc, 12);

      expect(await runExperiments(asked, device, progress)).toEqual(cells);
      expect(lines.at(-1)).toContain('kept from an earlier run');
      const other = runExperiments({ ...asked, sizes: { ...TINY, epochs: 2 } }, device, progress);
      await expect(other).rejects.toThrow('1-emoji-1.json: of other settings');

      const page = pageOf(collect(join(out, 'tiny')), '<!-- intro -->\nwords of people\n', []);
      expect(page).toContain('words of people');
      expect(page).toContain('| harmful, newton |');
      expect(page).toContain(`${(100 * removals.random.retrained.measures.accuracy).toFixed(1)}`);
    },
  );
});
