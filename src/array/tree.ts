// Nested parameter trees: plain objects and arrays whose leaves are values of one kind.

import { ShapeError } from './errors.ts';

const isNode = (x: unknown): x is readonly unknown[] | Record<string, unknown> =>
  Array.isArray(x) || (typeof x === 'object' && x !== null && Object.getPrototypeOf(x) === Object.prototype);

const isEmpty = (x: unknown): x is null | undefined => x === undefined || x === null;

/** Entries in a fixed order: lists as they are, keys sorted, so that trees with equal keys always match. */
const entriesOf = (node: readonly unknown[] | Record<string, unknown>): [string, unknown][] => {
  const entries = Object.entries(node);
  return Array.isArray(node) ? entries : entries.sort(([a], [b]) => (a < b ? -1 : 1));
};

/** Leaves in a fixed order: list order, sorted keys; `null` and `undefined` are no leaves. */
export function treeLeaves<L>(tree: unknown): L[] {
  if (isNode(tree)) return entriesOf(tree).flatMap(([, child]) => treeLeaves<L>(child));
  return isEmpty(tree) ? [] : [tree as L];
}

/** Names of the leaves, `a.b.0`, in the order of {@link treeLeaves}. */
export function treePaths(tree: unknown, prefix = ''): string[] {
  if (!isNode(tree)) return isEmpty(tree) ? [] : [prefix];
  return entriesOf(tree).flatMap(([k, child]) => treePaths(child, prefix === '' ? k : `${prefix}.${k}`));
}

/** The tree of the same form with `f(leaf, index)` in place of every leaf. */
export function treeMap<L, T, R = T>(tree: T, f: (leaf: L, index: number) => unknown): R {
  let index = 0;
  const walk = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(walk);
    if (isNode(node)) return Object.fromEntries(entriesOf(node).map(([k, child]) => [k, walk(child)]));
    return isEmpty(node) ? node : f(node as L, index++);
  };
  return walk(tree) as R;
}

/** The tree of the form of `like` whose leaves are `leaves`, in order. */
export function treeFrom<T, R = T>(like: T, leaves: readonly unknown[]): R {
  const expected = treeLeaves(like).length;
  if (expected !== leaves.length) {
    throw new ShapeError(`treeFrom: ${leaves.length} leaves for a tree of ${expected}; give one value per leaf`);
  }
  return treeMap<unknown, T, R>(like, (_, i) => leaves[i]);
}
