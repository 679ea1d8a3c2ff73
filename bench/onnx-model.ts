// Writes ONNX models as protobuf bytes: inputs, constant tensors, nodes, one output.

/** A constant of the graph; `data` is float32, or int64 for index tensors. */
export interface OnnxConstant {
  readonly name: string;
  readonly dims: readonly number[];
  readonly data: Float32Array | BigInt64Array;
}

/** A tensor that is given with every run, or the one that comes out. */
export interface OnnxValue {
  readonly name: string;
  readonly dims: readonly number[];
  /** float32 unless told. */
  readonly type?: 'float32' | 'int64';
}

export interface OnnxNode {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly output: string;
  /** Integer lists, for instance `perm` of Transpose; a number is a single integer, as `axis`; `float` a real one. */
  readonly attributes?: Readonly<Record<string, readonly number[] | number | { readonly float: number }>>;
}

export interface OnnxGraph {
  readonly inputs?: readonly OnnxValue[];
  readonly constants: readonly OnnxConstant[];
  readonly nodes: readonly OnnxNode[];
  readonly output: OnnxValue;
}

/** Bytes in pieces, laid together once at the end: constants can be hundreds of megabytes. */
type Pieces = readonly Uint8Array[];

const FLOAT = 1;
const INT64 = 7;
const ATTRIBUTE_FLOAT = 1;
const ATTRIBUTE_INT = 2;
const ATTRIBUTE_INTS = 7;

/** @returns the bytes of a ModelProto (IR 8, opset 17) */
export function onnxModel({ inputs = [], constants, nodes, output }: OnnxGraph): Uint8Array {
  const graph = [
    ...nodes.flatMap((n) => field(1, node(n))),
    ...text(2, 'g'),
    ...constants.flatMap((c) => field(5, tensor(c))),
    ...inputs.flatMap((i) => field(11, valueInfo(i))),
    ...field(12, valueInfo(output)),
  ];
  return concat([...varint(1, 8), ...field(8, [...text(1, ''), ...varint(2, 17)]), ...field(7, graph)]);
}

function node({ op, inputs, output, attributes = {} }: OnnxNode): Pieces {
  const list = Object.entries(attributes).flatMap(([name, value]) => field(5, [...text(1, name), ...attribute(value)]));
  return [...inputs.flatMap((i) => text(1, i)), ...text(2, output), ...text(3, output), ...text(4, op), ...list];
}

function attribute(value: readonly number[] | number | { readonly float: number }): Pieces {
  if (typeof value === 'number') return [...varint(3, value), ...varint(20, ATTRIBUTE_INT)];
  if ('float' in value) return [...float(2, value.float), ...varint(20, ATTRIBUTE_FLOAT)];
  return [...value.flatMap((v) => varint(8, v)), ...varint(20, ATTRIBUTE_INTS)];
}

function tensor({ name, dims, data }: OnnxConstant): Pieces {
  const raw = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const type = data instanceof Float32Array ? FLOAT : INT64;
  return [...dims.flatMap((d) => varint(1, d)), ...varint(2, type), ...text(8, name), ...field(9, [raw])];
}

function valueInfo({ name, dims, type = 'float32' }: OnnxValue): Pieces {
  const shape = dims.flatMap((d) => field(1, varint(1, d)));
  const element = varint(1, type === 'float32' ? FLOAT : INT64);
  return [...text(1, name), ...field(2, field(1, [...element, ...field(2, shape)]))];
}

/** Protobuf field of wire type 2: a length and bytes. */
function field(id: number, pieces: Pieces): Pieces {
  return [encode((id << 3) | 2), encode(pieces.reduce((n, p) => n + p.length, 0)), ...pieces];
}

function text(id: number, value: string): Pieces {
  return field(id, [new TextEncoder().encode(value)]);
}

function varint(id: number, value: number): Pieces {
  return [encode(id << 3), encode(value)];
}

/** Protobuf field of wire type 5: four bytes. */
function float(id: number, value: number): Pieces {
  return [encode((id << 3) | 5), new Uint8Array(Float32Array.of(value).buffer)];
}

function encode(value: number): Uint8Array {
  const out: number[] = [];
  for (let v = value; ; v = Math.floor(v / 128)) {
    if (v < 128) return Uint8Array.from([...out, v]);
    out.push((v % 128) | 128);
  }
}

function concat(parts: Pieces): Uint8Array {
  const out = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const p of parts) {
    out.set(p, at);
    at += p.length;
  }
  return out;
}

/** Rows as columns: a linear layer as exporters store it, inputs × outputs. */
export function transpose(x: Float32Array, rows: number, columns: number): Float32Array {
  const out = new Float32Array(x.length);
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) out[j * rows + i] = x[i * columns + j];
  return out;
}
