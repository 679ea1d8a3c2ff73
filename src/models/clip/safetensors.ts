// Safetensors files: tensors read one at a time, in pieces, and written.

import { DtypeError, EcifError, ShapeError } from '../../array/errors.ts';
import type { ByteSource } from './byte-source.ts';
import { decodeBF16, decodeF16, encodeBF16, encodeF16 } from './float16.ts';
import { METADATA, PREFIX, readHeader, tensorField } from './formats/safetensors-header.ts';

/** Where a tensor stands in its file. */
export interface TensorInfo {
  readonly name: string;
  /** As in the file: F32, F16, BF16, F64, I64, … */
  readonly dtype: string;
  readonly shape: readonly number[];
  /** Byte of the file at which it begins. */
  readonly offset: number;
  /** Bytes. */
  readonly length: number;
}

/** An open safetensors file, or several that make one model. */
export interface Safetensors {
  /** Name of the file, for messages. */
  readonly source: string;
  readonly tensors: ReadonlyMap<string, TensorInfo>;
  readonly metadata: Readonly<Record<string, string>>;
  /**
   * Values of one tensor, row-major: float64 for F64, else float32.
   * @throws EcifError if there is no such tensor, or its dtype is no float
   */
  values(name: string): Promise<Float32Array | Float64Array>;
}

/** Dtypes that can be written. */
export type WeightDtype = 'F64' | 'F32' | 'F16' | 'BF16';

/** A tensor to write. */
export interface TensorToWrite {
  readonly name: string;
  readonly shape: readonly number[];
  readonly values: ArrayLike<number>;
  /** F32 unless told. */
  readonly dtype?: WeightDtype;
}

/** Bytes read at a time; a multiple of every width. */
const CHUNK = 4 * 2 ** 20;

type Decode<A> = (bytes: Uint8Array, out: A, start: number) => void;

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const decodeF32: Decode<Float32Array> = (bytes, out, start) => {
  const view = viewOf(bytes);
  for (let i = 0; 4 * i < bytes.length; i++) out[start + i] = view.getFloat32(4 * i, true);
};

const decodeF64: Decode<Float64Array> = (bytes, out, start) => {
  const view = viewOf(bytes);
  for (let i = 0; 8 * i < bytes.length; i++) out[start + i] = view.getFloat64(8 * i, true);
};

const FLOAT32: Readonly<Record<string, { width: number; decode: Decode<Float32Array> }>> = {
  F32: { width: 4, decode: decodeF32 },
  F16: { width: 2, decode: decodeF16 },
  BF16: { width: 2, decode: decodeBF16 },
};

/** Fills an array from the bytes of a tensor, a piece at a time. */
async function fill<A>(source: ByteSource, info: TensorInfo, width: number, out: A, decode: Decode<A>): Promise<A> {
  for (let done = 0; done < info.length; done += CHUNK) {
    const bytes = await source.read(info.offset + done, Math.min(CHUNK, info.length - done));
    decode(bytes, out, done / width);
  }
  return out;
}

/** The tensor of a name, or an error that says where it was sought. */
export function tensorOf({ source, tensors }: Pick<Safetensors, 'source' | 'tensors'>, name: string): TensorInfo {
  const info = tensors.get(name);
  if (info === undefined) {
    throw new EcifError(`${source}: ${tensorField(name)}: not among the ${tensors.size} there; is it the right model?`);
  }
  return info;
}

/** Refuses tensors whose values are not floats. */
function requireFloats(file: string, { name, dtype }: TensorInfo): void {
  if (dtype === 'F64' || Object.hasOwn(FLOAT32, dtype)) return;
  throw new DtypeError(`${file}: ${tensorField(name)}: dtype: found ${dtype}; weights are F32, F16, BF16 or F64`);
}

/** Values of one tensor of a file. */
async function readValues(source: ByteSource, info: TensorInfo): Promise<Float32Array | Float64Array> {
  requireFloats(source.name, info);
  if (info.dtype === 'F64') return fill(source, info, 8, new Float64Array(info.length / 8), decodeF64);
  const { width, decode } = FLOAT32[info.dtype];
  return fill(source, info, width, new Float32Array(info.length / width), decode);
}

/**
 * Opens a safetensors file: reads and checks its header, and no tensor.
 * @throws EcifError that names the file, and the tensor if it is one that is wrong
 * @example
 * const file = await openSafetensors(await fileSource('model.safetensors'));
 * const scale = await file.values('logit_scale');
 */
export async function openSafetensors(source: ByteSource): Promise<Safetensors> {
  const { tensors, metadata } = await readHeader(source);
  const file = { source: source.name, tensors, metadata };
  return { ...file, values: async (name) => readValues(source, tensorOf(file, name)) };
}

/**
 * Makes sure that tensors are there as floats of the shapes a model needs, before any of them is read.
 * @param expected shape by name
 * @throws EcifError for the first tensor that is missing, or has another shape or no floats
 * @example requireTensors(file, new Map([['text_projection.weight', [512, 512]]]));
 */
export function requireTensors(file: Safetensors, expected: ReadonlyMap<string, readonly number[]>): void {
  for (const [name, shape] of expected) {
    const info = tensorOf(file, name);
    requireFloats(file.source, info);
    if (info.shape.length !== shape.length || info.shape.some((n, i) => n !== shape[i])) {
      const found = `found [${info.shape.slice(0, 8).join(', ')}], the model needs [${shape.join(', ')}]`;
      throw new ShapeError(`${file.source}: ${tensorField(name)}: shape: ${found}; is the config of another model?`);
    }
  }
}

