// The first k of a stream, against sorting everything.

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as ecif from '../src/index.ts';

const scores = fc.array(fc.integer({ min: -4, max: 4 }), { maxLength: 40 });
const end = fc.constantFrom<ecif.End>('lowest', 'highest');

/** Sorted, cut. */
const sorted = (values: readonly number[], k: number, first: ecif.End): ecif.Scored[] =>
  [...ecif.orderBy(values, first)].slice(0, k).map((index) => ({ index, score: values[index] }));

function collect(items: Iterable<ecif.Scored>, k: number, first: ecif.End): ecif.Scored[] {
  const top = ecif.createTopK(k, first);
  for (const { index, score } of items) top.add(index, score);
  return top.list();
}

describe('the first k of a stream', () => {
  it('are those of a full sort, in whatever order pairs come', () => {
    fc.assert(
      fc.property(scores, fc.nat(12), end, fc.nat(1e6), (values, k, first, seed) => {
        const shuffled = [...ecif.createRng(seed).permutation(values.length)];
        const found = collect(
          shuffled.map((index) => ({ index, score: values[index] })),
          k,
          first,
        );
        expect(found).toEqual(sorted(values, k, first));
      }),
      { seed: 1, numRuns: 500 },
    );
  });

  it('can be looked at on the way', () => {
    const top = ecif.createTopK(2, 'highest');
    top.add(0, 1);
    expect(top.list()).toEqual([{ index: 0, score: 1 }]);
    top.add(1, 3);
    top.add(2, 2);
    expect(top.list().map(({ index }) => index)).toEqual([1, 2]);
    top.add(3, Infinity);
    expect(top.list().map(({ index }) => index)).toEqual([3, 1]);
  });

  it('refuse NaN and a k that is none', () => {
    expect(() => ecif.createTopK(2, 'lowest').add(7, NaN)).toThrow(
      'createTopK: the score of pair 7 is NaN; give a number',
    );
    expect(() => ecif.createTopK(1.5, 'lowest')).toThrow('k = 1.5; give a whole number ≥ 0');
  });
});

describe('merged lists', () => {
  it('are what one collector of all pairs holds', () => {
    fc.assert(
      fc.property(scores, fc.nat(12), end, fc.integer({ min: 1, max: 4 }), (values, k, first, parts) => {
        const lists = Array.from({ length: parts }, (_, part) =>
          collect(
            values.map((score, index) => ({ index, score })).filter(({ index }) => index % parts === part),
            k,
            first,
          ),
        );
        expect(ecif.mergeTopK(lists, k, first)).toEqual(sorted(values, k, first));
      }),
      { seed: 2, numRuns: 300 },
    );
  });

  it('that share a pair are refused', () => {
    const list = [{ index: 3, score: 1 }];
    expect(() => ecif.mergeTopK([list, list], 1, 'lowest')).toThrow('mergeTopK: pair 3 is there twice');
  });
});
