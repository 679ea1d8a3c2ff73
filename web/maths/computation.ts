// What a function of the playground is: it runs on a device of the engine, in a worker or in Node, and knows no page.

import type { Device } from '../../src/index.ts';

/** Told how far the work has come; a share in 0…1 where one is known. */
export type Report = (text: string, share: number | null) => void;

/** A computation of the playground. */
export interface Computation<A, R> {
  /**
   * `any`: WebGPU where there is an adapter. `float64`: the CPU unless the reader chooses WebGPU, because what is shown lies
   * below the rounding of float32.
   */
  readonly wants: 'any' | 'float64';
  /** @param argument plain data, as a message can hold them */
  run(device: Device, argument: A, report: Report): Promise<R>;
}

/** A computation with its types. */
export const computation = <A, R>(made: Computation<A, R>): Computation<A, R> => made;
