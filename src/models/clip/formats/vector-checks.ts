// Reference files of kind tokenizer and preprocess: every case computed here and compared.

import { clipPreprocess, type DecodedImage, normalizePixels, resizeAndCrop } from '../preprocess.ts';
import type { Tokenizer } from '../tokenizer.ts';
import { bad, isObject, type Json, numbersField, shown, textField, wholeField } from './fields.ts';
import { isPlainName } from '../byte-source.ts';

/** One quantity of a reference file, compared. */
export interface VectorComparison {
  readonly quantity: string;
  /** Largest difference: of bytes in levels, of pixel values, or the count of ids that differ. */
  readonly error: number;
  readonly tolerance: number;
  readonly pass: boolean;
}

const FILE = 'vectors.json';

const judged = (quantity: string, error: number, tolerance: number): VectorComparison => ({
  quantity,
  error,
  tolerance,
  pass: error <= tolerance,
});

/** Cases of a reference file of some kind. */
function casesOf(vectors: Json, kind: string): Json[] {
  if (vectors.kind !== kind) bad(FILE, 'kind', `found ${shown(vectors.kind)}`, `give "${kind}"`);
  const { cases } = vectors;
  if (!Array.isArray(cases) || cases.length === 0) bad(FILE, 'cases', `found ${shown(cases)}`, 'give at least one');
  return cases.map((one: unknown, i) => (isObject(one) ? one : bad(FILE, `cases[${i}]`, shown(one), 'give an object')));
}

/** The number of places at which two lists differ. */
function differing(found: readonly number[], wanted: readonly number[]): number {
  const length = Math.max(found.length, wanted.length);
  return Array.from({ length }, (_, i) => found[i] !== wanted[i]).filter(Boolean).length;
}

/**
 * Compares token ids with those of a reference file of kind `tokenizer`; none may differ.
 * @param vectors contents of its `vectors.json`
 * @param tokenizer one of the file's `contextLength`
 * @throws EcifError for a file of another form
 * @example checkTokenizer(vectors, createTokenizer(vocabulary, { contextLength: 77 })).every((c) => c.pass)
 */
export function checkTokenizer(vectors: Json, tokenizer: Tokenizer): VectorComparison[] {
  const contextLength = wholeField(FILE, 'contextLength', vectors.contextLength ?? tokenizer.contextLength, 3);
  if (contextLength !== tokenizer.contextLength) {
    bad(FILE, 'contextLength', `found ${contextLength}`, `the tokenizer has ${tokenizer.contextLength}`);
  }
  return casesOf(vectors, 'tokenizer').map(({ text, ids }, i) => {
    const wanted = numbersField(FILE, `cases[${i}].ids`, ids);
    const found = tokenizer.encode(textField(FILE, `cases[${i}].text`, text));
    return judged(`ids ${shown(text)}`, differing(found, wanted), 0);
  });
}

/** The largest difference of two lists; infinite where their lengths differ. */
function largest(found: ArrayLike<number>, wanted: readonly number[]): number {
  if (found.length !== wanted.length) return Infinity;
  return wanted.reduce((most, x, i) => Math.max(most, Math.abs(x - found[i])), 0);
}

/**
 * Compares pictures with those of a reference file of kind `preprocess`: bytes may differ by one level, pixel values by as
 * much as that makes.
 * @param vectors contents of its `vectors.json`
 * @param decode gives the pixels of a file beside it
 * @throws EcifError for a file of another form
 */
export async function checkPreprocess(
  vectors: Json,
  decode: (file: string) => Promise<DecodedImage>,
): Promise<VectorComparison[]> {
  const side = wholeField(FILE, 'imageSize', vectors.imageSize, 1, 4096);
  const mean = numbersField(FILE, 'mean', vectors.mean, 3);
  const std = numbersField(FILE, 'std', vectors.std, 3);
  const config = { ...clipPreprocess(side), normalize: { mean, std } };
  const level = config.rescale / Math.min(...std);
  const all: VectorComparison[] = [];
  for (const [i, { file, uint8, pixelValues }] of casesOf(vectors, 'preprocess').entries()) {
    const name = textField(FILE, `cases[${i}].file`, file);
    if (!isPlainName(name)) bad(FILE, `cases[${i}].file`, `found ${shown(name)}`, 'give a file in the same folder');
    const bytes = resizeAndCrop(await decode(name), config);
    const pixels = normalizePixels(bytes, config);
    all.push(judged(`${name}.uint8`, largest(bytes.data, numbersField(FILE, `cases[${i}].uint8`, uint8)), 1));
    // The reference is written with six decimals.
    const wanted = numbersField(FILE, `cases[${i}].pixelValues`, pixelValues);
    all.push(judged(`${name}.pixelValues`, largest(pixels, wanted), level * 1.0001));
  }
  return all;
}
