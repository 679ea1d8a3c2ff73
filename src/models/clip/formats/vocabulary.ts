// Vocabularies of CLIP's tokenizer, in the three forms people have them.

import { EcifError } from '../../../array/errors.ts';
import type { ByteSource } from '../byte-source.ts';
import { byteAlphabet, pairKey, WORD_END } from '../bpe.ts';
import { bad, isObject, type Json, objectField, shown, wholeField } from './fields.ts';
import { decodeUtf8, readObject, readText } from './json.ts';

/** Opens every text. */
export const START = '<|startoftext|>';
/** Closes every text. */
export const END = '<|endoftext|>';

/** Tokens, merges and the special tokens. */
export interface Vocabulary {
  /** Name of the file, for messages. */
  readonly source: string;
  /** Id by token. */
  readonly ids: ReadonlyMap<string, number>;
  /** Order of the merges, by pair. */
  readonly ranks: ReadonlyMap<string, number>;
  readonly start: number;
  readonly end: number;
  /** Id of what the vocabulary lacks. */
  readonly unknown: number;
}

/** Merges of OpenAI's file that are used: 49408 tokens less 2 · 256 bytes and 2 special ones. */
const OPENAI_MERGES = 48894;
const LARGEST_TEXT = 64 * 2 ** 20;

type Pair = readonly [string, string];

/** A vocabulary whose parts fit together. */
function assemble(
  source: string,
  ids: ReadonlyMap<string, number>,
  merges: readonly Pair[],
  unknown = END,
): Vocabulary {
  const special = (token: string): number =>
    ids.get(token) ?? bad(source, `token ${shown(token)}`, 'not in the vocabulary', "give CLIP's vocabulary");
  merges.forEach(([first, second], i) => {
    if (ids.has(first + second)) return;
    bad(source, `merge ${i + 1}`, `${shown(first + second)} is not in the vocabulary`, 'give files of one model');
  });
  const ranks = new Map(merges.map(([first, second], i) => [pairKey(first, second), i]));
  return { source, ids, ranks, start: special(START), end: special(END), unknown: special(unknown) };
}

/** The pairs in lines of two symbols each. */
function parseMerges(file: string, lines: readonly string[], firstLine: number): Pair[] {
  return lines.map((line, i) => {
    const [first, second, ...rest] = line.trimEnd().split(' ');
    if (!first || !second || rest.length > 0) {
      bad(file, `line ${firstLine + i}`, `found ${shown(line)}`, 'give two symbols with a space between');
    }
    return [first, second];
  });
}

/** Text of gzip bytes, refused as soon as it grows too large. */
async function gunzip(file: string, bytes: Uint8Array): Promise<string> {
  const unpacked = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new DecompressionStream('gzip'));
  const [parts, reader]: [Uint8Array<ArrayBuffer>[], ReturnType<typeof unpacked.getReader>] = [
    [],
    unpacked.getReader(),
  ];
  let size = 0;
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      parts.push(part.value);
      size += part.value.length;
      if (size > LARGEST_TEXT) bad(file, 'gzip', `more than ${LARGEST_TEXT} bytes unpacked`, 'is this the right file?');
    }
  } catch (error) {
    await reader.cancel().catch(() => undefined);
    if (error instanceof EcifError) throw error;
    bad(file, 'gzip', `cannot be unpacked, ${(error as Error).message}`, 'is the file complete?');
  }
  return decodeUtf8(file, 'text', new Uint8Array(await new Blob(parts).arrayBuffer()));
}

/**
 * The vocabulary of OpenAI's `bpe_simple_vocab_16e6.txt.gz`, or of the text in it.
 * @throws EcifError that names the file and the line
 * @example const vocabulary = await readOpenaiVocabulary(await fileSource('bpe_simple_vocab_16e6.txt.gz'));
 */
