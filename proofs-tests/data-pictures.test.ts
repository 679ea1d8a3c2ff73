// Pictures: decoded when wanted; cut off, enormous or hostile ones are errors that name them.
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { openDecoder } from '../src/data/images.node.ts';
import { temporaryFolder } from './support/shapes.ts';

/** One chunk of a PNG. */
function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crc32(body), body.length + 4);
  return out;
}

/** A PNG of grey pixels that says how large it is, whatever it holds. */
function png(width: number, height: number, rows: Uint8Array): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head[8] = 8;
  const front = Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]);
  return Buffer.concat([front, chunk('IHDR', head), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]);
}

const noise = (): Promise<Buffer> =>
  sharp(
    Uint8Array.from({ length: 64 * 64 * 3 }, (_, i) => (i * 2654435761) >>> 24),
    {
      raw: { width: 64, height: 64, channels: 3 },
    },
  )
    .jpeg()
    .toBuffer();

describe('a picture', () => {
  it('written by hand is decoded, so that those below fail for what is wrong with them', async () => {
    const path = join(temporaryFolder(), 'a.png');
    writeFileSync(path, png(2, 1, Uint8Array.of(0, 7, 200)));
    const { width, height, data } = await (await openDecoder())(path);
    expect([width, height, ...data]).toEqual([2, 1, 7, 7, 7, 200, 200, 200]);
  });

  it.each<[string, () => Buffer | Promise<Buffer>, RegExp]>([
    ['of 20000 × 20000 pixels in a few kB', () => png(20000, 20000, new Uint8Array(2 ** 20)), /pixel limit/],
    ['of 2³¹ × 2³¹ pixels', () => png(2 ** 31 - 1, 2 ** 31 - 1, new Uint8Array(9)), /./],
    ['that is a JPEG cut in half', async () => (await noise()).subarray(0, 1000), /premature end/i],
    ['that is a PNG cut in half', () => png(300, 300, crypto.getRandomValues(new Uint8Array(301 * 200))), /./],
    ['that is empty', () => Buffer.alloc(0), /./],
  ])('%s is an error that names it', async (_, bytes, why) => {
    const path = join(temporaryFolder(), 'a.png');
    writeFileSync(path, await bytes());
    const error = await (await openDecoder())(path).catch((e: unknown) => e as Error);
    expect((error as Error).message).toMatch(/^.*a\.png: cannot be decoded, [^\n]+; replace the picture$/);
    expect((error as Error).message).toMatch(why);
  });

  it('whose file is far too large is not read', async () => {
    const path = join(temporaryFolder(), 'a.png');
    writeFileSync(path, '');
    truncateSync(path, 2 ** 28 + 1);
    await expect((await openDecoder())(path)).rejects.toThrow('268435457 bytes, at most 268435456; is this a picture?');
  });
});
