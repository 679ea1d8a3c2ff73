// CLIP's tokenizer: the reference ids from every form of vocabulary, and bad vocabularies refused.

import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { EcifError } from '../src/array/errors.ts';
import { bytePairs, pairKey } from '../src/models/clip/bpe.ts';
import { bytesFolder, bytesSource } from '../src/models/clip/byte-source.ts';
import { unescapeHtml } from '../src/models/clip/formats/html.ts';
import { checkTokenizer } from '../src/models/clip/formats/vector-checks.ts';
import {
  readHfVocabulary,
  readOpenaiVocabulary,
  readTokenizerJson,
  type Vocabulary,
} from '../src/models/clip/formats/vocabulary.ts';
import { readTokenizer } from '../src/models/clip/hf-directory.ts';
import { cleanText, createTokenizer } from '../src/models/clip/tokenizer.ts';
import { clipVocabularyText } from '../src/data/clip-vocabulary.node.ts';
import { clipVocabulary } from './support/clip-vocabulary.ts';

const vectors = JSON.parse(readFileSync(new URL('./vectors/tokenizer/vectors.json', import.meta.url), 'utf8')) as {
  contextLength: number;
  cases: { text: string; ids: number[] }[];
};
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const source = (name: string, text: string) => bytesSource(name, utf8(text));

let vocabulary: Vocabulary;
beforeAll(async () => {
  vocabulary = await clipVocabulary();
});

const failures = (of: Vocabulary): number =>
  checkTokenizer(vectors, createTokenizer(of)).filter(({ pass }) => !pass).length;

describe('the reference ids', () => {
  it('are found, all of them', () => {
    const results = checkTokenizer(vectors, createTokenizer(vocabulary));
    expect(results).toHaveLength(vectors.cases.length);
    expect(results.filter(({ pass }) => !pass)).toEqual([]);
  });

  it('are not found without merges, with merges in another order, or with other ids', () => {
    expect(failures({ ...vocabulary, ranks: new Map() })).toBeGreaterThan(20);
    const last = vocabulary.ranks.size - 1;
    const backwards = new Map([...vocabulary.ranks].map(([pair, rank]) => [pair, last - rank]));
    expect(failures({ ...vocabulary, ranks: backwards })).toBeGreaterThan(10);
    expect(failures({ ...vocabulary, end: vocabulary.end - 1 })).toBe(vectors.cases.length);
  });

  it('are told apart from altered ones', () => {
    const [first, ...rest] = vectors.cases;
    const altered = { ...vectors, cases: [{ ...first, ids: first.ids.with(2, 7) }, ...rest] };
    const failed = checkTokenizer(altered, createTokenizer(vocabulary)).filter(({ pass }) => !pass);
    expect(failed).toEqual([{ quantity: 'ids "a photo of a cat"', error: 1, tolerance: 0, pass: false }]);
    const shorter = { ...vectors, cases: [{ ...first, ids: first.ids.slice(0, -1) }] };
    expect(checkTokenizer(shorter, createTokenizer(vocabulary))[0].pass).toBe(false);
  });

  it.each([
    ['kind', { ...vectors, kind: 'convex' }, 'vectors.json: kind: found "convex"; give "tokenizer"'],
    ['cases', { ...vectors, cases: [] }, 'vectors.json: cases: found a list of 0'],
    ['ids', { ...vectors, cases: [{ text: 'a', ids: ['1'] }] }, 'vectors.json: cases[0].ids: found a list of 1'],
    ['text', { ...vectors, cases: [{ text: 1, ids: [] }] }, 'vectors.json: cases[0].text: found 1; give a text'],
    ['contextLength', { ...vectors, contextLength: 12 }, 'vectors.json: contextLength: found 12; the tokenizer has 77'],
  ])('in a file with a wrong %s are refused', (_field, json, message) => {
    expect(() => checkTokenizer(json, createTokenizer(vocabulary))).toThrow(message);
  });
});

