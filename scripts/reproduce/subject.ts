// A trained model as the experiments look at it: its scores by every method, its accuracy, edits and trainings without pairs.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { EcifError } from '../../src/array/errors.ts';
import { distance } from '../../src/array/vector.ts';
import { Flat } from '../../src/autodiff/flat.ts';
import { disposeTree } from '../../src/autodiff/tensor.ts';
import { scaleOf } from '../../src/cli/detect/signals.ts';
import { readText, writeText } from '../../src/cli/files.ts';
import { readCheckpoints } from '../../src/cli/train/kept-checkpoints.ts';
import { runFile } from '../../src/cli/runs/run-folder.ts';
import { type EvaluationPairs, type OpenedRun, openTrained } from '../../src/cli/runs/opened-run.ts';
import { readTruth } from '../../src/cli/runs/truth.ts';
import { cosineOf, embedRows, type UnitRows } from '../../src/ecif/baselines/embeddings.ts';
import { METHODS, type ScoringTask } from '../../src/ecif/baselines/index.ts';
import { withoutRows } from '../../src/ecif/streamed-removal.ts';
import type { Adapter } from '../../src/models/clip/lora.ts';
import { loadCheckpoint } from '../../src/models/clip/train-checkpoint.node.ts';
import { gradientNorm } from '../../src/models/streamed.ts';
import type { Bench, Posed } from './bench.ts';
import { firstBy } from './chosen.ts';
import { chunksOf, measure, type Measures } from './measure.ts';
import { type RunAbout, trainRun, type Trained } from './runs.ts';

const PART = { split: 'auto', format: 'auto' } as const;
const OPENED = { partitions: 0, seed: 0, 'cache-mb': 2048 };

/** A model that was trained again without some pairs. */
export interface Retrained {
  readonly about: RunAbout;
  readonly measures: Measures;
}

/** A model judged against one that was trained again. */
export interface Judged {
  readonly measures: Measures;
  /** ‖θ − retrained‖/‖θ̂ − retrained‖. */
  readonly error: number;
  /** ‖∇F‖ of the loss without the pairs. */
  readonly gradient: number;
}

/** The trained model of one dataset, seed and kind of noise. */
export class Subject {
  readonly posed: Posed;
  readonly trained: Trained;
  readonly run: OpenedRun;
  /** Which rows have a wrong caption; null where nothing was made wrong. */
  readonly bad: readonly boolean[] | null;
  readonly #bench: Bench;
  readonly #test: EvaluationPairs;
  readonly #scale: number;
  readonly #task: ScoringTask<Adapter, unknown>;

