// A tree of tensors as one vector on the host, and back.

import type { Rng } from '../array/rng.ts';
import { ShapeError } from '../array/errors.ts';
import { sameShape } from '../array/shape.ts';
import { treeFrom, treeLeaves, treePaths } from '../array/tree.ts';
import { disposeTree, readAll, scope, type Tensor, tensor } from './tensor.ts';

/** Trees of one form, leaves one after the other. */
export class Flat<T> {
  readonly #like: T;
  readonly #leaves: readonly Tensor[];
  readonly #paths: string;

  /** @param like a tree of the form, whose device new trees are made on */
  constructor(like: T) {
    this.#like = like;
    this.#leaves = treeLeaves<Tensor>(like);
    this.#paths = treePaths(like).join();
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

  /**
   * The values of a tree.
   * @throws ShapeError for a tree of another form
   */
  async toVector(tree: T): Promise<Float64Array> {
    const leaves = treeLeaves<Tensor>(tree);
    const fits =
      treePaths(tree).join() === this.#paths && leaves.every((x, i) => sameShape(x.shape, this.#leaves[i].shape));
    if (!fits) throw new ShapeError(`flat: a tree of other leaves or shapes; give one of the form of ${this.#paths}`);
    const out = new Float64Array(this.size);
    let first = 0;
    for (const part of await readAll(leaves)) {
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
