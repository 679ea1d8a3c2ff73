// The time that a training run takes, that of processes before a kill included.

import { isObject } from '../../models/clip/formats/fields.ts';

/** Seconds of the steps, and of what follows them. */
export interface RunSeconds {
  readonly steps: number;
  readonly end: number;
}

/** Time of earlier processes as a record tells it; none where it does not. */
export function secondsIn(seconds: unknown): RunSeconds {
  const { steps = 0, end = 0 }: Partial<RunSeconds> = isObject(seconds) ? seconds : {};
  return { steps, end };
}

/** A clock of a run: of its steps first, and after `turn` of what follows them. */
export class RunClock {
  #before: RunSeconds;
  #phase: keyof RunSeconds = 'steps';
  #began = performance.now();

  /** @param before time of earlier processes */
  constructor(before: RunSeconds) {
    this.#before = before;
  }

  /** Seconds up to now. */
  now(): RunSeconds {
    const passed = (performance.now() - this.#began) / 1000;
    return { ...this.#before, [this.#phase]: this.#before[this.#phase] + passed };
  }

  /** The steps are taken. */
  turn(): void {
    this.#before = this.now();
    [this.#phase, this.#began] = ['end', performance.now()];
  }
}
