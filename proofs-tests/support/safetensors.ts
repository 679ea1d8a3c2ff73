// Safetensors files built by hand from the format's description, and sources that watch what is read of them.

import { type ByteSource, bytesSource } from '../../src/models/clip/byte-source.ts';

/** A file with this header, as JSON text or bytes, and these bytes of tensors. */
export function safetensorsFile(header: unknown, body: Uint8Array, length?: bigint): Uint8Array {
  const encoded = typeof header === 'string' ? header : JSON.stringify(header);
  const json = header instanceof Uint8Array ? header : new TextEncoder().encode(encoded);
  const file = new Uint8Array(8 + json.length + body.length);
  new DataView(file.buffer).setBigUint64(0, length ?? BigInt(json.length), true);
  file.set(json, 8);
  file.set(body, 8 + json.length);
  return file;
}

/** A source with the largest piece that was read of it. */
export function watched(name: string, bytes: Uint8Array): { source: ByteSource; largest: () => number } {
  const inner = bytesSource(name, bytes);
  let largest = 0;
  const read = (offset: number, length: number): Promise<Uint8Array> => {
    largest = Math.max(largest, length);
    return inner.read(offset, length);
  };
  return { source: { ...inner, read }, largest: () => largest };
}
