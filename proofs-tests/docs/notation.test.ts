// docs/notation.md names identifiers that the files it links to have.

import { describe, expect, it } from 'vitest';
import { page } from './blocks.ts';

/** Identifiers of a row's second cell, each with the file that follows it, else the last one before. */
function named(cell: string): { identifier: string; file: string }[] {
  return cell.split(/(?<=\.ts\))/).flatMap((part, i, parts) => {
    const file = /\]\(\.\.\/([^)]+)\)/.exec(part)?.[1] ?? /\]\(\.\.\/([^)]+)\)/.exec(parts[i - 1] ?? '')?.[1] ?? '';
    return [...part.matchAll(/`(\w+)`/g)].map((m) => ({ identifier: m[1], file }));
  });
}

/** What does not stand in the file it is said to be in. */
const missing = (rows: readonly string[]): string[] =>
  rows.flatMap((row) =>
    named(row.split('|')[2])
      .filter(({ identifier, file }) => file === '' || !new RegExp(String.raw`\b${identifier}\b`).test(page(file)))
      .map(({ identifier, file }) => `${identifier} in ${file || 'no file'}`),
  );

describe('docs/notation.md', () => {
  const rows = page('docs/notation.md')
    .split('\n')
    .filter((line) => line.startsWith('| ') && line.includes('.ts)'));

  it('names what is there', () => {
    expect(rows.length).toBeGreaterThan(40);
    expect(rows.flatMap((row) => named(row.split('|')[2])).length).toBeGreaterThan(60);
    expect(missing(rows)).toEqual([]);
  });

  it('would see a name that is not', () => {
    expect(missing(['| x | `noSuchName` in [seg.ts](../src/ecif/seg.ts), `Seg` | |'])).toEqual([
      'noSuchName in src/ecif/seg.ts',
    ]);
  });
});
