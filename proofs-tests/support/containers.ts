// Files of the kinds that datasets come in, written by plain code: CIFAR records, IDX, tar.

/** Pixel (x, y) of channel c of picture i. */
export type Paint = (i: number, x: number, y: number, c: number) => number;

/** CIFAR records of some labels, in planes: label bytes first. */
export function cifarBytes(labels: readonly (readonly number[])[], paint: Paint): Uint8Array {
  const out: number[] = [];
  labels.forEach((front, i) => {
    out.push(...front);
    for (let c = 0; c < 3; c++)
      for (let y = 0; y < 32; y++) for (let x = 0; x < 32; x++) out.push(paint(i, x, y, c) & 255);
  });
  return Uint8Array.from(out);
}

/** An IDX file of bytes. */
export function idxBytes(shape: readonly number[], values: readonly number[]): Uint8Array {
  const sizes = shape.flatMap((n) => [n >>> 24, (n >>> 16) & 255, (n >>> 8) & 255, n & 255]);
  return Uint8Array.from([0, 0, 8, shape.length, ...sizes, ...values]);
}

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A header of tar. */
export interface TarHeader {
  readonly name: string;
  readonly size: number;
  readonly type?: string;
  readonly prefix?: string;
}

/** The block of a header, by the table of POSIX. */
export function tarHeader({ name, size, type = '0', prefix = '' }: TarHeader): Uint8Array {
  const block = new Uint8Array(512);
  const put = (at: number, text: string): void => block.set(ascii(text), at);
  put(0, name);
  put(100, '0000644\0');
  put(124, `${size.toString(8).padStart(11, '0')}\0`);
  put(148, ' '.repeat(8));
  put(156, type);
  put(257, 'ustar\u000000');
  put(345, prefix);
  let sum = 0;
  for (const byte of block) sum += byte;
  put(148, `${sum.toString(8).padStart(6, '0')}\0 `);
  return block;
}

/** A file in an archive, padded to whole blocks. */
export function tarFile(header: Omit<TarHeader, 'size'>, content: Uint8Array | string): Uint8Array {
  const bytes = typeof content === 'string' ? ascii(content) : content;
  const out = new Uint8Array(512 + Math.ceil(bytes.length / 512) * 512);
  out.set(tarHeader({ ...header, size: bytes.length }));
  out.set(bytes, 512);
  return out;
}

/** One record of a pax header, its length in front. */
export function paxRecord(key: string, value: string): string {
  const rest = ascii(` ${key}=${value}\n`).length;
  let length = rest + 1;
  while (String(length).length + rest !== length) length++;
  return `${length} ${key}=${value}\n`;
}

/** An archive, with the two empty blocks that end it. */
export const tarBytes = (...parts: readonly Uint8Array[]): Uint8Array =>
  Buffer.concat([...parts, new Uint8Array(1024)]);