describe('every form of the vocabulary gives the same ids', () => {
  const isVersion = '#version: 0.2';
  const merges = (): string[] => [...vocabulary.ranks.keys()];
  const vocab = (): Record<string, number> => Object.fromEntries(vocabulary.ids);

  it("OpenAI's, packed", async () => {
    const packed = gzipSync(await clipVocabularyText());
    expect(failures(await readOpenaiVocabulary(bytesSource('bpe.txt.gz', packed)))).toBe(0);
  });

  it('vocab.json and merges.txt, of either end of line', async () => {
    for (const end of ['\n', '\r\n']) {
      const text = [isVersion, ...merges(), ''].join(end);
      const read = await readHfVocabulary(source('vocab.json', JSON.stringify(vocab())), source('merges.txt', text));
      expect(failures(read)).toBe(0);
    }
  });

  it('tokenizer.json, its merges as texts or as lists', async () => {
    const model = { type: 'BPE', end_of_word_suffix: '</w>', vocab: vocab() };
    for (const list of [merges(), merges().map((pair) => pair.split(' '))]) {
      const json = JSON.stringify({ added_tokens: [], model: { ...model, merges: list } });
      expect(failures(await readTokenizerJson(source('tokenizer.json', json)))).toBe(0);
    }
  });

  it('found in a folder, with the token that fills up', async () => {
    const files = {
      'vocab.json': utf8(JSON.stringify(vocab())),
      'merges.txt': utf8([isVersion, ...merges()].join('\n')),
    };
    const plain = await readTokenizer(bytesFolder('m', files), 9);
    expect([...plain.encodeBatch(['a cat', 'a photo of a cat in a hat'])]).toEqual([
      ...[49406, 320, 2368, 49407, 49407, 49407, 49407, 49407, 49407],
      ...[49406, 320, 1125, 539, 320, 2368, 530, 320, 49407],
    ]);
    const special = utf8(JSON.stringify({ pad_token: { content: '!' } }));
    expect((await readTokenizer(bytesFolder('m', { ...files, 'special_tokens_map.json': special }))).pad).toBe(0);
    const wrong = utf8(JSON.stringify({ pad_token: 'no such token' }));
    await expect(readTokenizer(bytesFolder('m', { ...files, 'tokenizer_config.json': wrong }))).rejects.toThrow(
      'm/tokenizer_config.json: pad_token: found "no such token"; give a token of the vocabulary',
    );
    await expect(readTokenizer(bytesFolder('m', {}))).rejects.toThrow('m: tokenizer: no vocabulary in the folder; add');
  });
});

describe('text', () => {
  it.each([
    ['&lt;b&gt; &amp;amp; &notit; &nosuch;', '<b> & ¬it; &nosuch;'],
    ['&#233;&#xe9&#128;&#0;&#xD800;&#x110000;&#1;&#13;&#9;', 'éé€\ufffd\ufffd\ufffd\r\t'],
    ['&NotEqualTilde;&bne;&CounterClockwiseContourIntegral;&ampx', '\u2242\u0338=\u20e5∳&x'],
    ['& &; &# &#x; a&b', '& &; &# &#x; a&b'],
  ])('%j is unescaped as HTML says', (text, plain) => {
    expect(unescapeHtml(unescapeHtml(text))).toBe(plain);
  });

  it('is cleaned: references, white space of every kind, case', () => {
    expect(cleanText('\x1c\u00a0A&amp;lt;B\u0085\u2003\n ΣΑΣ İ\ufeff\t')).toBe('a<b σας i̇\ufeff');
  });

  // Ids by the reference's algorithm in Python, whose pattern ignores case.
  it.each([
    [
      'a long s after an apostrophe, a mark whose capital is a letter',
      "it'ſ a\u0345b!\u0345?",
      [585, 6, 129, 379, 320, 321, 256, 286],
    ],
    ['a special token with a long s', '<|ſtartoftext|>', [27, 91, 129, 123, 2002, 6659, 18169, 91, 285]],
    ['numbers of every kind, one by one', 'Ⅷ½٣ ǅ', [158, 227, 371, 33613, 149, 352, 131, 484]],
    ['contractions in capitals', "WE'LL'S", [649, 1342, 568]],
  ])('has the ids of the reference: %s', (_what, text, ids) => {
    expect(createTokenizer(vocabulary).encode(text)).toEqual([49406, ...ids, 49407]);
  });

  it('of any length is cut to the context, with the end token last', () => {
    const tokenizer = createTokenizer(vocabulary, { contextLength: 5 });
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        const ids = tokenizer.encode(text);
        expect([ids[0], ids.at(-1)]).toEqual([49406, 49407]);
        expect(ids.length).toBeLessThanOrEqual(5);
        expect(ids).toEqual(tokenizer.encode(text));
        expect(ids.every((id) => id >= 0 && id < tokenizer.size)).toBe(true);
      }),
    );
    expect(() => createTokenizer(vocabulary, { contextLength: 2 })).toThrow('contextLength 2; give a whole number ≥ 3');
  });

  it('of a million letters takes seconds, and thousands of words do not confuse the memory of words', () => {
    const tokenizer = createTokenizer(vocabulary);
    expect(tokenizer.encode('ab'.repeat(5e5))).toHaveLength(77);
    const words = Array.from({ length: 20_000 }, (_, i) => `w${i.toString(36)}`);
    const before = words.slice(0, 50).map((word) => tokenizer.encode(word));
    for (const word of words) tokenizer.encode(word);
    expect(words.slice(0, 50).map((word) => tokenizer.encode(word))).toEqual(before);
  });
});

/** Byte pairs the plain way: again and again the first merge that applies, everywhere. */
function plainBytePairs(text: string, ranks: ReadonlyMap<string, number>): string[] {
  let word = text.split('').map((c, i, all) => (i === all.length - 1 ? `${c}</w>` : c));
  for (;;) {
    const pairs = word.slice(1).map((second, i) => pairKey(word[i], second));
    const best = pairs.reduce(
      (a, b) => ((ranks.get(b) ?? Infinity) < (ranks.get(a) ?? Infinity) ? b : a),
      pairs[0] ?? '',
    );
    if (!ranks.has(best)) return word;
    const joined: string[] = [];
    for (let i = 0; i < word.length; i++) {
      const fits = i + 1 < word.length && pairKey(word[i], word[i + 1]) === best;
      joined.push(fits ? word[i] + word[++i] : word[i]);
    }
    word = joined;
  }
}

