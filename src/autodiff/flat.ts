// A tree of tensors as one vector on the host, and back.

import type { Rng } from '../array/rng.ts';
import { treeFrom, treeLeaves } from '../array/tree.ts';
import { disposeTree, readAll, scope, type Tensor, tensor } from './tensor.ts';

/** Trees of one form, leaves one after the other. */
export class Flat<T> {
  readonly #like: T;
  readonly #leaves: readonly Tensor[];

  /** @param like a tree of the form, whose device new trees are made on */
  constructor(like: T) {
    this.#like = like;
    this.#leaves = treeLeaves<Tensor>(like);
  }

  /** Where the tree lies. */
  get device(): Tensor['device'] {
    return this.#leaves[0].device;
  }

  /** Number of values. */
  get size(): number {
    return this.#leaves.reduce((n, x) => n + x.size, 0);
  }

  /** The tree with these values. */
  toTree(values: Float64Array): T {
    let first = 0;
    return treeFrom(
      this.#like,
      this.#leaves.map((x) => tensor(x.device, values.slice(first, (first += x.size)), x.shape)),
    );
  }

  /** A tree of standard normal values. */
  normal(rng: Rng): T {
    return this.toTree(Float64Array.from({ length: this.size }, () => rng.normal()));
  }

  /** The values of a tree. */
  async toVector(tree: T): Promise<Float64Array> {
    const out = new Float64Array(this.size);
    let first = 0;
    for (const part of await readAll(treeLeaves<Tensor>(tree))) {
      out.set(part, first);
      first += part.length;
    }
    return out;
  }

  /** The values of the tree that `f` makes; its memory is given back. */
  async read(f: () => T): Promise<Float64Array> {
    const tree = scope(f);
    const out = await this.toVector(tree);
    disposeTree(tree);
    return out;
  }
}
