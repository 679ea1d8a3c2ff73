// Writes minimal ONNX models as protobuf bytes: constant float tensors, a chain of nodes, one output.

/** A constant of the graph; `data` is float32, or int64 for index tensors. */
export interface OnnxConstant {
  readonly name: string;
  readonly dims: readonly number[];
  readonly data: Float32Array | BigInt64Array;
}

export interface OnnxNode {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly output: string;
  /** Integer-list attributes, for instance `perm` of Transpose; a number is a single integer, as `axis`. */
  readonly attributes?: Readonly<Record<string, readonly number[] | number>>;
}

export interface OnnxGraph {
  readonly constants: readonly OnnxConstant[];
  readonly nodes: readonly OnnxNode[];
  readonly output: { readonly name: string; readonly dims: readonly number[] };
}

const FLOAT = 1;
const INT64 = 7;
const ATTRIBUTE_INT = 2;
const ATTRIBUTE_INTS = 7;

/** @returns the bytes of a ModelProto (IR 8, opset 17) */
export function onnxModel({ constants, nodes, output }: OnnxGraph): Uint8Array {
  const graph = [
    ...nodes.map((n) => field(1, node(n))),
    text(2, 'g'),
    ...constants.map((c) => field(5, tensor(c))),
    field(12, valueInfo(output.name, output.dims)),
  ];
  return concat([varint(1, 8), field(8, concat([text(1, ''), varint(2, 17)])), field(7, concat(graph))]);
}

function node({ op, inputs, output, attributes = {} }: OnnxNode): Uint8Array {
  const list = Object.entries(attributes).map(([name, value]) => {
    const single = typeof value === 'number';
    const values = single ? [varint(3, value)] : value.map((v) => varint(8, v));
    return field(5, concat([text(1, name), ...values, varint(20, single ? ATTRIBUTE_INT : ATTRIBUTE_INTS)]));
  });
  return concat([...inputs.map((i) => text(1, i)), text(2, output), text(3, output), text(4, op), ...list]);
}

function tensor({ name, dims, data }: OnnxConstant): Uint8Array {
  const raw = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const type = data instanceof Float32Array ? FLOAT : INT64;
  return concat([...dims.map((d) => varint(1, d)), varint(2, type), text(8, name), field(9, raw)]);
}

function valueInfo(name: string, dims: readonly number[]): Uint8Array {
  const shape = concat(dims.map((d) => field(1, varint(1, d))));
  return concat([text(1, name), field(2, field(1, concat([varint(1, FLOAT), field(2, shape)])))]);
}

/** Protobuf field of wire type 2: a length and bytes. */
function field(id: number, bytes: Uint8Array): Uint8Array {
  return concat([encode((id << 3) | 2), encode(bytes.length), bytes]);
}

function text(id: number, value: string): Uint8Array {
  return field(id, new TextEncoder().encode(value));
}

function varint(id: number, value: number): Uint8Array {
  return concat([encode(id << 3), encode(value)]);
}

function encode(value: number): Uint8Array {
  const out: number[] = [];
  for (let v = value; ; v = Math.floor(v / 128)) {
    if (v < 128) return Uint8Array.from([...out, v]);
    out.push((v % 128) | 128);
  }
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const p of parts) {
    out.set(p, at);
    at += p.length;
  }
  return out;
}
