// Pictures, lists, vocabulary and settings of the small CLIP, written to the cache.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clipConfig, MERGES, preprocessConfig, tokenizerConfig } from './config.ts';
import { type Concept, drawPairs, HELD_OUT, readConcepts } from './emoji.ts';
import { TRAINED } from './vendors.ts';
import { learnVocabulary } from './vocabulary.ts';

/** What is in the cache. */
export interface Prepared {
  readonly concepts: readonly Concept[];
  /** List of the pairs to train on. */
  readonly trained: string;
  /** List of the pairs that are kept out. */
  readonly heldOut: string;
  /** `config.json`, with the tokenizer beside it. */
  readonly config: string;
}

/**
 * Prepares everything that training needs.
 * @param most concepts to take, evenly spread; all unless told
 */
export async function prepare(cache: string, most = Infinity): Promise<Prepared> {
  const all = readConcepts(join(cache, 'packages'));
  const step = Math.max(1, all.length / most);
  const concepts = all.filter((_, i) => Math.floor(i / step) !== Math.floor((i - 1) / step));
  const [pictures, start] = [join(cache, 'pairs'), join(cache, 'start')];
  const vendors = TRAINED.map(({ name }) => name);
  const trained = await drawPairs(pictures, 'trained.csv', concepts, vendors);
  const heldOut = await drawPairs(pictures, 'held-out.csv', concepts, [HELD_OUT]);
  const vocabulary = learnVocabulary(
    concepts.map(({ name }) => name),
    MERGES,
  );
  mkdirSync(start, { recursive: true });
  const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
  const files = {
    'config.json': json(clipConfig(vocabulary.size)),
    'preprocessor_config.json': json(preprocessConfig),
    'tokenizer_config.json': json(tokenizerConfig),
    'vocab.json': vocabulary.vocab,
    'merges.txt': vocabulary.merges,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(start, name), text);
  return { concepts, trained, heldOut, config: join(start, 'config.json') };
}
