// What a computation takes on a device, given back however it ends.

import { disposeTree } from '../../src/index.ts';

/** Notes something to be given back at the end, and returns it: a tree of tensors, or what has a `dispose`. */
export type Keep = <T extends object>(made: T) => T;

/** Runs a computation; all that it keeps is given back at its end, also where it fails. */
export async function holding<R>(run: (keep: Keep) => Promise<R>): Promise<R> {
  const held: object[] = [];
  try {
    return await run((made) => {
      held.push(made);
      return made;
    });
  } finally {
    for (const one of held) {
      if ('dispose' in one && typeof one.dispose === 'function') one.dispose();
      else disposeTree(one);
    }
  }
}
