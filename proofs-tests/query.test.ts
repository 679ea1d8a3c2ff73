// Queries on tables of scores: what they choose, and where they say that something is wrong.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseQuery } from '../src/data/query.ts';

const ROWS = [
  { id: 'a', score: -3, probability: 0.9, caption: 'a red cat' },
  { id: 'b', score: 2, probability: 0.8, caption: 'a dog' },
  { id: 'c', score: null, probability: 0.95, caption: 'a cat' },
  { id: 'd', score: -1, probability: 0.1, caption: 'it’s a cat' },
  { id: 'e', score: -1, probability: 0.6, caption: '' },
];

/** Ids that a query chooses. */
function chosen(text: string, rows: readonly Record<string, string | number | null>[] = ROWS): string {
  const query = parseQuery(text);
  return query
    .choose(rows.map((row) => query.columns.map(({ name }) => row[name] ?? null)))
    .map((i) => rows[i].id)
    .join('');
}

describe('a query', () => {
  it.each([
    ['score < 0', 'ade'],
    ['score <= -1', 'ade'],
    ['score > -1', 'b'],
    ['score >= -1', 'bde'],
    ['score = -1', 'de'],
    ['score != -1', 'ab'],
    ['score < -1e0', 'a'],
    ['SCORE_ > 1', ''],
    ['probability > 0.5 and score < 0', 'ae'],
    ['score < -2 or score > 1', 'ab'],
    ['score < -2 or score > 1 and probability > .85', 'a'],
    ['(score < -2 or score > 1) and probability > .85', 'a'],
    ['(score < -2 OR score > 1) AND NOT (probability > .85)', 'b'],
    ['not not score < 0', 'ade'],
    ["caption contains 'cat'", 'acd'],
    ["caption = ''", 'e'],
    ['caption contains "it’s"', 'd'],
    ['`score` < 0', 'ade'],
    ['lowest 2', 'ad'],
    ['lowest 1', 'a'],
    ['highest 1', 'b'],
    ['highest 2 by probability', 'ac'],
    ['lowest 50%', 'ad'],
    ['lowest 100%', 'abde'],
    ['lowest 10%', ''],
    ['lowest 99', 'abde'],
    ['lowest 1 where probability < 0.7', 'd'],
    ['Lowest 50 % by probability Where score < 0', 'de'],
  ])('%s chooses %s', (text, ids) => {
    expect(chosen(text)).toBe(ids);
  });

  it('chooses nothing by a comparison with a missing value, nor by its opposite', () => {
    expect(chosen('score < 0 or score >= 0')).toBe('abde');
    expect(chosen('not (score < 0)')).toBe('b');
    expect(chosen('score < 0 or probability > 0.9')).toBe('acde');
    expect(chosen('score < 0 and probability < 0')).toBe('');
  });

  it.each([
    ['', 'found its end at character 1; give a column'],
    ['score <', "found its end at character 8; give a number or a 'text'"],
    ['score << 0', `found "<" at character 8; give a number or a 'text'`],
    ['score 0', 'found "0" at character 7; give < <= > >= = != or contains'],
    ['(score < 0', 'found its end at character 11; close the bracket'],
    ['score < 0)', 'found ")" at character 10; go on with and or or'],
    ['score < 0 score > 1', 'found "score" at character 11; go on with and or or'],
    ['score < 0; drop', 'found ";" at character 10; give columns'],
    ["caption = 'cat", `found "'" at character 11; close the quote`],
    ['score < 0 and', 'found its end at character 14; give a column'],
    ['lowest', 'found its end at character 7; give a whole number'],
    ['lowest -3', 'found "-3" at character 8; give a whole number ≥ 1'],
    ['lowest 2.5', 'found "2.5" at character 8; give a whole number ≥ 1'],
    ['lowest 101%', 'found "101" at character 8'],
    ['lowest 0%', 'found "0" at character 8'],
    ['lowest 5 of score', 'found "of" at character 10; go on with where'],
    ['highest 5 by 3', 'found "3" at character 14; give a column'],
    ['score contains 3', `found "3" at character 16; give a 'text'`],
    ["score < 0 and score = 'x'", '"score" is compared with numbers and with texts at character 15'],
    ['score < 3x', `found "3" at character 9`],
    ['score < constructor', 'found "constructor" at character 9'],
    ['score constructor 3', 'found "constructor" at character 7'],
  ])('%s is refused by place', (text, message) => {
    expect(() => parseQuery(text)).toThrow(message);
    expect(() => parseQuery(text)).toThrow(/^query "/);
  });

  it('is refused where it is too long, and says what it looks at', () => {
    expect(() => parseQuery('x'.repeat(1001))).toThrow('1001 letters, at most 1000');
    expect(() => parseQuery(`${'('.repeat(990)}a`)).toThrow('found its end');
    expect(parseQuery("lowest 3 by self where caption != 'x' and self < 1").columns).toEqual([
      { name: 'self', type: 'float64', at: 13 },
      { name: 'caption', type: 'string', at: 24 },
    ]);
  });

  it('takes an end as sorting does, whatever the scores', () => {
    const scores = fc.array(fc.option(fc.integer({ min: -4, max: 4 })), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(scores, fc.integer({ min: 1, max: 12 }), fc.boolean(), (values, n, low) => {
        const rows = values.map((score, i) => ({ id: String.fromCharCode(97 + i), score }));
        const known = rows.filter(({ score }) => score !== null);
        const sorted = known.toSorted((a, b) => (low ? 1 : -1) * ((a.score as number) - (b.score as number)));
        const expected = sorted.slice(0, n).map(({ id }) => id);
        expect(chosen(`${low ? 'lowest' : 'highest'} ${n}`, rows)).toBe(expected.sort().join(''));
      }),
    );
  });
});
