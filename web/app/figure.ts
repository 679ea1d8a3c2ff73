// What a figure is: parameters of its own, and a function that mounts it.

import type { Engine } from './engine.ts';
import type { Params, ValuesOf } from './params.ts';

/** What a figure may do with the page around it. */
export interface Host<P extends Params> {
  /** Runs the functions of `web/maths` in a worker. */
  readonly engine: Engine;
  /**
   * Changes parameters; `set` of the figure follows at once with all of them.
   * @param done false while a slider or a point is moved: the address follows, the history does not
   */
  change(patch: Partial<ValuesOf<P>>, done?: boolean): void;
}

/** A figure on the page. */
export interface Mounted<P extends Params> {
  /** Shows other parameters. */
  set(values: ValuesOf<P>): void;
  dispose(): void;
}

/** A figure. */
export interface Figure<P extends Params = Params> {
  /** In addresses and in the article. */
  readonly name: string;
  /** Heading of its own page. */
  readonly title: string;
  readonly params: P;
  /** Its work takes long, and has a worker of its own so that other figures need not wait for it. */
  readonly long?: boolean;
  mount(el: HTMLElement, values: ValuesOf<P>, host: Host<P>): Mounted<P>;
}

/** A figure with the types of its parameters. */
export const defineFigure = <const P extends Params>(figure: Figure<P>): Figure<P> => figure;
