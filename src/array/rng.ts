// Seeded random numbers: the same seed gives the same stream on every machine.

/** A small reproducible generator (xoshiro128** seeded by splitmix32). */
export interface Rng {
  /** Uniform in [0, 1). */
  uniform(): number;
  /** Standard normal (Box–Muller). */
  normal(): number;
  /** Whole number in 0…n−1. */
  int(n: number): number;
  /** Fisher–Yates permutation of 0…n−1. */
  permutation(n: number): Uint32Array;
  /** An independent stream named by `label`. */
  fork(label: number): Rng;
}

const rotl = (x: number, k: number): number => ((x << k) | (x >>> (32 - k))) >>> 0;

function splitmix32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return (z ^ (z >>> 15)) >>> 0;
  };
}

/**
 * Makes a generator.
 * @param seed any whole number; equal seeds give equal streams
 * @example const rng = createRng(7); rng.normal();
 */
export function createRng(seed: number): Rng {
  const fill = splitmix32(seed);
  const s = [fill(), fill(), fill(), fill()];
  let spare: number | null = null;
  const next = (): number => {
    const result = Math.imul(rotl(Math.imul(s[1], 5) >>> 0, 7), 9) >>> 0;
    const t = (s[1] << 9) >>> 0;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3] >>> 0, 11);
    return result;
  };
  // 53 random bits from two draws.
  const uniform = (): number => ((next() >>> 5) * 67108864 + (next() >>> 6)) / 9007199254740992;
  const normal = (): number => {
    if (spare !== null) {
      const z = spare;
      spare = null;
      return z;
    }
    const r = Math.sqrt(-2 * Math.log(1 - uniform()));
    const angle = 2 * Math.PI * uniform();
    spare = r * Math.sin(angle);
    return r * Math.cos(angle);
  };
  const int = (n: number): number => Math.floor(uniform() * n);
  const permutation = (n: number): Uint32Array => {
    const p = Uint32Array.from({ length: n }, (_, i) => i);
    for (let i = n - 1; i > 0; i--) {
      const j = int(i + 1);
      [p[i], p[j]] = [p[j], p[i]];
    }
    return p;
  };
  return {
    uniform,
    normal,
    int,
    permutation,
    fork: (label) => createRng((seed ^ Math.imul(label + 1, 0x85ebca6b)) >>> 0),
  };
}
