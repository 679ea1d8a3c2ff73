// A CLIP model as Hugging Face keeps it: a folder of settings, weights, tokenizer and preprocessing; and its adapters.

import type { ByteFolder, ByteSource } from './byte-source.ts';
import { type ClipConfig, clipShapes } from './config.ts';
import { parseClipConfig } from './config-parse.ts';
import { bad, isObject, shown } from './formats/fields.ts';
import { parseObject, readObject, readText } from './formats/json.ts';
import { parsePreprocessConfig } from './formats/preprocess-config.ts';
import { openShards } from './formats/safetensors-shards.ts';
import {
  END,
  readHfVocabulary,
  readOpenaiVocabulary,
  readTokenizerJson,
  type Vocabulary,
} from './formats/vocabulary.ts';
import { parsePeftConfig, type PeftSettings } from './lora-peft.ts';
import { clipPreprocess, type PreprocessConfig } from './preprocess.ts';
import { openSafetensors, requireTensors, type Safetensors } from './safetensors.ts';
import { createTokenizer, type Tokenizer } from './tokenizer.ts';

const LARGEST_CONFIG = 2 ** 20;
const OPENAI_VOCABULARY = ['bpe_simple_vocab_16e6.txt.gz', 'bpe_simple_vocab_16e6.txt'];

/** A file that must be there. */
async function need(folder: ByteFolder, file: string, fix: string): Promise<ByteSource> {
  return (await folder.open(file)) ?? bad(folder.name, file, 'not in the folder', fix);
}

/** Text of a file of settings that must be JSON without a key twice. */
async function settingsText(source: ByteSource): Promise<string> {
  const text = await readText(source, LARGEST_CONFIG);
  parseObject(source.name, text);
  return text;
}

/**
 * The sizes of the model, from `config.json`.
 * @throws EcifError that names the file and the field
 */
export async function readClipConfig(folder: ByteFolder): Promise<ClipConfig> {
  const source = await need(folder, 'config.json', 'name the folder of a CLIP model');
  return parseClipConfig(source.name, await settingsText(source));
}

/**
 * The weights, from `model.safetensors` or the files that `model.safetensors.index.json` names; no tensor is read yet.
 * @throws EcifError that names the file, and the tensor if it is one that is wrong
 */
export async function openClipWeights(folder: ByteFolder): Promise<Safetensors> {
  const single = await folder.open('model.safetensors');
  if (single !== null) return openSafetensors(single);
  const index = await folder.open('model.safetensors.index.json');
  if (index !== null) return openShards(folder, index);
  bad(
    folder.name,
    'model.safetensors',
    'not in the folder',
    'download it, or convert pytorch_model.bin to safetensors',
  );
}

/** The vocabulary in whichever files hold one. */
async function readVocabulary(folder: ByteFolder): Promise<Vocabulary> {
  const [vocab, merges] = [await folder.open('vocab.json'), await folder.open('merges.txt')];
  if (vocab !== null && merges !== null) return readHfVocabulary(vocab, merges);
  const whole = await folder.open('tokenizer.json');
  if (whole !== null) return readTokenizerJson(whole);
  for (const name of OPENAI_VOCABULARY) {
    const source = await folder.open(name);
    if (source !== null) return readOpenaiVocabulary(source);
  }
  const fix = `add vocab.json and merges.txt, tokenizer.json or ${OPENAI_VOCABULARY[0]}`;
  bad(folder.name, 'tokenizer', 'no vocabulary in the folder', fix);
}

/** The token that fills up, where a file names one; the end token where none does, as Hugging Face has it. */
async function padOf(folder: ByteFolder, { ids, end }: Vocabulary): Promise<number> {
  for (const file of ['special_tokens_map.json', 'tokenizer_config.json']) {
    const source = await folder.open(file);
    if (source === null) continue;
    const { pad_token: token } = await readObject(source);
    const text = isObject(token) ? token.content : token;
    if (text == null || text === END) continue;
    const id = typeof text === 'string' ? ids.get(text) : undefined;
    return id ?? bad(source.name, 'pad_token', `found ${shown(text)}`, 'give a token of the vocabulary');
  }
  return end;
}

