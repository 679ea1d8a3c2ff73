// docs/equations.md is fresh; claims, `@eq` tags and proofs name each other, and the checker sees where they do not.

import { describe, expect, it } from 'vitest';
import { equationsPage, mismatches, readProofs, readTags, type Tagged, tagsIn } from '../../scripts/gen-equations.ts';
import { CLAIMS } from '../../src/verify/claims/index.ts';
import { page, root } from './blocks.ts';

describe('docs/equations.md', () => {
  const tags = readTags(root);

  it('is fresh', () => {
    expect(page('docs/equations.md') === equationsPage(CLAIMS, tags), 'stale; run `npm run gen`').toBe(true);
  });

  it('joins every claim with a tagged function and a proof, and the reverse', () => {
    expect(mismatches(CLAIMS, tags, readProofs(root))).toEqual([]);
    expect(CLAIMS.length).toBeGreaterThan(40);
  });

  it('finds tags in the functions themselves, not only in the records of the claims', () => {
    expect(tags.filter(({ file }) => file.startsWith('src/ecif/')).length).toBeGreaterThan(25);
  });
});

describe('the checker', () => {
  const claims = [{ id: 'eq-a' }, { id: 'erratum-01-b' }];
  const proofs = ['eq-a', 'erratum-01-b'];
  const tag = (...named: string[]): Tagged => ({ file: 'f.ts', name: 'f', claims: named, deviation: null });
  const good = [tag('eq-a', 'erratum-01-b')];

  it('accepts what fits', () => {
    expect(mismatches(claims, good, proofs)).toEqual([]);
  });

  it.each<[string, string[]]>([
    ['f.ts: @eq eq-c; no such claim', mismatches(claims, [...good, tag('eq-c')], proofs)],
    ['claim eq-a: no tag; write `@eq eq-a` where it is computed', mismatches(claims, [tag('erratum-01-b')], proofs)],
    ['claim eq-a: no proof; write proofs-tests/eq-a.test.ts', mismatches(claims, good, ['erratum-01-b'])],
    [
      'proofs-tests/thm-c.test.ts: no claim; add it to src/verify/claims',
      mismatches(claims, good, [...proofs, 'thm-c']),
    ],
    ['claim eq-a: listed twice; keep one', mismatches([...claims, claims[0]], good, proofs)],
    [
      'f.ts: @eq eq-a above no export; move it to one',
      mismatches(claims, [...good, { ...tag('eq-a'), name: null }], proofs),
    ],
  ])('refuses: %s', (message, found) => {
    expect(found).toEqual([message]);
  });

  it('reads tags of exported names', () => {
    const text = `
/** No tag. */
export const a = 1;
/**
 * What.
 * @eq eq-a
 * @eq erratum-01-b
 * @deviation the other way
 * @param x of it
 */
export async function f(x: number) {}
/** @eq eq-a */
const hidden = 2;
/** @eq eq-a */
export const g: Claim = {};
`;
    expect(tagsIn('f.ts', text)).toEqual([
      { file: 'f.ts', name: 'f', claims: ['eq-a', 'erratum-01-b'], deviation: 'the other way' },
      { file: 'f.ts', name: null, claims: ['eq-a'], deviation: null },
      { file: 'f.ts', name: 'g', claims: ['eq-a'], deviation: null },
    ]);
  });
});