  private constructor(
    bench: Bench,
    posed: Posed,
    trained: Trained,
    run: OpenedRun,
    parts: {
      test: EvaluationPairs;
      scale: number;
      task: ScoringTask<Adapter, unknown>;
    },
  ) {
    [this.#bench, this.posed, this.trained, this.run] = [bench, posed, trained, run];
    [this.#test, this.#scale, this.#task] = [parts.test, parts.scale, parts.task];
    this.bad = readTruth(trained.folder, undefined, run.dataset);
  }

  /** Trains the model, or takes it as it is, and opens it. */
  static async open(bench: Bench, posed: Posed): Promise<Subject> {
    const { device, progress, out } = bench;
    const trained = await trainRun(posed.settings, out, device, progress);
    const run = await openTrained(trained.folder, device, OPENED, progress);
    const [validation, test] = [
      await run.evaluation(posed.parts.validation, PART),
      await run.evaluation(posed.parts.test, PART),
    ];
    const { loss, theta, settings, steps } = run;
    const task: ScoringTask<Adapter, unknown> = {
      ...{ loss, theta, count: run.dataset.rows.length, seed: settings.seed },
      evaluation: await validation.loss.batch(Uint32Array.from(validation.dataset.rows.keys())),
      checkpoints: await readCheckpoints(trained.folder, theta, settings, steps, device),
      retrain: () => Promise.reject(new EcifError('reproduce: no method trains again; leave it out')),
    };
    return new Subject(bench, posed, trained, run, { test, scale: await scaleOf(run), task });
  }

  get count(): number {
    return this.#task.count;
  }

  /** Class of a training pair by its picture and its caption, or its group. */
  groupOf(id: string, label: string | null): string {
    return this.posed.parts.groups?.get(id) ?? label ?? '';
  }

  /** Accuracy at any parameters. */
  measure(theta: Adapter): Promise<Measures> {
    const { rows } = this.#test.dataset;
    return measure(this.#test, theta, (row) => this.groupOf(rows[row].id, rows[row].label), this.#scale);
  }

  /** Class or group of every caption of the test pairs. */
  testGroups(): Map<string, string> {
    return new Map(this.#test.dataset.rows.map(({ id, caption, label }) => [caption, this.groupOf(id, label)]));
  }

  /** Ids of the training pairs whose pictures are nearest to those of some test pairs, by cosine. */
  async nearest(ids: readonly string[], many: number): Promise<string[][]> {
    const { loss, theta, dataset } = this.run;
    const { rows } = this.#test.dataset;
    const embed = (of: typeof loss, count: number): Promise<UnitRows> =>
      embedRows({ loss: { ...of, partitions: [chunksOf(count)] }, theta, count });
    const [own, asked] = [await embed(loss, this.count), await embed(this.#test.loss, rows.length)];
    const places = new Map(rows.map(({ id }, row) => [id, row]));
    return ids.map((id) => {
      const at = places.get(id) as number;
      const cosines = dataset.rows.map((_, row) => cosineOf(own.width, own.v, row, asked.v, at));
      return firstBy(cosines, 'highest', many).map((row) => dataset.rows[row].id);
    });
  }

  /** Scores of all pairs by a method, kept in the folder of the run. */
  async scores(name: string): Promise<{ readonly values: readonly number[]; readonly seconds: number }> {
    const path = join(this.trained.folder, 'methods', `${name}.json`);
    if (existsSync(path)) return JSON.parse(readText(path)) as { values: number[]; seconds: number };
    const method = METHODS.find((one) => one.name === name);
    if (method === undefined) throw new EcifError(`reproduce: no method ${name}; give one of METHODS`);
    this.#bench.progress.status(`scores by ${name}`);
    const began = performance.now();
    const values = [...(await method.scores(this.#task))];
    const found = { values, seconds: (performance.now() - began) / 1000 };
    mkdirSync(join(this.trained.folder, 'methods'), { recursive: true });
    writeText(path, JSON.stringify(found));
    return found;
  }

  /** Trains again without some pairs, by the recipe of the run. */
  async retrain(rows: readonly number[]): Promise<Retrained> {
    const { out, device, progress } = this.#bench;
    const ids = rows.toSorted((a, b) => a - b).map((row) => this.run.dataset.rows[row].id);
    const name = createHash('sha256').update(JSON.stringify(ids)).digest('hex').slice(0, 12);
    const folder = join(this.trained.folder, 'without', name);
    mkdirSync(join(this.trained.folder, 'without'), { recursive: true });
    const without = `${folder}.json`;
    writeText(without, `${JSON.stringify(ids)}\n`);
    const settings = { ...this.posed.settings, out: folder, without, 'keep-checkpoints': false };
    const { about } = await trainRun(settings, out, device, progress);
    const theta = await this.#load(folder);
    const measures = await this.measure(theta);
    disposeTree(theta);
    return { about, measures };
  }

  async #load(folder: string): Promise<Adapter> {
    const { state, centre } = await loadCheckpoint(runFile(folder, 'theta'), this.run.theta, this.#bench.device);
    disposeTree(centre ?? {});
    return state.theta;
  }

  /** Judges an edited model by one that was trained again. */
  async judge(edited: Adapter, rows: readonly number[], { about }: Retrained): Promise<Judged> {
    const again = await this.#load(join(this.#bench.out, about.run));
    const flat = new Flat(this.run.theta);
    const [a, b, c] = [await flat.toVector(edited), await flat.toVector(again), await flat.toVector(this.run.theta)];
    disposeTree(again);
    const { norm } = await gradientNorm(withoutRows(this.run.loss, rows), edited);
    return { measures: await this.measure(edited), error: distance(a, b) / distance(c, b), gradient: norm };
  }

  close(): void {
    const { evaluation, checkpoints } = this.#task;
    disposeTree([evaluation, checkpoints.map(({ theta }) => theta), this.run.theta]);
    this.run.close();
  }
}
