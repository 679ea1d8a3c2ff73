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
  readonly samples: readonly number[];
}

export interface CompareOptions {
  /** Samples of each contender (default 9). */
  readonly rounds?: number;
  /** Untimed runs of each contender before the first round (default 1). */
  readonly warmup?: number;
  /** Share of all cores that others may use when a round starts (default 0.15; 1 turns the gate off). */
  readonly maxBusy?: number;
  /** Longest wait for an idle machine before a round, in milliseconds (default 10000). */
  readonly patience?: number;
}

/**
 * @param contenders run one after the other in every round, starting with another one each time
 * @returns best and median time of one `run` each, in the order given
 */
export async function compare(contenders: readonly Contender[], options: CompareOptions = {}): Promise<Timing[]> {
  const { rounds = 9, warmup = 1, maxBusy = 0.15, patience = 10_000 } = options;
  for (const c of contenders) for (let i = 0; i < warmup; i++) await c.run();
  const samples = contenders.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    await untilIdle(maxBusy, patience);
    for (let i = 0; i < contenders.length; i++) {
      const at = (i + round) % contenders.length;
      const start = performance.now();
      await contenders[at].run();
      samples[at].push(performance.now() - start);
    }
  }
  return contenders.map(({ name }, i) => {
    const sorted = samples[i].toSorted((x, y) => x - y);
    return { name, best: sorted[0], median: median(sorted), samples: samples[i] };
  });
}

function median(sorted: readonly number[]): number {
  const mid = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[mid] : (sorted[mid - 1] + sorted[mid]) / 2;
}

/** Waits until the cores were less than `maxBusy` in use for a moment, or until patience runs out. */
async function untilIdle(maxBusy: number, patience: number): Promise<void> {
  const deadline = performance.now() + patience;
  while (maxBusy < 1 && (await busyShare()) > maxBusy && performance.now() < deadline);
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
