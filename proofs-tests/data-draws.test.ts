// What is drawn of a dataset: some of each class, batches without two of a class, captions made wrong, each by its seed.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EcifError } from '../src/array/errors.ts';
import { createRng } from '../src/array/rng.ts';
import { captionOf, type Dataset, type DatasetRow, withPrompts } from '../src/data/dataset.ts';
import { labelsIn } from '../src/data/noise-labels.ts';
import { drawTrades, type NoiseKind, traded } from '../src/data/noise.ts';
import { drawPartition } from '../src/data/partitions.ts';
import { crowdOf, drawDistinct, partitionDrawer } from '../src/data/sampler.ts';
import { drawSome, fewShot } from '../src/data/select.ts';

/** Rows with a class and a caption each. */
const rowsOf = (classes: readonly number[], captions: readonly number[] = classes.map((_, i) => i)): DatasetRow[] =>
  classes.map((label, i) => ({ id: `p${i}`, image: `${i}.png`, label: `c${label}`, caption: `t${captions[i]}` }));

/** How often each value is there. */
function counts(values: readonly (string | null)[]): Map<string | null, number> {
  const found = new Map<string | null, number>();
  for (const value of values) found.set(value, (found.get(value) ?? 0) + 1);
  return found;
}

const classes = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 2, maxLength: 60 });
const seed = fc.integer({ min: 0, max: 2 ** 32 - 1 });

describe('few shots', () => {
  it('are as many different pairs of each class, in their order, by the seed', () => {
    fc.assert(
      fc.property(classes, seed, (labels, s) => {
        const rows = rowsOf(labels);
        const sizes = counts(rows.map(({ label }) => label));
        const shots = Math.min(...sizes.values());
        const chosen = fewShot(createRng(s), rows, shots);
        expect(chosen).toEqual([...new Set(chosen)].sort((a, b) => a - b));
        const found = counts(chosen.map((row) => rows[row].label));
        expect(new Set(found.keys())).toEqual(new Set(sizes.keys()));
        expect(new Set(found.values())).toEqual(new Set([shots]));
        expect(fewShot(createRng(s), rows, shots)).toEqual(chosen);
        expect(() => fewShot(createRng(s), rows, shots + 1)).toThrow(
          `has ${shots} of ${shots + 1} pairs; give ${shots} at most, or add pairs`,
        );
      }),
    );
  });

  it('change with the seed, and take every pair in its turn', () => {
    const rows = rowsOf(Array.from({ length: 20 }, (_, i) => i % 2));
    const met = new Set(Array.from({ length: 40 }, (_, s) => fewShot(createRng(s), rows, 3)).flat());
    expect(met.size).toBe(20);
  });

  it('need labels', () => {
    const rows = [{ id: 'x', image: 'x', caption: 'x', label: null }];
    expect(() => fewShot(createRng(0), rows, 1)).toThrow('shots: pair "x" has no label; add a column label');
  });

  it('some of all are different ones in their order', () => {
    const some = drawSome(createRng(3), 100, 10);
    expect(some).toEqual([...new Set(some)].sort((a, b) => a - b));
    expect(some).toHaveLength(10);
    expect(drawSome(createRng(4), 100, 10)).not.toEqual(some);
  });
});

