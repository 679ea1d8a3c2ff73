// The first k of a stream by score, in memory for k.

import { EcifError, NumericsError } from '../../array/errors.ts';
import { type End, requireWhole } from './input.ts';

/** A pair and its score. */
export interface Scored {
  readonly index: number;
  readonly score: number;
}

/** Collects the first k of a stream. */
export interface TopK {
  /** @throws NumericsError for a NaN */
  add(index: number, score: number): void;
  /** What is held: the first k of all that were added, in order; ties by index, the lower first. */
  list(): Scored[];
}

/** Whether a comes before b. */
const before = (first: End, a: Scored, b: Scored): boolean =>
  a.score === b.score ? a.index < b.index : a.score < b.score === (first === 'lowest');

/** Moves the item at `at` of a heap with the last-placed at its root down to where it belongs. */
function sink(heap: Scored[], at: number, first: End): void {
  for (;;) {
    let last = at;
    for (const child of [2 * at + 1, 2 * at + 2])
      if (child < heap.length && before(first, heap[last], heap[child])) last = child;
    if (last === at) return;
    [heap[at], heap[last]] = [heap[last], heap[at]];
    at = last;
  }
}

/** Moves the last item of the heap up to where it belongs. */
function rise(heap: Scored[], first: End): void {
  let at = heap.length - 1;
  while (at > 0) {
    const parent = Math.floor((at - 1) / 2);
    if (!before(first, heap[parent], heap[at])) return;
    [heap[at], heap[parent]] = [heap[parent], heap[at]];
    at = parent;
  }
}

/**
 * A collector of the k lowest or highest scores; the order in which pairs are added does not matter. O(log k) each.
 * @example const top = createTopK(10, 'lowest'); scores.forEach((s, i) => top.add(i, s)); top.list();
 */
export function createTopK(k: number, first: End): TopK {
  requireWhole('k', k, 0);
  const heap: Scored[] = [];
  return {
    add: (index, score) => {
      if (Number.isNaN(score)) throw new NumericsError(`createTopK: the score of pair ${index} is NaN; give a number`);
      const item = { index, score };
      if (heap.length < k) {
        heap.push(item);
        rise(heap, first);
      } else if (k > 0 && before(first, item, heap[0])) {
        heap[0] = item;
        sink(heap, 0, first);
      }
    },
    list: () => heap.toSorted((a, b) => (before(first, a, b) ? -1 : 1)),
  };
}

/**
 * The first k of several lists together, as if one collector had seen all of their pairs.
 * @param lists each with the first k or more of a part of the pairs
 * @throws EcifError where two lists hold the same pair
 */
export function mergeTopK(lists: readonly (readonly Scored[])[], k: number, first: End): Scored[] {
  const top = createTopK(k, first);
  const seen = new Set<number>();
  for (const { index, score } of lists.flat()) {
    if (seen.has(index)) throw new EcifError(`mergeTopK: pair ${index} is there twice; merge lists of different pairs`);
    seen.add(index);
    top.add(index, score);
  }
  return top.list();
}
