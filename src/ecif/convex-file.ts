// Small convex problems as JSON files: read, checked field by field, put on a device.

import { EcifError } from '../array/errors.ts';
import { tensor } from '../autodiff/tensor.ts';
import type { Device } from '../device/open.ts';
import { type Bilinear, bilinear } from '../models/bilinear.ts';
import { bad } from '../models/clip/formats/fields.ts';
import type { PairBatch } from '../models/model.ts';
import type { Problem } from './objective.ts';
import { zeros } from '../autodiff/ops/layout.ts';

/** A convex problem as it stands in a file. */
export interface ConvexFile {
  readonly name: string;
  readonly temperature: number;
  readonly delta: number;
  readonly text: readonly (readonly number[])[];
  readonly image: readonly (readonly number[])[];
  /** Ids (rows of `text` and `image`) of each batch. */
  readonly batches: readonly (readonly number[])[];
  readonly remove: readonly number[];
  readonly validation: {
    readonly text: readonly (readonly number[])[];
    readonly image: readonly (readonly number[])[];
  };
}

type Json = Record<string, unknown>;

/** Sizes up to which a problem is worked densely. */
const MOST = { parameters: 400, batch: 256 };

/** Sizes beyond which products overflow. */
const LARGEST = 1e30;
const SMALLEST = 1e-30;

function positive(file: string, json: Json, field: string): number {
  const value = json[field];
  if (typeof value !== 'number' || !(value > 0) || !Number.isFinite(value)) {
    bad(file, field, `found ${describe(value)}`, 'give a number > 0');
  }
  if (value > LARGEST || value < SMALLEST) bad(file, field, `found ${value}`, `give one in ${SMALLEST}…${LARGEST}`);
  return value;
}

function matrix(file: string, field: string, value: unknown): number[][] {
  if (!Array.isArray(value) || value.length === 0)
    bad(file, field, `found ${describe(value)}`, 'give a list of rows of numbers');
  const rows = value as unknown[];
  const width = Array.isArray(rows[0]) ? rows[0].length : 0;
  rows.forEach((row, i) => {
    if (!Array.isArray(row) || row.length === 0 || row.length !== width) {
      bad(file, `${field}[${i}]`, `found ${describe(row)}`, `give a row of ${width || 'at least one'} numbers`);
    }
    (row as unknown[]).forEach((x, j) => {
      if (typeof x !== 'number' || !Number.isFinite(x))
        bad(file, `${field}[${i}][${j}]`, `found ${describe(x)}`, 'give a finite number');
      if (Math.abs(x) > LARGEST)
        bad(file, `${field}[${i}][${j}]`, `found ${x}`, `give a number of at most ${LARGEST}, products overflow`);
    });
  });
  return rows as number[][];
}

const describe = (x: unknown): string => {
  if (x === undefined) return 'nothing';
  if (Array.isArray(x)) return `a list of ${x.length}`;
  if (typeof x === 'number') return String(x);
  return JSON.stringify(x)?.slice(0, 40) ?? typeof x;
};

function pairs(file: string, prefix: string, json: Json): { text: number[][]; image: number[][] } {
  const [text, image] = [matrix(file, `${prefix}text`, json.text), matrix(file, `${prefix}image`, json.image)];
  if (text.length !== image.length)
    bad(file, `${prefix}image`, `${image.length} rows for ${text.length} texts`, 'give one image per text');
  return { text, image };
}

function ids(file: string, field: string, value: unknown, count: number): number[] {
  if (!Array.isArray(value) || value.length === 0)
    bad(file, field, `found ${describe(value)}`, 'give a list of at least one pair');
  (value as unknown[]).forEach((id, i) => {
    if (!Number.isInteger(id) || (id as number) < 0 || (id as number) >= count) {
      bad(file, `${field}[${i}]`, `found ${describe(id)}`, `give a whole number in 0…${count - 1}`);
    }
  });
  return value as number[];
}

function partition(file: string, value: unknown, count: number): number[][] {
  if (!Array.isArray(value)) bad(file, 'batches', `found ${describe(value)}`, 'give a list of batches');
  const batches = (value as unknown[]).map((batch, m) => ids(file, `batches[${m}]`, batch, count));
  const seen = new Set<number>();
  batches.forEach((batch, m) =>
    batch.forEach((id, i) => {
      if (seen.has(id)) bad(file, `batches[${m}][${i}]`, `pair ${id} is in two places`, 'give every pair one place');
      seen.add(id);
    }),
  );
  const missing = Array.from({ length: count }, (_, i) => i).find((i) => !seen.has(i));
  if (missing !== undefined) bad(file, 'batches', `pair ${missing} is in no batch`, 'give every pair one place');
  return batches;
}

/**
 * Reads a convex problem from JSON text.
 * @param file its name, for messages
 * @throws EcifError with file, field, what was found and what to do
 */
export function parseConvex(file: string, text: string): { problem: ConvexFile; json: Json } {
  let json: Json;
  try {
    // NaN and Infinity are no JSON, but some programs write them: as text, the field they stand in can be named.
    json = JSON.parse(text.replace(/([[,:]\s*)(-?(?:NaN|Infinity))(?=\s*[\],}])/g, '$1"$2"')) as Json;
  } catch (error) {
    throw new EcifError(`${file}: not JSON, ${(error as Error).message}; is the file complete?`, { cause: error });
  }
  if (typeof json !== 'object' || json === null || json.kind !== 'convex') {
    bad(file, 'kind', `found ${describe((json as Json | null)?.kind)}`, 'give "convex"');
  }
  const [temperature, delta] = [positive(file, json, 'temperature'), positive(file, json, 'delta')];
  const { text: texts, image } = pairs(file, '', json);
  const parameters = texts[0].length * image[0].length;
  if (parameters > MOST.parameters)
    bad(file, 'text', `${parameters} parameters`, `give at most ${MOST.parameters}, text times image features`);
  const batches = partition(file, json.batches, texts.length);
  const wide = batches.findIndex((batch) => batch.length > MOST.batch);
  if (wide >= 0) bad(file, `batches[${wide}]`, `${batches[wide].length} pairs`, `give at most ${MOST.batch}`);
  const remove = ids(file, 'remove', json.remove, texts.length);
  if (new Set(remove).size === texts.length) bad(file, 'remove', 'all pairs are removed', 'keep at least one');
  const validation = pairs(file, 'validation.', (json.validation ?? {}) as Json);
  if (validation.text[0].length !== texts[0].length || validation.image[0].length !== image[0].length) {
    bad(file, 'validation', 'features of another length than those of the pairs', 'give the same lengths');
  }
  const name = typeof json.name === 'string' ? json.name : file;
  return { problem: { name, temperature, delta, text: texts, image, batches, remove, validation }, json };
}

/** A convex problem on a device. */
export interface PlacedConvex {
  readonly problem: Problem<Bilinear, PairBatch>;
  readonly start: Bilinear;
  readonly validation: PairBatch;
}

/** Puts a problem on a device; `start` is W = 0. */
export function placeConvex(file: ConvexFile, device: Device): PlacedConvex {
  const rows = (m: readonly (readonly number[])[], of: readonly number[]) =>
    tensor(
      device,
      of.map((i) => m[i]),
    );
  const batches = file.batches.map((of) => ({ text: rows(file.text, of), image: rows(file.image, of) }));
  const { text, image } = file.validation;
  return {
    problem: { model: bilinear(file.temperature), batches, decay: file.delta },
    start: { w: zeros(device, [file.text[0].length, file.image[0].length]) },
    validation: { text: tensor(device, text), image: tensor(device, image) },
  };
}
