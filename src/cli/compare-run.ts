// What `ecif compare` runs: every problem and seed once, finished ones kept in a folder.

import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { EcifError } from '../array/errors.ts';
import type { Device } from '../device/open.ts';
import type { Judged } from '../ecif/baselines/index.ts';
import { UsageError } from './args.ts';
import { CLIP, type ClipPool, openPool, poseClip } from './compare-clip.ts';
import { CONVEX, poseConvex } from './compare-convex.ts';
import { LEFT_OUT, type Posed } from './compare-task.ts';
import { readText, writeText } from './files.ts';
import type { Progress } from './progress.ts';

/** Problems that methods are compared on. */
export const PROBLEMS = ['convex', 'clip'] as const;
/** One of {@link PROBLEMS}. */
export type ProblemName = (typeof PROBLEMS)[number];

/** What to compare. */
export interface CompareSettings {
  readonly problems: readonly ProblemName[];
  readonly seeds: readonly number[];
  readonly size: 'full' | 'quick';
  /** Folder of finished seeds. */
  readonly out: string | undefined;
}

/** One problem with one seed. */
export interface SeedResult {
  readonly problem: ProblemName;
  readonly seed: number;
  /** What the numbers depend on beside the seed. */
  readonly settings: Readonly<Record<string, number | string>>;
  readonly seconds: number;
  readonly rows: readonly Judged[];
}

/** What the numbers of a problem depend on. */
export const settingsOf = (problem: ProblemName, size: 'full' | 'quick', device: Device): SeedResult['settings'] => ({
  device: device.kind,
  leftOut: LEFT_OUT,
  ...(problem === 'convex' ? CONVEX[size] : CLIP[size]),
});

/** The result of an earlier run, null where there is none. */
function earlier(path: string, settings: SeedResult['settings']): SeedResult | null {
  if (!existsSync(path)) return null;
  let found: Partial<SeedResult>;
  try {
    found = JSON.parse(readText(path)) as Partial<SeedResult>;
  } catch (error) {
    throw new EcifError(`${path}: not JSON; remove it`, { cause: error });
  }
  if (JSON.stringify(found.settings) !== JSON.stringify(settings)) {
    throw new UsageError(`${path}: of other settings; give another --out, or remove it`);
  }
  return found as SeedResult;
}

/** How long something takes as people say it. */
const lasting = (seconds: number): string =>
  seconds < 100 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`;

/** Runs every problem with every seed, one after the other. */
export async function runComparison(
  { problems, seeds, size, out }: CompareSettings,
  device: Device,
  progress: Progress,
): Promise<SeedResult[]> {
  if (out !== undefined) mkdirSync(out, { recursive: true });
  let pool: ClipPool | null = null;
  const pose = async (problem: ProblemName, seed: number): Promise<Posed> => {
    if (problem === 'convex') return poseConvex(device, seed, CONVEX[size]);
    pool ??= await openPool(device);
    return poseClip(pool, seed, CLIP[size]);
  };
  const results: SeedResult[] = [];
  for (const problem of problems) {
    const settings = settingsOf(problem, size, device);
    let [spent, fresh] = [0, 0];
    for (const [index, seed] of seeds.entries()) {
      const path = out === undefined ? null : join(out, `${problem}-${seed}.json`);
      const kept = path === null ? null : earlier(path, settings);
      if (kept !== null) {
        results.push(kept);
        progress.line(`${problem}, seed ${seed}: kept from an earlier run`);
        continue;
      }
      const begun = performance.now();
      const elapsed = (): number => (performance.now() - begun) / 1000;
      progress.status(`${problem}, seed ${seed}: training`);
      const posed = await pose(problem, seed);
      let done = 0;
      const rows = await posed.judge((what) => {
        done++;
        if (done % 10 !== 0 && done !== posed.steps) return;
        const share = fresh + done / posed.steps;
        const left = ((spent + elapsed()) / share) * (fresh + seeds.length - index - share);
        progress.status(`${problem}, seed ${seed}: ${what} ${done}/${posed.steps}, ${lasting(left)} left`);
      });
      const result = { problem, seed, settings, seconds: elapsed(), rows };
      if (path !== null) writeText(path, `${JSON.stringify(result, null, 1)}\n`);
      results.push(result);
      spent += result.seconds;
      fresh++;
    }
  }
  return results;
}
