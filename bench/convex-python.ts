// The same scores by plain torch, pyDVL and dattri, in float64, with the interpreter that ECIF_PYTHON names.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import * as ecif from '../src/index.ts';
import { DENSE, exported, place, type Placed, type Trained, trained } from './convex-problem.ts';
import { scoreAll, solved } from './convex-scores.ts';
import type { ConvexBench } from './convex.ts';
import { relativeError } from './errors.ts';
import { format, note, print, type Row, target } from './report.ts';
import { compare, type Contender, ratio, type Timing } from './timing.ts';

const SETTINGS = [
  { pairs: 1024, width: 8 },
  { pairs: 256, width: 32 },
];

/** What a library can compute of the scores. */
const POSITIVE_ONLY = ['pyDVL', 'dattri'];

type Json = Record<string, unknown>;

/** A Python process that answers one JSON a line. */
class Peer {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #folder = mkdtempSync(join(tmpdir(), 'ecif-convex-'));

  constructor(python: string, problem: string) {
    const file = join(this.#folder, 'problem.json');
    writeFileSync(file, problem);
    const script = join(dirname(fileURLToPath(import.meta.url)), 'python/peer.py');
    const env = { ...process.env, TQDM_DISABLE: '1', PYTHONWARNINGS: 'ignore', PYTHONDONTWRITEBYTECODE: '1' };
    this.#child = spawn(python, [script, file], { stdio: ['pipe', 'pipe', 'inherit'], env });
    if (this.#child.stdout === null) throw new Error('python: no output');
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  async read(): Promise<Json> {
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error('python: the peer ended; its message stands above');
    return JSON.parse(value) as Json;
  }

  ask(request: Json): Promise<Json> {
    this.#child.stdin?.write(`${JSON.stringify(request)}\n`);
    return this.read();
  }

  end(): void {
    this.#child.stdin?.end();
    rmSync(this.#folder, { recursive: true });
  }
}

/** Ours on one device, and the scores and their positive parts. */
interface Ours {
  readonly name: string;
  readonly sweep: Contender;
  readonly scores: Contender;
  readonly values: Float64Array;
  readonly positive: Float64Array;
}

async function ours(name: string, placed: Placed, theta: ecif.Bilinear): Promise<Ours> {
  const h = await ecif.curvatureAt(placed.total, theta, DENSE);
  const w = await solved(placed, theta, h);
  h.dispose();
  const { scores } = await scoreAll(placed, theta);
  return {
    name,
    sweep: { name: 'sweep', run: async () => void (await ecif.pairScores(placed.problem, theta, w, 'corrected')) },
    scores: { name: 'scores', run: async () => void (await scoreAll(placed, theta)) },
    values: Float64Array.from(scores, ({ score }) => score),
    positive: Float64Array.from(scores, ({ positive }) => positive),
  };
}

/** Ours in float32 on the other device. */
async function oursOn(device: ecif.Device, { data, theta }: Trained): Promise<Ours> {
  const { width } = data;
  return ours('WebGPU', place(data, device), { w: ecif.tensor(device, await theta.w.data(), [width, width]) });
}

/** Times the peers with so many threads beside ours. */
async function against(
  peer: Peer,
  names: readonly string[],
  mine: Ours,
  threads: number,
  section: string,
): Promise<Row[]> {
  await peer.ask({ threads });
  const theirs = names.map((name) => ({ name, run: async () => void (await peer.ask({ run: name })) }));
  const [sweep, scores, ...times] = await compare([mine.sweep, mine.scores, ...theirs], { rounds: 3, patience: 250 });
  const row = (label: string, t: Timing, own: Timing): Row =>
    note(section, `${label} / ours, ${mine.name}`, `${format(ratio(t, own))}×`, {
      value: ratio(t, own),
      ms: t.best,
      oursMs: own.best,
      threads,
    });
  const rows = times.map((t) => {
    const own = ['torch sweep', 'torch gradients'].includes(t.name) ? sweep : scores;
    const part = POSITIVE_ONLY.includes(t.name) ? ' (positive part only)' : '';
    return row(`${t.name}, ${threads} thread${threads > 1 ? 's' : ''}${part}`, t, own);
  });
  return rows.map(print);
}

/** Largest differences of the peers' numbers to ours. */
async function agreement(peer: Peer, names: readonly string[], mine: Ours, section: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (const name of names) {
    const { values } = await peer.ask({ result: name });
    const expected = POSITIVE_ONLY.includes(name) ? mine.positive : mine.values;
    const error = relativeError(Float64Array.from(values as number[]), expected);
    if (!(error <= 1e-4)) throw new Error(`${section}: ${name} differs by ${error}`);
    rows.push(print(target(section, `${name}: difference to ours, CPU`, error, '≤', 1e-8, '')));
  }
  return rows;
}

async function settingRows({ device }: ConvexBench, python: string, pairs: number, width: number): Promise<Row[]> {
  const problem = await trained(pairs, width);
  const peer = new Peer(python, await exported(problem));
  try {
    const { contenders, missing, versions } = (await peer.read()) as {
      contenders: string[];
      missing: Record<string, string>;
      versions: Record<string, string | null>;
    };
    const section = `Python, ${pairs} pairs, W ${width}×${width}`;
    const found = Object.entries(versions).map(([name, v]) => `${name} ${v ?? 'absent'}`);
    for (const [name, why] of Object.entries(missing)) console.log(`skipped: ${name} (${why})`);
    const names = contenders.filter((name) => name !== 'torch solve');
    const cpu = await ours('CPU', problem.placed, problem.theta);
    const rows = [print(note(section, 'versions', found.join(', ')))];
    rows.push(...(await agreement(peer, names, cpu, section)), ...(await against(peer, names, cpu, 1, section)));
    if (device.kind === 'webgpu')
      rows.push(...(await against(peer, names, await oursOn(device, problem), cpus().length, section)));
    return rows;
  } finally {
    peer.end();
  }
}

/** Rows against Python, or one line that says why there are none. */
export async function pythonRows(bench: ConvexBench): Promise<Row[]> {
  const python = process.env.ECIF_PYTHON;
  if (python === undefined) {
    console.log('SKIPPED: Python peers; set ECIF_PYTHON to an interpreter with torch (bench/python/README.md)');
    return [];
  }
  const rows: Row[] = [];
  for (const { pairs, width } of SETTINGS) rows.push(...(await settingRows(bench, python, pairs, width)));
  return rows;
}