describe('batches without two of a class', () => {
  const batchSize = fc.integer({ min: 1, max: 12 });

  it('hold every pair once, in the sizes of random ones, and no class twice where it fits', () => {
    fc.assert(
      fc.property(classes, batchSize, seed, (labels, size, s) => {
        const names = labels.map(String);
        const batches = drawDistinct(createRng(s), names, size);
        expect(batches.flatMap((rows) => [...rows]).sort((a, b) => a - b)).toEqual([...labels.keys()]);
        const sizes = (partition: typeof batches): number[] =>
          partition.map(({ length }) => length).sort((a, b) => a - b);
        expect(sizes(batches)).toEqual(sizes(drawPartition(createRng(s), labels.length, size)));
        const totals = counts(names);
        for (const rows of batches) {
          for (const [name, many] of counts([...rows].map((row) => names[row]))) {
            expect(many).toBeLessThanOrEqual(Math.ceil((totals.get(name) as number) / batches.length));
          }
        }
        expect(drawDistinct(createRng(s), names, size)).toEqual(batches);
      }),
    );
  });

  it('random ones do hold classes twice', () => {
    const names = Array.from({ length: 40 }, (_, i) => String(i % 10));
    const twice = (batches: readonly Uint32Array[]): number =>
      batches.filter((rows) => new Set([...rows].map((row) => names[row])).size < rows.length).length;
    expect(twice(drawDistinct(createRng(1), names, 10))).toBe(0);
    expect(twice(drawPartition(createRng(1), 40, 10))).toBeGreaterThan(0);
  });

  it('bring together any two pairs of different classes, by their seeds', () => {
    const names = Array.from({ length: 12 }, (_, i) => String(i % 4));
    const met = new Set<string>();
    for (let s = 0; s < 200; s++) {
      for (const rows of drawDistinct(createRng(s), names, 3)) {
        for (const a of rows) for (const b of rows) if (a < b) met.add(`${a} ${b}`);
      }
    }
    expect(met.size).toBe((12 * 9) / 2);
  });

  it('say which class is too large, and take captions for classes where there are none', () => {
    expect(crowdOf(['a', 'b', 'b', 'b'], 2)).toEqual({ name: 'b', pairs: 3, batches: 2, together: 2 });
    expect(crowdOf(['a', 'b', 'a', 'b'], 2)).toBeNull();
    const rows = [0, 0, 1, 1].map((t, i) => ({ id: `${i}`, image: `${i}`, label: null, caption: `t${t}` }));
    for (const batch of partitionDrawer('distinct', rows, 2)(createRng(5))) {
      expect(new Set([...batch].map((row) => rows[row].caption)).size).toBe(2);
    }
  });
});

describe('captions that are traded', () => {
  const share = fc.integer({ min: 0, max: 16 }).map((n) => n / 16);
  const kind = fc.constantFrom<NoiseKind>('across', 'within');

  /** Whether any permutation moves exactly so many pairs as the kind asks, found by trying all of them. */
  function possible(rows: readonly DatasetRow[], many: number, which: NoiseKind): boolean {
    const allowed = (a: DatasetRow, b: DatasetRow): boolean =>
      which === 'across' ? a.label !== b.label : a.label === b.label && a.caption !== b.caption;
    const taken = new Set<number>();
    const place = (row: number, left: number): boolean => {
      if (left > rows.length - row) return false;
      if (row === rows.length) return left === 0;
      for (let donor = 0; donor < rows.length; donor++) {
        if (taken.has(donor) || (donor !== row && !allowed(rows[row], rows[donor]))) continue;
        taken.add(donor);
        const found = place(row + 1, left - (donor === row ? 0 : 1));
        taken.delete(donor);
        if (found) return true;
      }
      return false;
    };
    return place(0, many);
  }

  it('are a permutation that moves exactly the share, each to a pair it may come from', () => {
    fc.assert(
      fc.property(classes, share, kind, seed, (labels, of, which, s) => {
        const rows = rowsOf(labels);
        let donors: Uint32Array;
        try {
          donors = drawTrades(createRng(s), rows, of, which);
        } catch (error) {
          expect((error as Error).message).toMatch(/^noise: \d+ of \d+ pairs cannot trade captions .*; give a/);
          return;
        }
        expect([...donors].sort((a, b) => a - b)).toEqual([...rows.keys()]);
        expect(donors.filter((donor, row) => donor !== row)).toHaveLength(Math.round(of * rows.length));
        const after = traded(rows, donors);
        donors.forEach((donor, row) => {
          expect(after[row]).toEqual({ ...rows[row], caption: rows[donor].caption, label: rows[donor].label });
          if (donor === row) return;
          expect(rows[donor].label === rows[row].label).toBe(which === 'within');
          expect(after[row].caption).not.toBe(rows[row].caption);
        });
        expect(drawTrades(createRng(s), rows, of, which)).toEqual(donors);
      }),
    );
  });

  it('are refused only where no permutation would do, by trying all of them on few pairs', () => {
    let [made, refused] = [0, 0];
    const few = fc.array(fc.tuple(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 0, max: 2 })), {
      minLength: 2,
      maxLength: 7,
    });
    fc.assert(
      fc.property(few, fc.integer({ min: 1, max: 7 }), kind, seed, (pairs, many, which, s) => {
        fc.pre(many <= pairs.length);
        const rows = rowsOf(
          pairs.map(([label]) => label),
          pairs.map(([, caption]) => caption),
        );
        let done = true;
        try {
          drawTrades(createRng(s), rows, many / rows.length, which);
        } catch {
          done = false;
        }
        expect(done).toBe(possible(rows, many, which));
        if (done) made++;
        else refused++;
      }),
      { numRuns: 400 },
    );
    expect(Math.min(made, refused)).toBeGreaterThan(50);
  });

  it('differ by seed, and reach every pair', () => {
    const rows = rowsOf(Array.from({ length: 30 }, (_, i) => i % 3));
    const moved = Array.from({ length: 60 }, (_, s) => drawTrades(createRng(s), rows, 0.2, 'across'));
    const met = new Set(moved.flatMap((donors) => [...donors.keys()].filter((row) => donors[row] !== row)));
    expect(met.size).toBe(30);
    expect(new Set(moved.map(String)).size).toBe(60);
  });

  it('say what can be done where they cannot', () => {
    const rows = rowsOf([0, 0, 0, 1]);
    expect(() => drawTrades(createRng(0), rows, 1, 'across')).toThrow(
      'noise: 4 of 4 pairs cannot trade captions across classes, at most 2 can; give a smaller share',
    );
    expect(() => drawTrades(createRng(0), rows, 0.01, 'across')).toThrow('noise: 0 of 4 pairs cannot trade');
    const same = rowsOf([0, 0, 1, 1], [5, 5, 6, 6]);
    expect(() => drawTrades(createRng(0), same, 0.5, 'within')).toThrow('at most 0 can; give a smaller share');
    const bare = [{ id: 'x', image: 'x', caption: 'x', label: null }];
    expect(() => drawTrades(createRng(0), bare, 0.5, 'within')).toThrow(
      'pair "x" has no label; add one, or trade across',
    );
  });
});

