// How a time grows: the slope of its logarithm by least squares.

/** x with time ≈ constant·size^x. */
export function growth(sizes: readonly number[], times: readonly number[]): number {
  const [a, b] = [sizes.map(Math.log), times.map(Math.log)];
  const mean = (v: readonly number[]): number => v.reduce((s, x) => s + x, 0) / v.length;
  const [ma, mb] = [mean(a), mean(b)];
  const cross = a.reduce((s, x, i) => s + (x - ma) * (b[i] - mb), 0);
  return cross / a.reduce((s, x) => s + (x - ma) ** 2, 0);
}
