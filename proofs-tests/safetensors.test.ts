// Safetensors: values bit by bit, files written and read back, and hostile files refused before anything is allocated.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EcifError } from '../src/array/errors.ts';
import { type ByteSource, bytesSource } from '../src/models/clip/byte-source.ts';
import { decodeBF16, decodeF16, encodeBF16, encodeF16 } from '../src/models/clip/float16.ts';
import { openSafetensors, requireTensors, writeSafetensors } from '../src/models/clip/safetensors.ts';
import { safetensorsFile, watched } from './support/safetensors.ts';

type Decode = (bytes: Uint8Array, out: Float32Array, start: number) => void;

/** The value of 16 bits. */
function valueOf(decode: Decode, bits: number): number {
  const out = new Float32Array(1);
  decode(Uint8Array.of(bits & 255, bits >> 8), out, 0);
  return out[0];
}

/** A number that is neither tiny nor huge, of either sign. */
const number = fc
  .tuple(fc.integer({ min: -(2 ** 30), max: 2 ** 30 }), fc.integer({ min: -60, max: -16 }))
  .map(([m, e]) => m * 2 ** e);

describe.each([
  ['F16', encodeF16, decodeF16, 0x7c00],
  ['BF16', encodeBF16, decodeBF16, 0x7f80],
] as const)('%s', (_name, encode, decode, infinite) => {
  it('every one of the 65536 values comes back', () => {
    const isNaNCode = (bits: number): boolean => (bits & infinite) === infinite && (bits & 0x7fff) !== infinite;
    const wrong = Array.from({ length: 65536 }, (_, bits) => bits).filter((bits) => {
      const value = valueOf(decode, bits);
      return Number.isNaN(value) ? !isNaNCode(bits) : encode(value) !== bits;
    });
    expect(wrong).toEqual([]);
  });

  it('the nearest value is taken, the even one of two', () => {
    fc.assert(
      fc.property(number, (x) => {
        const bits = encode(x);
        const error = Math.abs(valueOf(decode, bits) - x);
        const others = [bits - 1, bits + 1].filter((b) => (b & 0x8000) === (bits & 0x8000) && (b & 0x7fff) < infinite);
        for (const other of others) {
          const away = Math.abs(valueOf(decode, other) - x);
          expect(error < away || (error === away && bits % 2 === 0)).toBe(true);
        }
      }),
    );
  });
});

it('16-bit floats have the values IEEE 754 gives them', () => {
  const halves: [number, number][] = [
    [0x3c00, 1],
    [0xc000, -2],
    [0x7bff, 65504],
    [0x0001, 2 ** -24],
    [0x0400, 2 ** -14],
    [0x3555, 0.333251953125],
    [0xfc00, -Infinity],
  ];
  for (const [bits, value] of halves) expect(valueOf(decodeF16, bits)).toBe(value);
  expect([valueOf(decodeBF16, 0x3f80), valueOf(decodeBF16, 0xc049), valueOf(decodeBF16, 0x7f80)]).toEqual([
    1,
    -3.140625,
    Infinity,
  ]);
  expect([encodeF16(65519), encodeF16(65520), encodeF16(2 ** -25), encodeF16(1.5 * 2 ** -25)]).toEqual([
    0x7bff, 0x7c00, 0, 1,
  ]);
});