/**
 * The tokenizer of a folder: `vocab.json` with `merges.txt`, `tokenizer.json`, or OpenAI's vocabulary.
 * @param contextLength longest text in tokens; the model's `max_position_embeddings`
 * @throws EcifError that names the file and the token or line
 */
export async function readTokenizer(folder: ByteFolder, contextLength = 77): Promise<Tokenizer> {
  const vocabulary = await readVocabulary(folder);
  const openai = OPENAI_VOCABULARY.some((name) => vocabulary.source.endsWith(name));
  return createTokenizer(vocabulary, { contextLength, pad: openai ? 0 : await padOf(folder, vocabulary) });
}

/**
 * What to do to pictures, from `preprocessor_config.json`, or as CLIP does it where there is none.
 * @param side of the pictures the model takes
 * @throws EcifError that names the file and the field
 */
export async function readPreprocess(folder: ByteFolder, side = 224): Promise<PreprocessConfig> {
  const source = await folder.open('preprocessor_config.json');
  return source === null ? clipPreprocess(side) : parsePreprocessConfig(source.name, await settingsText(source));
}

/** A CLIP model in a folder, its weights still in their files. */
export interface ClipDirectory {
  readonly config: ClipConfig;
  readonly weights: Safetensors;
  readonly preprocess: PreprocessConfig;
  /**
   * The tokenizer; vocabularies are large, so it is read when it is wanted.
   * @throws EcifError where the folder holds none, or one with more tokens than the model
   */
  tokenizer(): Promise<Tokenizer>;
}

/** The result of preprocessing must be what the model takes. */
function requireSide(folder: ByteFolder, { resize, crop }: PreprocessConfig, side: number): void {
  const size = crop ?? (resize !== null && 'height' in resize ? resize : null);
  if (size !== null && (size.height !== side || size.width !== side)) {
    const found = `pictures become ${size.width} × ${size.height}, the model takes ${side} × ${side}`;
    bad(`${folder.name}/preprocessor_config.json`, 'crop_size', found, 'give files of one model');
  }
}

/**
 * Opens a Hugging Face CLIP folder: settings are read and checked, weights are not read yet.
 * @throws EcifError that names the file, the field or tensor, what was found and what to do
 * @example
 * const folder = await fileFolder('clip-vit-base-patch32');
 * const { config, weights, preprocess, tokenizer } = await openClipDirectory(folder);
 */
export async function openClipDirectory(folder: ByteFolder): Promise<ClipDirectory> {
  const config = await readClipConfig(folder);
  const preprocess = await readPreprocess(folder, config.vision.imageSize);
  requireSide(folder, preprocess, config.vision.imageSize);
  const weights = await openClipWeights(folder);
  requireTensors(weights, clipShapes(config));
  const tokenizer = async (): Promise<Tokenizer> => {
    const found = await readTokenizer(folder, config.text.positions);
    if (found.size > config.text.vocabulary) {
      const many = `${found.size} tokens, the model has ${config.text.vocabulary}`;
      bad(folder.name, 'tokenizer', many, 'give files of one model');
    }
    return found;
  };
  return { config, weights, preprocess, tokenizer };
}

/** A PEFT adapter in a folder, its weights still in their file. */
export interface AdapterDirectory {
  readonly settings: PeftSettings;
  readonly weights: Safetensors;
}

/**
 * Opens a PEFT adapter: `adapter_config.json` and `adapter_model.safetensors`.
 * @throws EcifError that names the file, the field or tensor, what was found and what to do
 * @example const { settings, weights } = await openAdapterDirectory(await fileFolder('adapter'));
 */
export async function openAdapterDirectory(folder: ByteFolder): Promise<AdapterDirectory> {
  const config = await need(folder, 'adapter_config.json', 'name the folder of a PEFT adapter');
  const settings = parsePeftConfig(config.name, await settingsText(config));
  const weights = await need(folder, 'adapter_model.safetensors', 'save the adapter as safetensors');
  return { settings, weights: await openSafetensors(weights) };
}
