// A small vocabulary in the form of CLIP's: byte pairs joined in the order of how often they stand together.

import { byteAlphabet, bytePairs, WORD_END } from '../../src/models/clip/bpe.ts';
import { END, START } from '../../src/models/clip/formats/vocabulary.ts';
import { cleanText } from '../../src/models/clip/tokenizer.ts';

/** Contents of `vocab.json` and `merges.txt`. */
export interface VocabularyFiles {
  readonly size: number;
  readonly vocab: string;
  readonly merges: string;
}

/** How often each word stands in the captions, as symbols of single bytes. */
function wordsOf(captions: readonly string[]): { symbols: string[]; count: number }[] {
  const counts = new Map<string, number>();
  for (const caption of captions) {
    for (const [word] of cleanText(caption).matchAll(/\p{L}+|\p{N}|[^\p{White_Space}\p{L}\p{N}]+/gu)) {
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
  }
  return [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([word, count]) => ({ symbols: bytePairs(word, new Map()), count }));
}

/** The pair that stands together most often; the first in order of its text among equals. */
function bestPair(words: readonly { symbols: readonly string[]; count: number }[]): { pair: string; count: number } {
  const counts = new Map<string, number>();
  for (const { symbols, count } of words) {
    for (let i = 0; i + 1 < symbols.length; i++) {
      const pair = `${symbols[i]} ${symbols[i + 1]}`;
      counts.set(pair, (counts.get(pair) ?? 0) + count);
    }
  }
  let best = { pair: '', count: 0 };
  for (const [pair, count] of counts) {
    if (count > best.count || (count === best.count && pair < best.pair)) best = { pair, count };
  }
  return best;
}

/** The symbols with every such pair joined. */
function joined(symbols: readonly string[], pair: string): string[] {
  const out: string[] = [];
  for (const symbol of symbols) {
    if (out.length > 0 && `${out[out.length - 1]} ${symbol}` === pair) out[out.length - 1] += symbol;
    else out.push(symbol);
  }
  return out;
}

/**
 * Learns a vocabulary from captions.
 * @param merges pairs to join at most; pairs that stand together once are left apart
 */
export function learnVocabulary(captions: readonly string[], merges: number): VocabularyFiles {
  let words = wordsOf(captions);
  const pairs: string[] = [];
  while (pairs.length < merges) {
    const { pair, count } = bestPair(words);
    if (count < 2) break;
    pairs.push(pair);
    words = words.map((word) => ({ ...word, symbols: joined(word.symbols, pair) }));
  }
  const tokens = [
    ...byteAlphabet,
    ...byteAlphabet.map((symbol) => symbol + WORD_END),
    ...pairs.map((pair) => pair.replace(' ', '')),
    START,
    END,
  ];
  return {
    size: tokens.length,
    vocab: `${JSON.stringify(Object.fromEntries(tokens.map((token, id) => [token, id])))}\n`,
    merges: `#version: 0.2\n${pairs.map((pair) => `${pair}\n`).join('')}`,
  };
}
