// What an experiment is.

import type { Bench, Kind } from '../bench.ts';
import type { DatasetName } from '../data.ts';
import type { Subject } from '../subject.ts';

/** One of the experiments; what it finds for one dataset and seed is a cell. */
export interface Experiment<R = unknown> {
  readonly number: number;
  readonly name: string;
  /** In one line. */
  readonly about: string;
  /** Datasets it is made on; all unless given. */
  readonly datasets?: readonly DatasetName[];
  /** Why it cannot be made here; null where it can. */
  missing?(bench: Bench): string | null;
  /** @param subjectOf trains a model of the dataset and seed, or takes one that is there; it is closed afterwards */
  run(
    bench: Bench,
    subjectOf: (kind: Kind) => Promise<Subject>,
    of: { readonly dataset: DatasetName; readonly seed: number },
  ): Promise<R>;
}
