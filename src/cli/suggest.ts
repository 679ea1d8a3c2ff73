// The nearest known word to a mistyped one.

/** Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`. */
export function editDistance(a: string, b: string): number {
  const d = Array.from({ length: a.length + 1 }, (_, i) => {
    return Array.from({ length: b.length + 1 }, (_unused, j) => (i === 0 ? j : j === 0 ? i : 0));
  });
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const replace = d[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      d[i][j] = Math.min(d[i - 1][j] + 1, d[i][j - 1] + 1, replace);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.length][b.length];
}

/** The candidate nearest to `word`, or else one that ends in it, such as edit-tolerance for tolerance; null where none is. */
export function nearest(word: string, candidates: readonly string[]): string | null {
  // A third of the letters may be wrong, at least one of two or more.
  const most = Math.min(word.length - 1, Math.max(1, Math.floor(word.length / 3)));
  let [best, distance] = [null as string | null, most + 1];
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= distance) continue;
    const d = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (d < distance) [best, distance] = [candidate, d];
  }
  return best ?? candidates.find((candidate) => candidate.endsWith(`-${word}`)) ?? null;
}
