// Results of a bench: printed as a table, written as JSON with the machine they were taken on, and into the docs.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** One line of a result: what was measured, the target if there is one, and whether it was met. */
export interface Row {
  readonly section: string;
  readonly what: string;
  readonly value: string;
  readonly target: string;
  /** Null where there is nothing to meet. */
  readonly met: boolean | null;
  /** Numbers behind the line. */
  readonly raw: Readonly<Record<string, number | string | null>>;
}

/** A row with a limit: `value ≤ limit` or `value ≥ limit`. */
export function target(
  section: string,
  what: string,
  value: number,
  relation: '≤' | '≥',
  limit: number,
  unit: string,
  raw: Row['raw'] = {},
): Row {
  const met = relation === '≤' ? value <= limit : value >= limit;
  return {
    section,
    what,
    value: `${format(value)}${unit}`,
    target: `${relation} ${limit}${unit}`,
    met,
    raw: { value, limit, ...raw },
  };
}

/** A row without a limit. */
export const note = (section: string, what: string, value: string, raw: Row['raw'] = {}): Row => ({
  section,
  what,
  value,
  target: '',
  met: null,
  raw,
});

export const format = (v: number): string =>
  Math.abs(v) >= 100
    ? v.toFixed(0)
    : Math.abs(v) >= 10
      ? v.toFixed(1)
      : Math.abs(v) >= 0.01 || v === 0
        ? v.toFixed(2)
        : v.toExponential(1);

function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}

/** The machine and the versions a result belongs to. */
export function machine(adapter: string): Record<string, string> {
  const version = (path: string): string =>
    (JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8')) as { version: string }).version;
  return {
    cpu: `${cpus().length} × ${cpus()[0].model.trim()}`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    adapter,
    node: process.version,
    webgpu: version('node_modules/webgpu'),
    ecif: `${version('.')} (${commit()})`,
    date: new Date().toISOString().slice(0, 10),
  };
}

function markdown(rows: readonly Row[]): string {
  const sections = [...new Set(rows.map((r) => r.section))];
  return sections
    .map((section) => {
      const lines = rows
        .filter((r) => r.section === section)
        .map((r) => `| ${r.what} | ${r.value} | ${r.target} | ${r.met === null ? '' : r.met ? 'met' : '**missed**'} |`);
      return `### ${section}\n\n| what | measured | target | |\n|---|---|---|---|\n${lines.join('\n')}\n`;
    })
    .join('\n');
}

function writeAtomically(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.part`, text);
  renameSync(`${path}.part`, path);
}

/** Replaces the part of docs/performance.md between the markers of `name`. */
function writeDocs(name: string, text: string): void {
  const path = join(root, 'docs/performance.md');
  const [open, close] = [`<!-- ${name}: written by npm run bench:${name} -->`, `<!-- /${name} -->`];
  const docs = readFileSync(path, 'utf8');
  const [from, to] = [docs.indexOf(open), docs.indexOf(close)];
  if (from < 0 || to < from) throw new Error(`docs/performance.md: markers ${open} … ${close} are missing`);
  writeAtomically(path, `${docs.slice(0, from + open.length)}\n\n${text}\n${docs.slice(to)}`);
}

/** Prints, writes `bench/results/NAME.json` and the section of the docs; returns false if a target was missed. */
export function publish(name: string, adapter: string, rows: readonly Row[]): boolean {
  const host = machine(adapter);
  writeAtomically(join(root, `bench/results/${name}.json`), `${JSON.stringify({ machine: host, rows }, null, 2)}\n`);
  const where = `Taken on ${host.cpu}, ${host.memory}, ${host.adapter}, Node ${host.node}, webgpu ${host.webgpu}, ecif ${host.ecif}, ${host.date}.`;
  writeDocs(name, `${where}\n\n${markdown(rows)}`);
  const missed = rows.filter((r) => r.met === false);
  if (missed.length === 0) console.log('every target met');
  for (const r of missed)
    console.log(`missed: ${r.section}, ${r.what} (${r.value}, ${r.target}); docs/performance.md says why`);
  return missed.length === 0;
}

/** Prints a row as it is made. */
export function print(row: Row): Row {
  const mark = row.met === null ? ' ' : row.met ? '✓' : '✗';
  console.log(`${mark} ${row.section.padEnd(22)} ${row.what.padEnd(52)} ${row.value.padStart(12)}  ${row.target}`);
  return row;
}