describe('labels of a file', () => {
  const dataset: Dataset = {
    ...{ source: 'd', rows: rowsOf([0, 1, 0]), classes: ['c0', 'c1'] },
    picture: () => Promise.reject(new Error('none')),
  };

  it.each([
    ['lines of numbers', '1\n0\r\n1\n'],
    ['lines of names', 'c1\nc0\nc1'],
    ['a list', '[1, "c0", "1"]'],
    ['an object by id', '{"p2": 1, "p0": "c1", "p1": 0}'],
  ])('are %s', (_, text) => {
    expect(labelsIn('n', text, dataset)).toEqual(['c1', 'c0', 'c1']);
  });

  it.each([
    ['1\n0\n', 'n: 2 labels of 3 pairs in d; give one for each'],
    ['1\n7\n0\n', 'n: label 2: found "7"; give one of 2 classes, or its number'],
    ['1\n\n0\n', 'n: label 2: found ""; give one of 2 classes, or its number'],
    ['[1, null, 0]', 'n: label 2: found null; give one of 2 classes, or its number'],
    ['{"p0": 1}', 'n: pair "p1": found nothing; give one of 2 classes, or its number'],
    ['[1', 'n: no JSON; give one label a line, a list of labels, or an object from id to label'],
  ])('%j is told in one line', (text, message) => {
    expect(() => labelsIn('n', text, dataset)).toThrow(new EcifError(message));
  });
});

describe('prompts of classes', () => {
  it('are one template, or drawn from several by the seed; captions stay', () => {
    const rows = Array.from({ length: 40 }, (_, i) => ({
      ...{ id: `${i}`, image: `${i}`, label: 'tabby_cat', caption: i === 7 ? 'mine' : null },
    }));
    const templates = ['a {}', 'the {}', 'one {}'];
    const drawn = withPrompts(rows, templates, createRng(2)).map(({ caption }) => caption);
    expect(new Set(drawn)).toEqual(new Set(['mine', ...templates.map((t) => captionOf(t, 'tabby_cat'))]));
    expect(drawn[7]).toBe('mine');
    expect(withPrompts(rows, templates, createRng(2)).map(({ caption }) => caption)).toEqual(drawn);
    expect(withPrompts(rows, templates, createRng(3)).map(({ caption }) => caption)).not.toEqual(drawn);
  });
});
