// `vectors.json` of a CLIP reference folder: read, checked field by field.

import {
  bad,
  type Json,
  numbersField,
  objectField,
  positiveField,
  shown,
  textField,
  wholeField,
} from './formats/fields.ts';
import { parseObject } from './formats/json.ts';
import type { Safetensors } from './safetensors.ts';

/** A tree of numbers; lists of lists laid out in one. */
type Numbers = { [name: string]: number | number[] | Numbers };

/** A CLIP reference file. */
export interface ClipVectors {
  /** Its name, for messages. */
  readonly file: string;
  readonly name: string;
  /** Folder of `config.json` and `model.safetensors`, as seen from the file. */
  readonly model: string;
  /** File of the adapter, as seen from the file. */
  readonly lora: string;
  readonly rank: number;
  readonly alpha: number;
  /** Images one after the other. */
  readonly pixels: Float64Array;
  readonly ids: readonly (readonly number[])[];
  /** Positions of the pairs to remove, distinct and ascending. */
  readonly remove: readonly number[];
  /** A direction in the space of the adapter's parameters, by name. */
  readonly vector: Readonly<Record<string, readonly number[]>>;
  readonly expected: Numbers;
}

/** What a reference folder holds: `vectors.json` as parsed, and the three files it is about. */
export interface ClipFolder {
  readonly vectors: ClipVectors;
  /** Text of `config.json`. */
  readonly config: string;
  readonly model: Safetensors;
  readonly lora: Safetensors;
}

/** Numbers under names, lists of lists laid out in one. */
function numbersOf(file: string, field: string, value: unknown): Numbers[string] {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (Array.isArray(value)) return numbersField(file, field, value.flat(Infinity));
  const json = objectField(file, field, value);
  return Object.fromEntries(Object.keys(json).map((key) => [key, numbersOf(file, `${field}.${key}`, json[key])]));
}

function idsOf(file: string, value: unknown): number[][] {
  if (!Array.isArray(value) || value.length === 0) {
    bad(file, 'inputIds', `found ${shown(value)}`, 'give a list of texts, each a list of token ids');
  }
  return value.map((row, k) => numbersField(file, `inputIds[${k}]`, row));
}

function pixelsOf(file: string, value: unknown, count: number): Float64Array {
  const { shape, data } = objectField(file, 'pixelValues', value);
  const axes = numbersField(file, 'pixelValues.shape', shape, 4);
  if (axes[0] !== count) {
    bad(file, 'pixelValues.shape[0]', `found ${axes[0]} images`, `give ${count}, one for each text`);
  }
  return Float64Array.from(
    numbersField(
      file,
      'pixelValues.data',
      data,
      axes.reduce((a, b) => a * b),
    ),
  );
}

function removedOf(file: string, value: unknown, count: number): number[] {
  const list = numbersField(file, 'remove', value).map((n, i) => wholeField(file, `remove[${i}]`, n, 0, count - 1));
  const removed = [...new Set(list)].sort((a, b) => a - b);
  if (removed.length === 0 || removed.length === count) {
    bad(file, 'remove', `found ${removed.length} of ${count} pairs`, 'remove some and keep some');
  }
  return removed;
}

/** Numbers by name. */
function listsOf(file: string, field: string, json: Json): Record<string, number[]> {
  return Object.fromEntries(
    Object.keys(json).map((name) => [name, numbersField(file, `${field}.${name}`, json[name])]),
  );
}

/**
 * Reads `vectors.json` of a CLIP reference folder.
 * @param file its name, for messages
 * @throws EcifError with file, field, what was found and what to do
 */
export function parseClipVectors(file: string, text: string): ClipVectors {
  const json = parseObject(file, text);
  if (json.kind !== 'clip') bad(file, 'kind', `found ${shown(json.kind)}`, 'give "clip"');
  const lora = objectField(file, 'lora', json.lora);
  const ids = idsOf(file, json.inputIds);
  return {
    file,
    name: typeof json.name === 'string' ? json.name : file,
    model: textField(file, 'model', json.model),
    lora: textField(file, 'lora.file', lora.file),
    rank: wholeField(file, 'lora.rank', lora.rank, 1, 2 ** 14),
    alpha: positiveField(file, 'lora.alpha', lora.alpha),
    pixels: pixelsOf(file, json.pixelValues, ids.length),
    ids,
    remove: removedOf(file, json.remove, ids.length),
    vector: listsOf(file, 'vector', objectField(file, 'vector', json.vector)),
    expected: numbersOf(file, 'expected', objectField(file, 'expected', json.expected)) as Numbers,
  };
}
