// Runs experiments: dataset by dataset and seed by seed, so that models are shared; what is finished is kept.

import { join } from 'node:path';
import { lasting, type Progress } from '../../src/cli/progress.ts';
import type { Device } from '../../src/device/open.ts';
import { type Bench, type Kind, pose } from './bench.ts';
import { type Cell, earlierCell, type Made, writeCell } from './cells.ts';
import { DATASETS, type DatasetName } from './data.ts';
import type { Experiment } from './experiments/experiment.ts';
import { EXPERIMENTS } from './experiments/index.ts';
import { recipeOf, type Sizes } from './settings.ts';
import { Subject } from './subject.ts';

/** What to run. */
export interface Asked {
  readonly only: readonly number[];
  readonly datasets: readonly DatasetName[];
  readonly seeds: readonly number[];
  /** Name of the sizes, and of the folder of their results. */
  readonly size: string;
  readonly sizes: Sizes;
  /** CLIP folder that is adapted. */
  readonly model: string;
  readonly out: string;
  readonly cifar10n: string | undefined;
}

/** One cell to be made. */
interface Task {
  readonly experiment: Experiment;
  readonly dataset: DatasetName;
  readonly seed: number;
}

/** All cells that are asked for, seed by seed, so that a run that is stopped has whole seeds. */
function tasksOf({ only, datasets, seeds }: Asked, bench: Bench, progress: Progress): Task[] {
  const chosen = EXPERIMENTS.filter(({ number, name, missing }) => {
    if (!only.includes(number)) return false;
    const why = missing?.(bench) ?? null;
    if (why !== null) progress.line(`experiment ${number} (${name}) is left out: ${why}`);
    return why === null;
  });
  return seeds.flatMap((seed) =>
    DATASETS.filter((name) => datasets.includes(name)).flatMap((dataset) =>
      chosen
        .filter((experiment) => experiment.datasets?.includes(dataset) ?? true)
        .map((experiment) => ({ experiment, dataset, seed })),
    ),
  );
}

/** The recipe of a dataset as a cell tells it: what is the same for all its runs. */
function recipeFor(dataset: DatasetName, sizes: Sizes): Record<string, unknown> {
  const {
    data: _data,
    out: _out,
    model: _model,
    seed: _seed,
    ...recipe
  } = recipeOf(dataset, 0, sizes, { data: '', model: '', out: '' });
  return recipe;
}

/** Makes one cell, with the models that it asks for. */
async function makeCell({ experiment, dataset, seed }: Task, bench: Bench): Promise<unknown> {
  const opened: Subject[] = [];
  const subjectOf = async (kind: Kind): Promise<Subject> => {
    const subject = await Subject.open(bench, await pose(bench, dataset, seed, kind));
    opened.push(subject);
    return subject;
  };
  try {
    return await experiment.run(bench, subjectOf, { dataset, seed });
  } finally {
    opened.forEach((subject) => subject.close());
  }
}

/** Time that is left: what cells of the same experiment took, or the mean of all. */
function timeLeft(tasks: readonly Task[], took: ReadonlyMap<number, readonly number[]>): number {
  const mean = (list: readonly number[]): number => list.reduce((a, b) => a + b, 0) / list.length;
  const all = mean([...took.values()].flat());
  return tasks.reduce((sum, { experiment }) => sum + mean(took.get(experiment.number) ?? [all]), 0);
}

/** Runs what is asked for; cells that are there are taken. */
export async function runExperiments(asked: Asked, device: Device, progress: Progress): Promise<Cell[]> {
  const { sizes, model, cifar10n } = asked;
  const out = join(asked.out, asked.size);
  let [where, told] = ['', 0];
  const inner: Progress = {
    line: () => undefined,
    status: (text) => {
      const now = performance.now();
      if (now - told < 2000) return;
      told = now;
      progress.status(`${where}  ${text}`);
    },
  };
  const bench: Bench = { device, progress: inner, out, data: join(asked.out, 'data'), model, sizes, cifar10n };
  const tasks = tasksOf(asked, bench, progress);
  progress.line(`${tasks.length} cells on ${device.name}`);
  const took = new Map<number, number[]>();
  const cells: Cell[] = [];
  for (const [i, task] of tasks.entries()) {
    const { experiment, dataset, seed } = task;
    const name = { experiment: experiment.number, dataset, seed };
    const made: Made = { sizes, recipe: recipeFor(dataset, sizes), device: device.name };
    const label = `${experiment.number} ${experiment.name}, ${dataset}, seed ${seed}`;
    const kept = earlierCell(out, name, made);
    if (kept !== null) {
      cells.push(kept);
      progress.line(`${label}: kept from an earlier run`);
      continue;
    }
    const left = took.size === 0 ? '' : `, ${lasting(timeLeft(tasks.slice(i), took))} left`;
    where = `${i + 1}/${tasks.length} ${label}${left}`;
    const began = performance.now();
    const result = await makeCell(task, bench);
    const seconds = (performance.now() - began) / 1000;
    took.set(experiment.number, [...(took.get(experiment.number) ?? []), seconds]);
    cells.push(writeCell(out, name, made, seconds, result));
    progress.line(`${label}: ${lasting(seconds)}`);
  }
  return cells;
}
