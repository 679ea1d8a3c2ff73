// docs/results.md and its figures are those that cells.json gives.

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { figuresOf } from '../../scripts/reproduce/figures.ts';
import { pageOf } from '../../scripts/reproduce/page.ts';
import { type Results, resultsText } from '../../scripts/reproduce/results.ts';
import { svgOf } from '../../scripts/reproduce/svg.ts';
import { PANEL } from '../../scripts/reproduce/write.ts';
import { page } from './blocks.ts';

const results = JSON.parse(page('docs/results/cells.json')) as Results;
const made = pageOf(results, page('docs/results/notes.md'), [PANEL]);

describe('docs/results.md', () => {
  it('is made of cells.json and notes.md', () => {
    expect(page('docs/results.md')).toBe(made);
    expect(page('docs/results/cells.json')).toBe(resultsText(results));
  });

  it('has the figures that cells.json gives, and shows them all', () => {
    const figures = figuresOf(results);
    expect(figures.length).toBeGreaterThan(6);
    for (const { name, figure } of figures) {
      expect(page(`docs/results/${name}.svg`)).toBe(svgOf(figure));
      expect(made).toContain(`(results/${name}.svg)`);
    }
  });

  it('refers only to files that are there', () => {
    for (const [, file] of made.matchAll(/\]\((results\/[^)]+)\)/g)) {
      expect(existsSync(fileURLToPath(new URL(`../../docs/${file}`, import.meta.url))), file).toBe(true);
    }
  });

  it('has three seeds or more of every experiment, each with its run folder and the hash of its record', () => {
    const seeds = new Map<string, number>();
    for (const { experiment, dataset, result } of results.cells) {
      const key = `${experiment} ${dataset}`;
      seeds.set(key, (seeds.get(key) ?? 0) + 1);
      expect(JSON.stringify(result)).toMatch(/"run":"runs\/[^"]+","sha256":"[0-9a-f]{64}"/);
    }
    expect([...seeds.keys()].map((key) => key.split(' ')[0])).toEqual(
      expect.arrayContaining(['1', '2', '3', '4', '5', '6']),
    );
    for (const [key, count] of seeds) expect(count, key).toBeGreaterThanOrEqual(3);
  });
});
