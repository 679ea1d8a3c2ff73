// docs/methods.md defines every method and has every one in both of its printed tables.

import { expect, it } from 'vitest';
import { METHODS } from '../../src/index.ts';
import { page } from './blocks.ts';

const text = page('docs/methods.md');
const printed = [...text.matchAll(/^```\n(?:convex|clip): ([\s\S]*?)^```$/gm)].map((match) => match[1]);

it('has a table of each problem', () => {
  expect(printed).toHaveLength(2);
});

it.each(METHODS.map(({ name }) => name))('has %s', (name) => {
  expect(text).toContain(`\`${name}\``);
  for (const table of printed) expect(table.split('\n').filter((line) => line.startsWith(`${name} `))).toHaveLength(1);
});