it('byte pairs are those of the plain method, whatever the merges', () => {
  const symbol = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 3 });
  const pair = fc.tuple(symbol, symbol, fc.boolean()).map(([a, b, end]) => pairKey(a, end ? `${b}</w>` : b));
  const merges = fc.uniqueArray(pair, { maxLength: 40 });
  const words = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(merges, words, (list, word) => {
      const ranks = new Map(list.map((key, i) => [key, i]));
      expect(bytePairs(word, ranks)).toEqual(plainBytePairs(word, ranks));
    }),
    { numRuns: 1000 },
  );
});

describe('a bad vocabulary', () => {
  const tiny = { '<|startoftext|>': 0, '<|endoftext|>': 1, a: 2, 'b</w>': 3, 'ab</w>': 4 };
  const model = { type: 'BPE', end_of_word_suffix: '</w>', vocab: tiny, merges: ['a b</w>'] };
  const whole = JSON.stringify({ added_tokens: [{ id: 0, content: '<|startoftext|>' }], model });
  const read = (text: string): Promise<Vocabulary> => readTokenizerJson(source('t', text));
  const readPair = (vocab: string, merges: string): Promise<Vocabulary> =>
    readHfVocabulary(source('v', vocab), source('m', merges));

  it('is not this one', async () => {
    expect(createTokenizer(await read(whole)).encode('ab zz')).toEqual([0, 4, 1, 1, 1]);
    expect((await readPair(JSON.stringify(tiny), 'a b</w>\n')).ranks.size).toBe(1);
  });

  it.each([
    ['model', { model: 1 }, 't: model: found 1; give an object'],
    ['type', { model: { ...model, type: 'WordPiece' } }, 't: model.type: found "WordPiece"; give "BPE"'],
    ['suffix', { model: { ...model, end_of_word_suffix: '' } }, 't: model.end_of_word_suffix: found ""; give "</w>"'],
    [
      'id',
      { model: { ...model, vocab: { ...tiny, a: -2 } } },
      't: model.vocab "a": found -2; give a whole number in 0',
    ],
    ['merge', { model: { ...model, merges: ['a'] } }, 't: model.merges[0]: found "a"; give two symbols'],
    ['merges', { model: { ...model, merges: {} } }, 't: model.merges: found an object; give a list of pairs'],
    ['result', { model: { ...model, merges: ['a a'] } }, 't: merge 1: "aa" is not in the vocabulary'],
    ['end', { model: { ...model, vocab: { a: 1, 'b</w>': 2, 'ab</w>': 3 } } }, 'token "<|startoftext|>": not in'],
    ['added token', { added_tokens: [{ id: 1 }], model }, 't: added_tokens[0].content: found nothing; give a text'],
  ])('in tokenizer.json is refused: %s', async (_what, json, message) => {
    await expect(read(JSON.stringify(json))).rejects.toThrow(message);
  });

  it('in merges.txt or vocab.json is refused, with its line or token', async () => {
    await expect(readPair(JSON.stringify(tiny), '#version\na b</w>\na b c')).rejects.toThrow(
      'm: line 3: found "a b c"',
    );
    await expect(readPair('{"a":1,"a":2}', '')).rejects.toThrow('v: JSON "a": the key stands there twice');
    await expect(readHfVocabulary(bytesSource('v', Uint8Array.of(255)), source('m', ''))).rejects.toThrow(
      'v: text: found bytes that are not UTF-8',
    );
  });

  it("of OpenAI's form is refused: cut off, not gzip, or a bomb", async () => {
    const packed = gzipSync(await clipVocabularyText());
    const open = (bytes: Uint8Array): Promise<Vocabulary> => readOpenaiVocabulary(bytesSource('g', bytes));
    await expect(open(packed.subarray(0, 1000))).rejects.toThrow('g: gzip: cannot be unpacked');
    await expect(open(Uint8Array.of(0x1f, 0x8b, 1, 2, 3))).rejects.toThrow('g: gzip: cannot be unpacked');
    await expect(open(utf8('#version\na b'))).rejects.toThrow('g: merges: found 1 of 48894; is the file complete?');
    await expect(open(new Uint8Array(0))).rejects.toThrow('g: merges: found 0');
    await expect(open(gzipSync(new Uint8Array(65 * 2 ** 20)))).rejects.toThrow(
      'bytes unpacked; is this the right file?',
    );
  });

  it('made by chance never does worse than an EcifError', async () => {
    const bytes = utf8(whole);
    const change = fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(change, fc.nat(bytes.length), async (changes, cut) => {
        const mutated = changes.reduce((all, [at, value]) => all.with(at, value), bytes);
        for (const one of [mutated, mutated.subarray(0, cut)]) {
          const outcome = await readTokenizerJson(bytesSource('t', one)).then(
            (read) => createTokenizer(read).encode('ab a b'),
            (error: unknown) => error,
          );
          expect(Array.isArray(outcome) || outcome instanceof EcifError).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });
});
