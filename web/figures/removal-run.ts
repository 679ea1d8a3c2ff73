// The order of work in chapter 3: train, remove the chosen pairs, then train without each pair in turn.

import { type Engine, Outdated } from '../app/engine.ts';
import { ask, type Status } from '../app/status.ts';
import type { LeftOut, RemovalFound, RemovalProblem, Trained } from '../maths/removal.ts';

/** Told as results come. */
interface RunEvents {
  removed(found: RemovalFound): void;
  /** @param out what is known of each pair left out; null where its training has not ended */
  outcomes(trained: Trained, out: readonly (LeftOut | null)[]): void;
}

/** A problem with what is known of it so far. */
interface Known {
  readonly problem: RemovalProblem;
  readonly out: (LeftOut | null)[];
  trained: Trained | null;
}

/** Runs on one problem at a time; another one ends what belongs to the last. */
export function removalRun(engine: Engine, status: Status, events: RunEvents) {
  let known: Known | null = null;
  let removed: readonly number[] = [];

  const tell = ({ trained, out }: Known): void => {
    if (trained !== null) events.outcomes(trained, out);
  };
  const remove = (of: Known): Promise<void> => {
    const argument = { problem: of.problem, theta: of.trained?.theta ?? [], remove: removed };
    return ask(engine, status, 'removal', 'removal', argument, (found) => {
      if (of === known) events.removed(found);
    });
  };
  const leaveOut = async (of: Known): Promise<void> => {
    for (const pair of of.out.keys()) {
      const argument = { problem: of.problem, theta: of.trained?.theta ?? [], pair };
      of.out[pair] = (await engine.call('removal-out', 'leftOut', argument)).value;
      if (of !== known) return;
      tell(of);
    }
  };
  const begin = async (of: Known): Promise<void> => {
    await ask(engine, status, 'removal-train', 'trained', of.problem, (trained) => {
      of.trained = trained;
    });
    if (of !== known || of.trained === null) return;
    tell(of);
    await remove(of);
    if (of !== known) return;
    try {
      await leaveOut(of);
    } catch (error) {
      if (!(error instanceof Outdated)) status.failed(error instanceof Error ? error.message : String(error));
    }
  };

  return {
    /** Removes other pairs from the same model, or begins anew: also where nothing differs, for the device may. */
    set: (problem: RemovalProblem, next: readonly number[]): void => {
      const same = JSON.stringify(known?.problem) === JSON.stringify(problem);
      const other = JSON.stringify(removed) !== JSON.stringify(next);
      removed = next;
      if (same && other && known !== null) {
        tell(known);
        if (known.trained !== null) void remove(known);
        return;
      }
      known = { problem, trained: null, out: problem.pairs.map(() => null) };
      void begin(known);
    },
    stop: (): void => {
      known = null;
    },
  };
}
