// What `ecif compare` runs: every problem and seed once, finished ones kept in a folder.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { EcifError } from '../../array/errors.ts';
import { makeFolder } from '../../array/whole-file.node.ts';
import type { Device } from '../../device/open.ts';
import type { Judged } from '../../ecif/baselines/index.ts';
import { UsageError } from '../args.ts';
import { CLIP, type ClipPool, type ClipSizes, clipTraining, openPool, poseClip } from './clip.ts';
import { CONVEX, type ConvexSizes, convexTraining, poseConvex } from './convex.ts';
import { LEFT_OUT, type Made, madeBy, type Posed, type Retraining } from './task.ts';
import { readText, writeText } from '../files.ts';
import { lasting, type Progress } from '../progress.ts';

/** Problems that methods are compared on. */
export const PROBLEMS = ['convex', 'clip'] as const;
/** One of {@link PROBLEMS}. */
export type ProblemName = (typeof PROBLEMS)[number];

/** What to compare. */
export interface CompareSettings {
  readonly problems: readonly ProblemName[];
  readonly seeds: readonly number[];
  readonly size: 'full' | 'quick';
  /** Clean pairs of the evaluation loss, where the problems are not to have their own number of them. */
  readonly held: number | undefined;
  /** Folder of finished seeds. */
  readonly out: string | undefined;
}

/** One problem with one seed. */
export interface SeedResult {
  readonly problem: ProblemName;
  readonly seed: number;
  /** What the numbers depend on beside the seed. */
  readonly settings: Readonly<Record<string, number | string>>;
  /** Version, methods and training that made it. */
  readonly made: Made;
  readonly retraining: Retraining;
  readonly seconds: number;
  readonly rows: readonly Judged[];
}

/** Sizes of both problems. */
interface Sizes {
  readonly convex: ConvexSizes;
  readonly clip: ClipSizes;
}

function sizesOf({ size, held }: CompareSettings): Sizes {
  const more = held === undefined ? {} : { held };
  return { convex: { ...CONVEX[size], ...more }, clip: { ...CLIP[size], ...more } };
}

/** Methods that rows are of, permuted scores among them. */
const namesOf = (rows: SeedResult['rows']): string => JSON.stringify(rows.map(({ method }) => method).toSorted());

/**
 * The result of an earlier run, null where there is none.
 * @throws UsageError for one that was made otherwise, naming in what
 */
function earlier(path: string, now: Pick<SeedResult, 'settings' | 'made'>): SeedResult | null {
  if (!existsSync(path)) return null;
  let found: Partial<SeedResult>;
  try {
    found = JSON.parse(readText(path)) as Partial<SeedResult>;
  } catch (error) {
    throw new EcifError(`${path}: not JSON; remove it`, { cause: error });
  }
  const { version, methods, training } = now.made;
  const parts: readonly (readonly [string, unknown, unknown])[] = [
    ['settings', found.settings, now.settings],
    ['version', found.made?.version, version],
    ['methods', found.made?.methods, methods],
    ['training', found.made?.training, training],
  ];
  const other = parts.find(([, then, expected]) => JSON.stringify(then) !== JSON.stringify(expected));
  if (other !== undefined) {
    throw new UsageError(`${path}: of other ${other[0]}; give another --out, or remove it`);
  }
  const { rows, retraining } = found;
  if (
    !Array.isArray(rows) ||
    retraining === undefined ||
    namesOf(rows) !== JSON.stringify(['permuted', ...methods].toSorted())
  ) {
    throw new UsageError(`${path}: not the results of all methods; remove it`);
  }
  return found as SeedResult;
}

/** Time that the seeds of one problem take. */
class Clock {
  #spent = 0;
  #finished = 0;
  #begun = performance.now();

  begin(): void {
    this.#begun = performance.now();
  }

  /** Since {@link begin}. */
  get seconds(): number {
    return (performance.now() - this.#begun) / 1000;
  }

  end(): void {
    this.#spent += this.seconds;
    this.#finished++;
  }

  /**
   * What is still to be spent.
   * @param share of the running seed that is done
   * @param seeds left, the running one among them
   */
  left(share: number, seeds: number): string {
    return lasting(((this.#spent + this.seconds) / (this.#finished + share)) * (seeds - share));
  }
}

/** Runs every problem with every seed, one after the other. */
export async function runComparison(
  settings: CompareSettings,
  device: Device,
  progress: Progress,
): Promise<SeedResult[]> {
  const { problems, seeds, out } = settings;
  const sizes = sizesOf(settings);
  if (out !== undefined) makeFolder(out);
  let pool: ClipPool | null = null;
  const pose = async (problem: ProblemName, seed: number): Promise<Posed> => {
    if (problem === 'convex') return poseConvex(device, seed, sizes.convex);
    pool ??= await openPool(device);
    return poseClip(pool, seed, sizes.clip);
  };
  const runSeeds = async (problem: ProblemName): Promise<SeedResult[]> => {
    const used = { device: device.kind, leftOut: LEFT_OUT, ...sizes[problem] };
    const made = madeBy(problem === 'convex' ? convexTraining(device) : clipTraining(device));
    const clock = new Clock();
    const results: SeedResult[] = [];
    for (const [index, seed] of seeds.entries()) {
      const name = `${problem}, seed ${seed}`;
      const path = out === undefined ? null : join(out, `${problem}-${seed}.json`);
      const kept = path === null ? null : earlier(path, { settings: used, made });
      if (kept !== null) {
        results.push(kept);
        progress.line(`${name}: kept from an earlier run`);
        continue;
      }
      clock.begin();
      progress.status(`${name}: training`);
      const posed = await pose(problem, seed);
      let done = 0;
      const rows = await posed.judge((what) => {
        if (++done % 10 !== 0 && done !== posed.steps) return;
        const left = clock.left(done / posed.steps, seeds.length - index);
        progress.status(`${name}: ${what} ${done}/${posed.steps}, ${left} left for ${problem}`);
      });
      const result = {
        problem,
        seed,
        settings: used,
        made,
        retraining: posed.retraining(),
        seconds: clock.seconds,
        rows,
      };
      clock.end();
      if (path !== null) writeText(path, `${JSON.stringify(result, null, 1)}\n`);
      results.push(result);
    }
    return results;
  };
  const all: SeedResult[] = [];
  for (const problem of problems) all.push(...(await runSeeds(problem)));
  return all;
}