/**
 * Values of a tensor of weights, every one of them a number.
 * @throws EcifError that names file, tensor and place for a NaN or an infinity
 */
export async function finiteValues(file: Safetensors, name: string): Promise<Float32Array | Float64Array> {
  const values = await file.values(name);
  for (let i = 0; i < values.length; i++) {
    if (Number.isFinite(values[i])) continue;
    throw new EcifError(`${file.source}: ${tensorField(name)}: value ${i} is ${values[i]}; are the weights damaged?`);
  }
  return values;
}

/** The shape and dtype of a tensor to write, its values to come. */
export type TensorPlan = Omit<TensorToWrite, 'values'>;

/** Bytes of one written number. */
const WRITTEN: Readonly<Record<WeightDtype, number>> = { F64: 8, F32: 4, F16: 2, BF16: 2 };

const complain = (name: string, problem: string): never => {
  throw new EcifError(`writeSafetensors: ${tensorField(name)}: ${problem}`);
};

/** Numbers in a shape. */
const countOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

/**
 * The bytes of a file up to the first tensor, and the order in which the tensors follow: wide dtypes first, so that each
 * begins at a multiple of its width.
 * @throws EcifError for a name given twice or reserved, or a shape that is none
 */
export function planSafetensors<T extends TensorPlan>(
  tensors: Iterable<T>,
  metadata: Readonly<Record<string, string>> = {},
): { head: Uint8Array; order: T[]; size: number } {
  const widthOf = ({ dtype = 'F32' }: T): number => WRITTEN[dtype];
  const order = [...tensors].sort((a, b) => widthOf(b) - widthOf(a));
  // Loaders of other libraries ask for the format.
  const entries = new Map<string, unknown>([[METADATA, { format: 'pt', ...metadata }]]);
  let end = 0;
  for (const tensor of order) {
    const { name, shape, dtype = 'F32' } = tensor;
    if (entries.has(name))
      complain(name, name === METADATA ? 'the name is reserved; rename it' : 'given twice; keep one');
    if (!shape.every((n) => Number.isSafeInteger(n) && n >= 0)) complain(name, `shape [${shape.join(', ')}]; use ≥ 0`);
    const begin = end;
    end += countOf(shape) * widthOf(tensor);
    entries.set(name, { dtype, shape, data_offsets: [begin, end] });
  }
  const json = new TextEncoder().encode(JSON.stringify(Object.fromEntries(entries)));
  const length = Math.ceil(json.length / 8) * 8;
  const head = new Uint8Array(PREFIX + length).fill(0x20);
  new DataView(head.buffer).setBigUint64(0, BigInt(length), true);
  head.set(json, PREFIX);
  return { head, order, size: head.length + end };
}

/** Writes one number; an overflow is seen in its bits. */
const ENCODERS: Readonly<Record<WeightDtype, (view: DataView, at: number, x: number) => boolean>> = {
  F64: (view, at, x) => {
    view.setFloat64(at, x, true);
    return true;
  },
  F32: (view, at, x) => {
    view.setFloat32(at, x, true);
    return Number.isFinite(Math.fround(x));
  },
  F16: (view, at, x) => {
    const bits = encodeF16(x);
    view.setUint16(at, bits, true);
    return (bits & 0x7c00) !== 0x7c00;
  },
  BF16: (view, at, x) => {
    const bits = encodeBF16(x);
    view.setUint16(at, bits, true);
    return (bits & 0x7f80) !== 0x7f80;
  },
};

/**
 * Bytes of a tensor's values as they stand in a file, written to `out`.
 * @throws EcifError for a count that does not fit the shape, or a finite number that its dtype cannot hold
 */
export function encodeTensor({ name, shape, values, dtype = 'F32' }: TensorToWrite, out: Uint8Array): void {
  if (values.length !== countOf(shape)) {
    throw new ShapeError(`writeSafetensors: ${tensorField(name)}: ${values.length} values for [${shape.join(', ')}]`);
  }
  const [view, width, encode] = [viewOf(out), WRITTEN[dtype], ENCODERS[dtype]];
  for (let i = 0; i < values.length; i++) {
    const x = values[i];
    if (!encode(view, i * width, x) && Number.isFinite(x)) {
      const wider = Number.isFinite(Math.fround(x)) ? 'F32' : 'F64';
      throw new DtypeError(`writeSafetensors: ${tensorField(name)}: ${x} is too large for ${dtype}; use ${wider}`);
    }
  }
}

/** Bytes of a tensor in a file. */
export const bytesOf = ({ shape, dtype = 'F32' }: TensorPlan): number => countOf(shape) * WRITTEN[dtype];

/**
 * A safetensors file in memory.
 * @param metadata texts to store with it; `format: 'pt'` unless told
 * @throws EcifError for a name given twice, values that do not fit the shape, or numbers too large for the dtype
 * @example const bytes = writeSafetensors([{ name: 'w', shape: [2], values: [1, 2], dtype: 'F16' }]);
 */
export function writeSafetensors(tensors: Iterable<TensorToWrite>, metadata?: Record<string, string>): Uint8Array {
  const { head, order, size } = planSafetensors(tensors, metadata);
  const bytes = new Uint8Array(size);
  bytes.set(head);
  let at = head.length;
  for (const tensor of order) {
    const end = at + bytesOf(tensor);
    encodeTensor(tensor, bytes.subarray(at, end));
    at = end;
  }
  return bytes;
}
