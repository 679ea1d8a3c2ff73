// Vectors on the host, in float64.

/** ⟨a, b⟩. */
export function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

/** ‖a‖. */
export const norm = (a: Float64Array): number => Math.sqrt(dot(a, a));

/** a + k·b. */
export function addScaled(a: Float64Array, k: number, b: Float64Array): Float64Array {
  const out = new Float64Array(a.length);
  for (let i = 0; i < out.length; i++) out[i] = a[i] + k * b[i];
  return out;
}

/** ‖a − b‖. */
export function distance(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] - b[i]) ** 2;
  return Math.sqrt(sum);
}