export async function readOpenaiVocabulary(source: ByteSource): Promise<Vocabulary> {
  const { name, size } = source;
  const magic = size < 2 ? new Uint8Array(2) : await source.read(0, 2);
  const packed = magic[0] === 0x1f && magic[1] === 0x8b;
  if (packed && size > LARGEST_TEXT) bad(name, 'size', `${size} bytes`, 'is this the right file?');
  const text = packed ? await gunzip(name, await source.read(0, size)) : await readText(source, LARGEST_TEXT);
  const lines = text.split('\n').slice(1, OPENAI_MERGES + 1);
  if (lines.length < OPENAI_MERGES) {
    bad(name, 'merges', `found ${lines.length} of ${OPENAI_MERGES}`, 'is the file complete?');
  }
  const merges = parseMerges(name, lines, 2);
  const tokens = [
    ...byteAlphabet,
    ...byteAlphabet.map((symbol) => symbol + WORD_END),
    ...merges.map(([first, second]) => first + second),
    START,
    END,
  ];
  return assemble(name, new Map(tokens.map((token, id) => [token, id])), merges);
}

/** Ids by token, each a whole number. */
function readIds(file: string, field: string, json: Json): Map<string, number> {
  return new Map(
    Object.entries(json).map(([token, id]) => [token, wholeField(file, `${field}${shown(token)}`, id, 0, 2 ** 24)]),
  );
}

/**
 * The vocabulary in Hugging Face's `vocab.json` and `merges.txt`.
 * @throws EcifError that names the file and the token or line
 */
export async function readHfVocabulary(vocab: ByteSource, merges: ByteSource): Promise<Vocabulary> {
  const ids = readIds(vocab.name, 'token ', await readObject(vocab));
  const lines = (await readText(merges)).split('\n');
  const skipped = lines[0].startsWith('#version') ? 1 : 0;
  if (lines.at(-1)?.trim() === '') lines.pop();
  return assemble(merges.name, ids, parseMerges(merges.name, lines.slice(skipped), skipped + 1));
}

/** Merges of a tokenizer.json: `"a b"` or `["a", "b"]` each. */
function readJsonMerges(file: string, value: unknown): Pair[] {
  if (!Array.isArray(value)) bad(file, 'model.merges', `found ${shown(value)}`, 'give a list of pairs');
  return value.map((merge: unknown, i) => {
    const pair: unknown = typeof merge === 'string' ? merge.split(' ') : merge;
    if (!Array.isArray(pair) || pair.length !== 2 || !pair.every((s) => typeof s === 'string' && s !== '')) {
      bad(file, `model.merges[${i}]`, `found ${shown(merge)}`, 'give two symbols');
    }
    return pair as [string, string];
  });
}

/**
 * The vocabulary in Hugging Face's `tokenizer.json`.
 * @throws EcifError that names the file and the field, also for a tokenizer of another kind than CLIP's
 */
export async function readTokenizerJson(source: ByteSource): Promise<Vocabulary> {
  const { name } = source;
  const json = await readObject(source);
  const model = objectField(name, 'model', json.model);
  if ((model.type ?? 'BPE') !== 'BPE') bad(name, 'model.type', `found ${shown(model.type)}`, 'give "BPE"');
  if (model.end_of_word_suffix !== WORD_END) {
    const found = `found ${shown(model.end_of_word_suffix)}`;
    bad(name, 'model.end_of_word_suffix', found, `give "${WORD_END}", as CLIP's tokenizer has it`);
  }
  const ids = readIds(name, 'model.vocab ', objectField(name, 'model.vocab', model.vocab));
  const added: unknown = json.added_tokens ?? [];
  if (!Array.isArray(added)) bad(name, 'added_tokens', `found ${shown(added)}`, 'give a list');
  added.forEach((token: unknown, i) => {
    const { content, id } = isObject(token) ? token : {};
    if (typeof content !== 'string') bad(name, `added_tokens[${i}].content`, `found ${shown(content)}`, 'give a text');
    ids.set(content, wholeField(name, `added_tokens[${i}].id`, id, 0, 2 ** 24));
  });
  const unknown = typeof model.unk_token === 'string' ? model.unk_token : END;
  return assemble(name, ids, readJsonMerges(name, model.merges), unknown);
}
