// Pictures sorted into classes by their similarity to what the classes are called.

/** How one class fared. */
export interface ClassResult {
  readonly name: string;
  /** Pictures of it. */
  readonly count: number;
  readonly correct: number;
  /** The class its other pictures were taken for most often; null where there are none. */
  readonly confusedWith: string | null;
}

/** Zero-shot accuracy. */
export interface ZeroShot {
  readonly pictures: number;
  /** Pictures whose own class is strictly the most similar; ties count against the model. */
  readonly accuracy: number;
  /** Pictures whose own class is among the first five. */
  readonly top5: number;
  readonly chance: number;
  readonly classes: readonly ClassResult[];
}

/** The key that stands most often, the first of equals. */
function mostOften(values: readonly number[]): number | null {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].reduce<[number | null, number]>(
    (best, [value, n]) => (n > best[1] ? [value, n] : best),
    [null, 0],
  )[0];
}

/**
 * Accuracy of pictures against class names.
 * @param s similarities, row i picture i, column c class c, (pictures, classes)
 * @param labels class of each picture
 * @example zeroShot([0.9, 0.1, 0.2, 0.2], [0, 1], ['cat', 'dog']).accuracy; // 0.5: the second is a tie
 */
export function zeroShot(s: ArrayLike<number>, labels: ArrayLike<number>, names: readonly string[]): ZeroShot {
  const [n, many] = [labels.length, names.length];
  const missed = names.map((): number[] => []);
  const counts = names.map(() => 0);
  let [first, firstFive] = [0, 0];
  for (let i = 0; i < n; i++) {
    const own = s[i * many + labels[i]];
    const others = names.map((_, c) => c).filter((c) => c !== labels[i]);
    const ahead = others.filter((c) => !(s[i * many + c] < own));
    counts[labels[i]]++;
    if (ahead.length < 1) first++;
    else missed[labels[i]].push(ahead.reduce((a, b) => (s[i * many + b] > s[i * many + a] ? b : a)));
    if (ahead.length < 5) firstFive++;
  }
  const classes = names.map((name, c): ClassResult => {
    const other = mostOften(missed[c]);
    const correct = counts[c] - missed[c].length;
    return { name, count: counts[c], correct, confusedWith: other === null ? null : names[other] };
  });
  return { pictures: n, accuracy: first / n, top5: firstFive / n, chance: 1 / many, classes };
}
