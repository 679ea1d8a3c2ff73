// The header of a safetensors file: 8 bytes of length, JSON, then the tensors end to end.

import type { ByteSource } from '../byte-source.ts';
import type { TensorInfo } from '../safetensors.ts';
import { bad, isObject, type Json, shown } from './fields.ts';
import { decodeUtf8, parseObject } from './json.ts';

/** Bytes of one number, by dtype. */
const WIDTHS: ReadonlyMap<string, number> = new Map([
  ...['BOOL', 'U8', 'I8', 'F8_E5M2', 'F8_E4M3', 'F8_E8M0'].map((d) => [d, 1] as const),
  ...['I16', 'U16', 'F16', 'BF16'].map((d) => [d, 2] as const),
  ...['I32', 'U32', 'F32'].map((d) => [d, 4] as const),
  ...['I64', 'U64', 'F64', 'C64'].map((d) => [d, 8] as const),
]);

/** Bytes of the length in front. */
export const PREFIX = 8;
/** The key under which a header keeps what is no tensor. */
export const METADATA = '__metadata__';
const LARGEST_HEADER = 8 * 2 ** 20;
/** The whole, a tensor, its shape. */
const DEEPEST = 3;

/** How a message names a tensor. */
export const tensorField = (name: string): string => `tensor ${shown(name)}`;

/** What a header says. */
export interface Header {
  readonly tensors: ReadonlyMap<string, TensorInfo>;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Length of the JSON, checked against the file before it is read. */
async function headerLength(source: ByteSource): Promise<number> {
  const { name, size } = source;
  if (size < PREFIX) bad(name, 'header', `the file has ${size} bytes`, 'is it a complete safetensors file?');
  const view = Uint8Array.from(await source.read(0, PREFIX));
  const length = new DataView(view.buffer).getBigUint64(0, true);
  if (length > BigInt(size - PREFIX)) {
    bad(name, 'header', `${length} bytes, the file has ${size - PREFIX} after the length`, 'is the file complete?');
  }
  if (length > BigInt(LARGEST_HEADER)) {
    bad(name, 'header', `${length} bytes, at most ${LARGEST_HEADER}`, 'is it a safetensors file?');
  }
  return Number(length);
}

function readShape(file: string, field: string, value: unknown): number[] {
  if (!Array.isArray(value) || !value.every((n) => Number.isSafeInteger(n) && n >= 0)) {
    bad(file, `${field}: shape`, `found ${shown(value)}`, 'give a list of whole numbers ≥ 0');
  }
  return value as number[];
}

/** The begin and end of a tensor, checked against the bytes after the header. */
function readOffsets(file: string, field: string, value: unknown, room: number): [number, number] {
  const pair = Array.isArray(value) && value.length === 2 && value.every((n) => Number.isSafeInteger(n) && n >= 0);
  if (!pair) bad(file, `${field}: data_offsets`, `found ${shown(value)}`, 'give a begin and an end');
  const [begin, end] = value as [number, number];
  if (begin > end || end > room) {
    bad(file, `${field}: data_offsets`, `found ${begin}…${end} of ${room} bytes`, 'is the file complete?');
  }
  return [begin, end];
}

/** One entry of the header, whose bytes must be as many as its shape and dtype say. */
function readTensor(file: string, name: string, entry: unknown, base: number, room: number): TensorInfo {
  const field = tensorField(name);
  if (!isObject(entry)) bad(file, field, `found ${shown(entry)}`, 'give dtype, shape and data_offsets');
  const { dtype } = entry;
  const width = typeof dtype === 'string' ? WIDTHS.get(dtype) : undefined;
  if (typeof dtype !== 'string' || width === undefined) {
    bad(file, `${field}: dtype`, `found ${shown(dtype)}`, 'give F32, F16, BF16 or another dtype of safetensors');
  }
  const shape = readShape(file, field, entry.shape);
  const [begin, end] = readOffsets(file, field, entry.data_offsets, room);
  const bytes = shape.reduce((product, n) => product * n, width);
  if (bytes !== end - begin) {
    const found = `${dtype} [${shape.slice(0, 8).join(', ')}] is ${bytes} bytes, data_offsets give ${end - begin}`;
    bad(file, `${field}: shape`, found, 'is the file damaged?');
  }
  return { name, dtype, shape, offset: base + begin, length: end - begin };
}

/** Tensors stand end to end, from the header to the end of the file. */
function requireEndToEnd(file: string, tensors: readonly TensorInfo[], base: number, size: number): void {
  let end = base;
  for (const { name, offset, length } of [...tensors].sort((a, b) => a.offset - b.offset || a.length - b.length)) {
    if (offset !== end) {
      const found = offset < end ? 'overlaps the tensor before it' : `leaves ${offset - end} bytes before it unused`;
      bad(file, `${tensorField(name)}: data_offsets`, found, 'is the file damaged?');
    }
    end += length;
  }
  if (end !== size) bad(file, 'tensors', `end at byte ${end} of ${size}`, 'is the file damaged?');
}

function readMetadata(file: string, value: unknown): Record<string, string> {
  if (value === undefined) return {};
  if (!isObject(value) || !Object.values(value).every((text) => typeof text === 'string')) {
    bad(file, METADATA, `found ${shown(value)}`, 'give an object of texts');
  }
  return { ...(value as Record<string, string>) };
}

/**
 * Reads and checks the header of a safetensors file; nothing of the tensors is read.
 * @throws EcifError that names the file and the tensor: a length or offset beyond the file, overlaps, holes, a shape
 *   that does not fit, an unknown dtype, a name that occurs twice, text that is not UTF-8 or not JSON
 */
export async function readHeader(source: ByteSource): Promise<Header> {
  const { name: file, size } = source;
  const length = await headerLength(source);
  const text = decodeUtf8(file, 'header', await source.read(PREFIX, length));
  const json: Json = parseObject(file, text, 'header', DEEPEST);
  const base = PREFIX + length;
  const entries = Object.entries(json).filter(([name]) => name !== METADATA);
  const tensors = entries.map(([name, entry]) => readTensor(file, name, entry, base, size - base));
  requireEndToEnd(file, tensors, base, size);
  return { tensors: new Map(tensors.map((t) => [t.name, t])), metadata: readMetadata(file, json[METADATA]) };
}
