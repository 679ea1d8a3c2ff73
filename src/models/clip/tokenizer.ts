// CLIP's tokenizer: text cleaned, split into words, each encoded as byte pairs, as OpenAI's does it.

import { EcifError } from '../../array/errors.ts';
import { bytePairs } from './bpe.ts';
import { unescapeHtml } from './formats/html.ts';
import { END, START, type Vocabulary } from './formats/vocabulary.ts';

/**
 * Special tokens, contractions, words, digits one by one, and runs of everything else. The reference ignores case, even
 * in lower case: ſ counts as an s, and U+0345, a mark whose capital is a letter, as nothing.
 */
const WORDS =
  /<\|[sſ]tartoftext\|>|<\|endoftext\|>|'(?:[sſtmd]|re|ve|ll)|\p{L}+|\p{N}|[^\p{White_Space}\p{L}\p{N}\u0345]+/gu;
const BLANKS = /\p{White_Space}+/gu;
// Python's strip takes the four separators of ASCII as well.
// oxlint-disable-next-line no-control-regex
const EDGES = /^[\p{White_Space}\u001c-\u001f]+|[\p{White_Space}\u001c-\u001f]+$/gu;

/** Words remembered, and the longest of them. */
const CACHE = { words: 8192, letters: 64 };

/** Settings of {@link createTokenizer}. */
export interface TokenizerOptions {
  /** Longest text in tokens, with its first and last; 77 unless told. */
  readonly contextLength?: number;
  /** Id that fills up shorter texts; 0 unless told, as OpenAI has it. */
  readonly pad?: number;
}

/** Texts to token ids. */
export interface Tokenizer {
  readonly contextLength: number;
  readonly start: number;
  readonly end: number;
  readonly pad: number;
  /** One more than the largest id. */
  readonly size: number;
  /** Ids of a text from start to end token; a text too long is cut, and ends with the end token all the same. */
  encode(text: string): number[];
  /** Rows of `contextLength` ids, one per text, filled up with `pad`. */
  encodeBatch(texts: readonly string[]): Int32Array;
}

/**
 * Text as the tokenizer sees it: character references replaced (twice), white space made single, lower case.
 * @example cleanText('  A&amp;B\n'); // 'a&b'
 */
export function cleanText(text: string): string {
  const plain = unescapeHtml(unescapeHtml(text)).replace(EDGES, '');
  return plain.replace(BLANKS, ' ').replace(EDGES, '').toLowerCase();
}

/** Ids of words, the last few thousand remembered. */
function wordEncoder({ ids, ranks, unknown, start, end }: Vocabulary): (word: string) => readonly number[] {
  const special = new Map<string, readonly number[]>([
    [START, [start]],
    [END, [end]],
  ]);
  const cache = new Map<string, readonly number[]>();
  return (word) => {
    const known = special.get(word) ?? cache.get(word);
    if (known !== undefined) return known;
    const found = bytePairs(word, ranks).map((symbol) => ids.get(symbol) ?? unknown);
    if (word.length <= CACHE.letters) {
      if (cache.size >= CACHE.words)
        for (const oldest of [...cache.keys()].slice(0, CACHE.words / 2)) cache.delete(oldest);
      cache.set(word, found);
    }
    return found;
  };
}

/**
 * CLIP's tokenizer over a vocabulary.
 * @throws EcifError for a context length that holds no token between start and end
 * @example
 * const tokenizer = createTokenizer(await readOpenaiVocabulary(source));
 * tokenizer.encode('a photo of a cat'); // [49406, 320, 1125, 539, 320, 2368, 49407]
 */
export function createTokenizer(vocabulary: Vocabulary, options: TokenizerOptions = {}): Tokenizer {
  const { contextLength = 77, pad = 0 } = options;
  if (!Number.isInteger(contextLength) || contextLength < 3) {
    throw new EcifError(`createTokenizer: contextLength ${contextLength}; give a whole number ≥ 3`);
  }
  const { start, end } = vocabulary;
  const encodeWord = wordEncoder(vocabulary);
  const encode = (text: string): number[] => {
    const found = [start];
    for (const [word] of cleanText(text).matchAll(WORDS)) {
      for (const id of encodeWord(word)) {
        if (found.length === contextLength - 1) return [...found, end];
        found.push(id);
      }
    }
    return [...found, end];
  };
  const encodeBatch = (texts: readonly string[]): Int32Array => {
    const rows = new Int32Array(texts.length * contextLength).fill(pad);
    texts.forEach((text, i) => rows.set(encode(text), i * contextLength));
    return rows;
  };
  const size = [...vocabulary.ids.values()].reduce((most, id) => Math.max(most, id + 1), 0);
  return { contextLength, start, end, pad, size, encode, encodeBatch };
}
