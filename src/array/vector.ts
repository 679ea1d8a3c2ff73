// Vectors on the host, in float64.

/** ⟨a, b⟩. */
export const dot = (a: Float64Array, b: Float64Array): number => a.reduce((s, x, i) => s + x * b[i], 0);

/** ‖a‖. */
export const norm = (a: Float64Array): number => Math.sqrt(dot(a, a));

/** a + k·b. */
export const addScaled = (a: Float64Array, k: number, b: Float64Array): Float64Array => a.map((x, i) => x + k * b[i]);

/** ‖a − b‖. */
export const distance = (a: Float64Array, b: Float64Array): number => norm(addScaled(a, -1, b));