describe('a file', () => {
  it('made by hand gives names, shapes, metadata and values', async () => {
    const header = {
      __metadata__: { format: 'pt' },
      a: { dtype: 'F32', shape: [2], data_offsets: [0, 8] },
      b: { dtype: 'F16', shape: [1, 2], data_offsets: [8, 12] },
      c: { dtype: 'BF16', shape: [], data_offsets: [12, 14] },
      d: { dtype: 'F64', shape: [1], data_offsets: [14, 22] },
      none: { dtype: 'F32', shape: [0, 7], data_offsets: [22, 22] },
      ids: { dtype: 'I64', shape: [1], data_offsets: [22, 30] },
    };
    const body = [0, 0, 0x80, 0x3f, 0, 0, 0x20, 0xc0, 0, 0x3c, 0, 0xc0, 0x80, 0x3f, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f];
    const bytes = safetensorsFile(header, Uint8Array.from([...body, ...Array<number>(8).fill(0)]));
    const file = await openSafetensors(bytesSource('m.safetensors', bytes));
    expect(file.metadata).toEqual({ format: 'pt' });
    expect(file.tensors.get('b')).toMatchObject({ dtype: 'F16', shape: [1, 2], length: 4 });
    expect(await file.values('a')).toEqual(Float32Array.of(1, -2.5));
    expect(await file.values('b')).toEqual(Float32Array.of(1, -2));
    expect(await file.values('c')).toEqual(Float32Array.of(1));
    expect(await file.values('d')).toEqual(Float64Array.of(1.5));
    expect(await file.values('none')).toEqual(new Float32Array(0));
    await expect(file.values('ids')).rejects.toThrow('m.safetensors: tensor "ids": dtype: found I64');
    await expect(file.values('e')).rejects.toThrow('m.safetensors: tensor "e": not among the 6 there');
  });

  it('written comes back, each tensor at a multiple of its width', async () => {
    const tensors = fc.uniqueArray(
      fc.record({
        name: fc.string({ minLength: 1, unit: 'grapheme' }),
        shape: fc.array(fc.nat(4), { maxLength: 3 }),
        dtype: fc.constantFrom('F64', 'F32', 'F16', 'BF16'),
      }),
      { selector: ({ name }) => name, maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(tensors, async (plans) => {
        const wanted = plans.map((plan) => {
          const count = plan.shape.reduce((a, b) => a * b, 1);
          return { ...plan, values: Array.from({ length: count }, (_, i) => (i - 3) / 4) };
        });
        const file = await openSafetensors(bytesSource('w', writeSafetensors(wanted, { made: 'here' })));
        expect(file.metadata).toEqual({ format: 'pt', made: 'here' });
        expect(file.tensors.size).toBe(wanted.length);
        for (const { name, shape, dtype, values } of wanted) {
          const info = file.tensors.get(name);
          expect(info).toMatchObject({ shape, dtype });
          expect((info?.offset ?? 1) % { F64: 8, F32: 4, F16: 2, BF16: 2 }[dtype]).toBe(0);
          expect(await file.values(name)).toEqual((dtype === 'F64' ? Float64Array : Float32Array).from(values));
        }
      }),
      { numRuns: 50 },
    );
  });

  it.each([
    ['a name given twice', [{ name: 'w' }, { name: 'w' }], 'tensor "w": given twice'],
    ['a reserved name', [{ name: '__metadata__' }], 'the name is reserved'],
    ['another count', [{ name: 'w', values: [1, 2] }], 'tensor "w": 2 values for [1]'],
    ['no shape', [{ name: 'w', shape: [-1] }], 'tensor "w": shape [-1]'],
    ['F16 too small', [{ name: 'w', values: [1e6], dtype: 'F16' as const }], '1000000 is too large for F16; use F32'],
    ['BF16 too small', [{ name: 'w', values: [3.4e38 * 2], dtype: 'BF16' as const }], 'too large for BF16; use F64'],
    ['F32 too small', [{ name: 'w', values: [1e39], dtype: 'F32' as const }], 'too large for F32; use F64'],
  ])('with %s is not written', (_what, tensors, message) => {
    const whole = tensors.map((t) => ({ shape: [1], values: [1], ...t }));
    expect(() => writeSafetensors(whole)).toThrow(message);
  });

  it('is read in pieces, and its tensors one at a time', async () => {
    const count = 3 * 2 ** 20;
    const values = Float32Array.from({ length: count }, (_, i) => i % 1000);
    const { source, largest } = watched('big', writeSafetensors([{ name: 'w', shape: [count], values }]));
    const file = await openSafetensors(source);
    expect(largest()).toBeLessThan(200);
    const found = await file.values('w');
    expect(found.every((x, i) => x === values[i]) && found.length === count).toBe(true);
    expect(largest()).toBeLessThanOrEqual(4 * 2 ** 20);
  });

  it('is refused before a tensor is read if the model needs another', async () => {
    const header = {
      w: { dtype: 'F32', shape: [1, 2], data_offsets: [0, 8] },
      i: { dtype: 'I32', shape: [1], data_offsets: [8, 12] },
    };
    const { source, largest } = watched('m', safetensorsFile(header, new Uint8Array(12)));
    const file = await openSafetensors(source);
    const before = largest();
    expect(() => requireTensors(file, new Map([['w', [1, 2]]]))).not.toThrow();
    expect(() => requireTensors(file, new Map([['w', [2, 1]]]))).toThrow(
      'm: tensor "w": shape: found [1, 2], the model needs [2, 1]; is the config of another model?',
    );
    expect(() => requireTensors(file, new Map([['v', [2]]]))).toThrow('m: tensor "v": not among the 2 there');
    expect(() => requireTensors(file, new Map([['i', [1]]]))).toThrow('m: tensor "i": dtype: found I32');
    expect(largest()).toBe(before);
  });
});

const good = { dtype: 'F32', shape: [1], data_offsets: [0, 4] };
const four = new Uint8Array(4);

describe('a hostile file', () => {
  const twice = `{"w":${JSON.stringify(good)},"w":${JSON.stringify(good)}}`;
  const escaped = `{"w":${JSON.stringify(good)},"\\u0077":${JSON.stringify(good)}}`;
  const spaced = `{"w":${JSON.stringify(good)},"w"${' '.repeat(200)}:${JSON.stringify(good)}}`;
  const CASES: [string, Uint8Array, string][] = [
    ['empty', new Uint8Array(0), 'm: header: the file has 0 bytes'],
    ['cut in its length', new Uint8Array(7), 'm: header: the file has 7 bytes'],
    ['with a header beyond its end', safetensorsFile({ w: good }, four, 2n ** 20n), 'm: header: 1048576 bytes'],
    [
      'with a header of 2⁶⁴ − 1 bytes',
      safetensorsFile({}, four, 2n ** 64n - 1n),
      'm: header: 18446744073709551615 bytes',
    ],
    [
      'that is not UTF-8',
      safetensorsFile(Uint8Array.of(0x7b, 0xff, 0x7d), four),
      'm: header: found bytes that are not',
    ],
    ['that is not JSON', safetensorsFile('{"w":', four), 'm: header: not JSON'],
    ['that is a list', safetensorsFile([], four), 'm: header: found a list of 0; give an object'],
    ['nested deeply', safetensorsFile('['.repeat(1e5), four), 'm: header: nested deeper than 3'],
    [
      'with a tensor twice',
      safetensorsFile(twice, four),
      'm: header "w": the key stands there twice; keep one of them',
    ],
    ['with a tensor twice, once escaped', safetensorsFile(escaped, four), 'm: header "w": the key stands there twice'],
    ['with a tensor twice, blanks between', safetensorsFile(spaced, four), 'm: header "w": the key stands there twice'],
    ['with a tensor that is null', safetensorsFile({ w: null }, four), 'm: tensor "w": found null; give dtype'],
    [
      'with an unknown dtype',
      safetensorsFile({ w: { ...good, dtype: 'F33' } }, four),
      'm: tensor "w": dtype: found "F33"',
    ],
    [
      'with a dtype from the prototype',
      safetensorsFile({ w: { ...good, dtype: 'constructor' } }, four),
      'm: tensor "w": dtype: found "constructor"',
    ],
    [
      'with a negative side',
      safetensorsFile({ w: { ...good, shape: [-1, -1] } }, four),
      'm: tensor "w": shape: found a list of 2; give a list of whole numbers ≥ 0',
    ],
    [
      'with a huge shape',
      safetensorsFile({ w: { ...good, shape: [2 ** 40, 2 ** 40] } }, four),
      'm: tensor "w": shape: F32 [1099511627776, 1099511627776] is',
    ],
    [
      'with another shape than bytes',
      safetensorsFile({ w: { ...good, shape: [2] } }, four),
      'm: tensor "w": shape: F32 [2] is 8 bytes, data_offsets give 4; is the file damaged?',
    ],
    [
      'with offsets beyond its end',
      safetensorsFile({ w: { ...good, shape: [2], data_offsets: [0, 8] } }, four),
      'm: tensor "w": data_offsets: found 0…8 of 4 bytes; is the file complete?',
    ],
    [
      'with offsets the wrong way round',
      safetensorsFile({ w: { ...good, data_offsets: [4, 0] } }, four),
      'm: tensor "w": data_offsets: found 4…0',
    ],
    [
      'with offsets that are no numbers',
      safetensorsFile({ w: { ...good, data_offsets: ['0', 4] } }, four),
      'm: tensor "w": data_offsets: found a list of 2; give a begin and an end',
    ],
    [
      'with tensors that overlap',
      safetensorsFile({ v: good, w: { ...good, data_offsets: [2, 6] } }, new Uint8Array(6)),
      'm: tensor "w": data_offsets: overlaps the tensor before it',
    ],
    [
      'with tensors at one place',
      safetensorsFile({ v: good, w: good }, four),
      'm: tensor "w": data_offsets: overlaps the tensor before it',
    ],
    [
      'with a hole',
      safetensorsFile({ v: good, w: { ...good, data_offsets: [8, 12] } }, new Uint8Array(12)),
      'm: tensor "w": data_offsets: leaves 4 bytes before it unused',
    ],
    ['with bytes left over', safetensorsFile({ w: good }, new Uint8Array(9)), 'm: tensors: end at byte'],
    ['with numbers as metadata', safetensorsFile({ __metadata__: { a: 1 }, w: good }, four), 'm: __metadata__: found'],
  ];
  it.each(CASES)('%s is refused, with file and tensor', async (_what, bytes, message) => {
    const { source, largest } = watched('m', bytes);
    await expect(openSafetensors(source)).rejects.toThrow(message);
    await expect(openSafetensors(source)).rejects.toBeInstanceOf(EcifError);
    expect(largest()).toBeLessThanOrEqual(bytes.length);
  });

  it('with a header of gigabytes is refused after eight bytes', async () => {
    const read: number[] = [];
    const prefix = safetensorsFile('', new Uint8Array(0), 2n ** 33n);
    const source: ByteSource = {
      name: 'm',
      size: 2 ** 40,
      read: async (offset, length) => {
        read.push(length);
        return prefix.subarray(offset, offset + length);
      },
    };
    await expect(openSafetensors(source)).rejects.toThrow('m: header: 8589934592 bytes, at most 8388608');
    expect(read).toEqual([8]);
  });
});

describe('mutated files', () => {
  const whole = writeSafetensors([
    { name: 'logit_scale', shape: [], values: [2.6] },
    { name: 'q_proj.weight', shape: [4, 3], values: Array.from({ length: 12 }, (_, i) => i / 7), dtype: 'F16' },
    { name: 'q_proj.bias', shape: [4], values: [1, 2, 3, 4], dtype: 'BF16' },
  ]);
  const json = new TextDecoder().decode(whole.subarray(8, whole.length - 36)).trimEnd();
  const body = whole.slice(whole.length - 36);

  const flips = fc
    .array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 })
    .map((changes) => changes.reduce((bytes, [at, value]) => bytes.with(at, value), whole));
  const cuts = fc.nat(whole.length).map((n) => whole.slice(0, n));
  const extensions = fc.uint8Array({ maxLength: 40 }).map((more) => Uint8Array.from([...whole, ...more]));
  const lengths = fc.bigInt(0n, 2n ** 64n - 1n).map((n) => {
    const bytes = whole.slice();
    new DataView(bytes.buffer).setBigUint64(0, n, true);
    return bytes;
  });
  // Numbers, names and marks of the header replaced, with a length that fits.
  const edits = fc
    .array(
      fc.tuple(fc.nat(200), fc.constantFrom('-1', '0', '1e308', '4', '9007199254740993', 'null', '[]', '"F64"', '{}')),
      { minLength: 1, maxLength: 3 },
    )
    .map((changes) => {
      const tokens = json.split(/("[^"]*"|\d+)/);
      for (const [at, text] of changes) tokens[(2 * at + 1) % (tokens.length - 1)] = text;
      return safetensorsFile(tokens.join(''), body);
    });
  const mutated = fc.oneof(flips, cuts, extensions, lengths, edits);

  type Open = typeof openSafetensors;

  /** Opens and reads everything: nothing but an EcifError, no read and no values beyond the file. */
  async function survives(open: Open, bytes: Uint8Array): Promise<void> {
    const { source, largest } = watched('m', bytes);
    try {
      const file = await open(source);
      let total = 0;
      for (const { name, length } of file.tensors.values()) {
        total += length;
        await file.values(name);
      }
      expect(total).toBeLessThanOrEqual(bytes.length);
    } catch (error) {
      if (!(error instanceof EcifError)) throw error;
      expect(error.message).toMatch(/^m: .+; .+/);
    }
    expect(largest()).toBeLessThanOrEqual(bytes.length);
  }

  it('never do worse than an EcifError, and never read beyond the file', async () => {
    await survives(openSafetensors, whole);
    await fc.assert(
      fc.asyncProperty(mutated, (bytes) => survives(openSafetensors, bytes)),
      { numRuns: 2000 },
    );
  });

  it('are told from a reader that trusts them', async () => {
    const trusting: Open = async (source) => {
      const head = await source.read(0, Math.min(8, source.size));
      const length = Number(new DataView(head.slice().buffer).getBigUint64(0, true));
      const { __metadata__, ...entries } = JSON.parse(
        new TextDecoder().decode(await source.read(8, Math.min(length, source.size - 8))),
      );
      void __metadata__;
      const tensors = new Map(Object.entries(entries as Record<string, { data_offsets: number[] }>));
      return {
        source: source.name,
        metadata: {},
        tensors: new Map(
          [...tensors].map(([name, t]) => [name, { name, dtype: '', shape: [], offset: 0, length: t.data_offsets[1] }]),
        ),
        values: async () => new Float32Array(0),
      };
    };
    const caught = await fc.check(
      fc.asyncProperty(mutated, (bytes) => survives(trusting, bytes)),
      { numRuns: 200 },
    );
    expect(caught.failed).toBe(true);
  });
});
