// The 16-bit floats of weight files: F16 (IEEE half) and BF16 (the upper half of a float32).

/** A 16-bit format: `bits` of fraction, exponents down to `least` before subnormals. */
interface Format {
  readonly bits: number;
  readonly least: number;
}

const F16: Format = { bits: 10, least: -14 };
const BF16: Format = { bits: 7, least: -126 };

const wide = new DataView(new ArrayBuffer(8));
let halves: Float32Array | undefined;

/** x = ±(1 + f/2¹⁰)·2^(e−15), or ±f·2⁻²⁴ where e = 0. */
function decodeOneHalf(bits: number): number {
  const [sign, exponent, fraction] = [bits & 0x8000 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
}

/** The 65536 half floats by their bits. */
function halfTable(): Float32Array {
  return (halves ??= Float32Array.from({ length: 65536 }, (_, bits) => decodeOneHalf(bits)));
}

/**
 * Values of little-endian F16 bytes, written into `out` from `start` on.
 * @example decodeF16(Uint8Array.of(0x00, 0x3c), out, 0); // out[0] = 1
 */
export function decodeF16(bytes: Uint8Array, out: Float32Array, start: number): void {
  const table = halfTable();
  for (let i = 0; 2 * i < bytes.length; i++) out[start + i] = table[bytes[2 * i] | (bytes[2 * i + 1] << 8)];
}

/**
 * Values of little-endian BF16 bytes, written into `out` from `start` on.
 * @example decodeBF16(Uint8Array.of(0x80, 0x3f), out, 0); // out[0] = 1
 */
export function decodeBF16(bytes: Uint8Array, out: Float32Array, start: number): void {
  const words = new Uint32Array(out.buffer, out.byteOffset, out.length);
  for (let i = 0; 2 * i < bytes.length; i++) words[start + i] = (bytes[2 * i] << 16) | (bytes[2 * i + 1] << 24);
}

/** The whole number nearest to x ≥ 0, the even one of two. */
function roundEven(x: number): number {
  const floor = Math.floor(x);
  const rest = x - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
}

/** Bits of the number of a format nearest to x, the even one of two; too large becomes infinite. */
function encode(x: number, { bits, least }: Format): number {
  const sign = x < 0 || Object.is(x, -0) ? 0x8000 : 0;
  const infinite = (3 - 2 * least) << bits;
  if (Number.isNaN(x)) return infinite | (1 << (bits - 1));
  const magnitude = Math.abs(x);
  if (magnitude === Infinity) return sign | infinite;
  wide.setFloat64(0, magnitude);
  const exponent = Math.max((wide.getUint16(0) >> 4) - 1023, least);
  // The fraction's carry runs on into the exponent, as it should.
  const code = ((exponent - least) << bits) + roundEven(magnitude * 2 ** (bits - exponent));
  return sign | Math.min(code, infinite);
}

/**
 * Bits of the F16 nearest to a number, ties to even; beyond 65504 it is infinite.
 * @example encodeF16(1); // 0x3c00
 */
export const encodeF16 = (x: number): number => encode(x, F16);

/**
 * Bits of the BF16 nearest to a number, ties to even.
 * @example encodeBF16(1); // 0x3f80
 */
export const encodeBF16 = (x: number): number => encode(x, BF16);
