// Times contenders side by side: rounds in turn, started only while the machine is otherwise idle.

import { cpus } from 'node:os';

export interface Contender {
  readonly name: string;
  /** One timed unit of work, finished when the promise resolves. */
  run(): Promise<void>;
}

export interface Timing {
  readonly name: string;
  /** Milliseconds of one `run`. */
  readonly best: number;
  readonly median: number;
  /** Median CPU milliseconds of one `run`, all threads of this process: the steadier figure on a shared machine. */
  readonly cpu: number;
  readonly samples: readonly number[];
}

export interface CompareOptions {
  /** Samples of each contender (default 9). */
  readonly rounds?: number;
  /** Untimed runs of each contender before the first round (default 1). */
  readonly warmup?: number;
  /** Share of all cores in use, by other programs or a contender's idling threads, at which a sample may start (0.15). */
  readonly maxBusy?: number;
  /** Longest wait for an idle machine before a sample, in milliseconds (default 2000). */
  readonly patience?: number;
}

/**
 * @param contenders run one after the other in every round, starting with another one each time
 * @returns best and median time of one `run` each, in the order given
 */
export async function compare(contenders: readonly Contender[], options: CompareOptions = {}): Promise<Timing[]> {
  const { rounds = 9, warmup = 1, maxBusy = 0.15, patience = 2_000 } = options;
  for (const c of contenders) for (let i = 0; i < warmup; i++) await c.run();
  const samples = contenders.map((): number[] => []);
  const cpu = contenders.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < contenders.length; i++) {
      await untilIdle(maxBusy, patience);
      const at = (i + round) % contenders.length;
      const used = process.cpuUsage();
      const start = performance.now();
      await contenders[at].run();
      samples[at].push(performance.now() - start);
      const { user, system } = process.cpuUsage(used);
      cpu[at].push((user + system) / 1000);
    }
  }
  return contenders.map(({ name }, i) => {
    const best = Math.min(...samples[i]);
    return { name, best, median: median(samples[i]), cpu: median(cpu[i]), samples: samples[i] };
  });
}

/** Median over rounds of the time of `a` over that of `b` in the same round: slow drifts of the machine cancel. */
export function ratio(a: Timing, b: Timing): number {
  return median(a.samples.map((t, i) => t / b.samples[i]));
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((x, y) => x - y);
  const mid = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[mid] : (sorted[mid - 1] + sorted[mid]) / 2;
}

/** Lets go of the last contender, then waits for the cores to be in use less than `maxBusy`, or out of patience. */
async function untilIdle(maxBusy: number, patience: number): Promise<void> {
  const deadline = performance.now() + patience;
  while ((await busyShare()) > maxBusy && performance.now() < deadline);
}

async function busyShare(): Promise<number> {
  const before = cpuTimes();
  await new Promise((resolve) => setTimeout(resolve, 60));
  const after = cpuTimes();
  return (after.busy - before.busy) / Math.max(1, after.total - before.total);
}

function cpuTimes(): { busy: number; total: number } {
  let busy = 0;
  let total = 0;
  for (const { times } of cpus()) {
    busy += times.user + times.nice + times.sys + times.irq;
    total += times.user + times.nice + times.sys + times.irq + times.idle;
  }
  return { busy, total };
}
