// The parts of a bench: those named on the command line, or all, which are then published.

import { cpus, loadavg } from 'node:os';
import { format, note, print, publish, type Row } from './report.ts';

/** What a part is called and does. */
export type Parts<B> = Readonly<Record<string, (bench: B) => Promise<Row[]>>>;

/** Parts named on the command line, none for all; ends the process where one is unknown. */
export function chosenParts(bench: string, parts: Parts<never>): readonly string[] {
  const chosen = process.argv.slice(2);
  const unknown = chosen.filter((name) => !Object.hasOwn(parts, name));
  if (unknown.length > 0) {
    console.error(`bench:${bench}: no part ${unknown.join(', ')}; choose from ${Object.keys(parts).join(', ')}`);
    process.exit(2);
  }
  return chosen;
}

/** Runs the chosen parts one after the other; all of them together are published, with the load they began under. */
export async function runParts<B>(
  name: string,
  device: string,
  parts: Parts<B>,
  chosen: readonly string[],
  bench: B,
): Promise<void> {
  const [load] = loadavg();
  const rows = [print(note('machine', `load before the run, of ${cpus().length} cores`, format(load), { load }))];
  for (const [part, run] of Object.entries(parts)) {
    if (chosen.length === 0 || chosen.includes(part)) rows.push(...(await run(bench)));
  }
  if (chosen.length === 0) process.exitCode = publish(name, device, rows) ? 0 : 1;
  else console.log('a part was chosen: bench/results and docs/performance.md are left as they are');
}
