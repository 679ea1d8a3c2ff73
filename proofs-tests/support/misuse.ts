// Misuses of the command line: a stage to make them on, and what must be true when one ends.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { CliResult } from './cli.ts';
import { writeBase } from './shapes.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** KiB of address space a misuse may take; Node itself takes one or two GiB of it. */
const SPACE = 6 * 2 ** 20;

/** Limits and surroundings of a process. */
interface Surroundings {
  /** KiB that a file may have: beyond, writing fails as on a full disk. */
  readonly disk?: number;
  /** The program where no package is installed. */
  readonly alone?: boolean;
}

/** What every misuse has at hand. */
export class Stage {
  readonly home = mkdtempSync(join(tmpdir(), 'ecif-misuse-'));
  readonly #program: string;
  #made = 0;
  data = '';
  model = '';
  config = '';
  /** A finished run of an adapter, with scores. */
  readonly run = join(this.home, 'run');
  /** `scores-0.csv` and `scores-1.csv`, and `other-1.csv` of another question. */
  readonly shards = join(this.home, 'shards');

  constructor() {
    mkdirSync(join(root, '.cache'), { recursive: true });
    this.#program = mkdtempSync(join(root, '.cache', 'misuse-'));
  }

  /** Bundles the program as the package has it, and writes pairs and a tiny CLIP. */
  async open(): Promise<void> {
    const outfile = join(this.#program, 'main.mjs');
    const settings = {
      bundle: true,
      format: 'esm',
      platform: 'node',
      packages: 'external',
      logLevel: 'silent',
    } as const;
    await build({ ...settings, entryPoints: [join(root, 'src/cli/main.ts')], outfile });
    cpSync(outfile, join(this.home, 'main.mjs'));
    ({ data: this.data, model: this.model, config: this.config } = await writeBase(this.home));
  }

  /** Trains an adapter and scores its pairs, for misuses of what comes after. */
  async train(): Promise<void> {
    const small = '--epochs 2 --batch 6 --rank 1 --targets v_proj --text-layers last:1 --vision-layers last:1 --l2 40';
    await this.must(['train', this.data, '--model', this.model, '--out', this.run, ...small.split(' ')]);
    const score = ['score', this.run, '--validation', this.data];
    await this.must(score);
    mkdirSync(this.shards);
    for (const i of [0, 1])
      await this.must([...score, '--shard', `${i}/2`, '--out', join(this.shards, `scores-${i}.csv`)]);
    await this.must([...score, '--shard', '1/2', '--form', 'exact', '--out', join(this.shards, 'other-1.csv')]);
  }

  /** Runs the program as people do; the CPU unless told. */
  process(words: readonly string[], { disk, alone = false }: Surroundings = {}): Promise<CliResult> {
    const limits = [`ulimit -v ${SPACE}`, ...(disk === undefined ? [] : [`ulimit -f ${disk}`]), 'exec "$0" "$@"'].join(
      '; ',
    );
    const args = ['-c', limits, process.execPath, join(alone ? this.home : this.#program, 'main.mjs'), ...words];
    const where = { cwd: this.home, encoding: 'utf8', maxBuffer: 2 ** 24 } as const;
    return new Promise((resolve) => {
      execFile('bash', args, where, (error, stdout, stderr) => {
        resolve({ stdout, stderr, code: error === null ? 0 : Number(error.code) });
      });
    });
  }

  /** Runs what must work. */
  async must(words: readonly string[]): Promise<CliResult> {
    const result = await this.process([...words, '--device', 'cpu']);
    if (result.code !== 0) throw new Error(`${words.join(' ')}: ${result.stderr}`);
    return result;
  }

  /** A place of its own for a misuse. */
  place(): Place {
    return new Place(this, join(this.home, `misuse-${++this.#made}`));
  }

  close(): void {
    for (const folder of [this.home, this.#program]) rmSync(folder, { recursive: true, force: true });
  }
}

/** The folder in which one misuse is made. */
export class Place {
  readonly stage: Stage;
  readonly folder: string;

  constructor(stage: Stage, folder: string) {
    this.stage = stage;
    this.folder = folder;
    mkdirSync(folder);
  }

  /** A path here. */
  path(name: string): string {
    return join(this.folder, name);
  }

  /** A file here. */
  file(name: string, content: string | Uint8Array = ''): string {
    const path = this.path(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  }

  /** A list here that begins with a good pair and its picture. */
  list(rows: string, name = 'pairs.csv'): string {
    this.copy(join(this.stage.home, 'pictures', 'red-square.png'), 'a.png');
    return this.file(name, `image,caption\na.png,a red square\n${rows}`);
  }

  /** A copy here of a file or folder. */
  copy(from: string, name: string): string {
    cpSync(from, this.path(name), { recursive: true });
    return this.path(name);
  }

  /** A copy of the model, a file of it changed. */
  model(name: string, change: (before: Buffer) => string | Uint8Array): string {
    return this.changed(this.stage.model, name, change);
  }

  /** A copy of the run, a file of it changed. */
  run(name: string, change: (before: Buffer) => string | Uint8Array): string {
    return this.changed(this.stage.run, name, change);
  }

  changed(folder: string, name: string, change: (before: Buffer) => string | Uint8Array): string {
    const path = this.copy(folder, 'copy');
    writeFileSync(join(path, name), change(readFileSync(join(path, name))));
    return path;
  }
}

/** One misuse. */
export interface Misuse extends Surroundings {
  readonly what: string;
  /** Makes it, and gives the words of the command. */
  readonly words: (place: Place) => string | readonly string[] | Promise<string | readonly string[]>;
  /** What the one line says of what is wrong, and what to do. */
  readonly says: RegExp;
  /** Leave the choice of the device to the words. */
  readonly anyDevice?: boolean;
}

/** Bytes of a file up to which its bytes are compared, beyond only its size and time. */
const HASHED = 2 ** 20;

const hashOf = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');

/** Every file below a folder with a hash of its bytes, and every empty folder. */
export function snapshot(folder: string, inside = ''): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(join(folder, inside))) {
    const path = join(inside, name);
    const stats = lstatSync(join(folder, path));
    if (stats.isSymbolicLink()) found[path] = `→ ${readlinkSync(join(folder, path))}`;
    else if (stats.isDirectory()) Object.assign(found, { [`${path}/`]: 'folder' }, snapshot(folder, path));
    else found[path] = stats.size > HASHED ? `${stats.size} bytes, ${stats.mtimeMs}` : hashOf(join(folder, path));
  }
  return found;
}

/** Lines that say how far a command is. */
const PROGRESS = [
  /^device: cpu \(float64\); /,
  /^\d+ pairs, \d+ batch(?:es)? an epoch, on cpu/,
  /^\S+ on cpu \(float64\)$/,
  /^left out: pair "[^"]*": /,
  /^load the weights$/,
  /^resumed after step \d+ of \d+$/,
  /^frozen layers: \d+\/\d+ pairs$/,
  /^(?:pictures|texts): \d+\/\d+$/,
  /^asking about \d+ pictures, \d+ candidates$/,
  /^step \d+\/\d+  loss /,
  /^rescaled: removing \d+ pairs?$/,
  /^solving(?:, \d+ of \d+)?$/,
  /^(?:cg|minres) \d+  residual /,
  /^(?:sweep: batch|edits:) \d+ of \d+  \d+ s left$/,
  /^the Hessian is not positive definite; every solve is with the Gauss-Newton matrix$/,
];

/** Exit code 2, nothing on stdout, and on stderr one line `ecif: what is wrong; what to do` after any progress. */
export function expectOneLine({ stdout, stderr, code }: CliResult, says: RegExp): void {
  const lines = stderr.trimEnd().split('\n');
  expect(lines.slice(0, -1).filter((line) => !PROGRESS.some((form) => form.test(line)))).toEqual([]);
  const last = lines.at(-1) ?? '';
  expect(last).toMatch(/^ecif: \S.{3,}; \S.{3,}$/);
  expect(last).not.toMatch(/unexpected error|\n|undefined|\[object/);
  expect(last).toMatch(says);
  expect({ stdout, code }).toEqual({ stdout: '', code: 2 });
}

/** Makes every misuse of a list, and sees that it ends with one line and without a trace among the files. */
export function misuses(title: string, stage: Stage, list: readonly Misuse[]): void {
  describe(title, () => {
    it.each(list.map((one) => [one.what, one] as const))(
      '%s',
      async (_, { words, says, anyDevice = false, ...around }) => {
        const place = stage.place();
        onTestFinished(() => rmSync(place.folder, { recursive: true, force: true }));
        const made = await words(place);
        const line = typeof made === 'string' ? made.split(' ') : made;
        const before = snapshot(stage.home);
        const result = await stage.process(anyDevice ? line : [...line, '--device', 'cpu'], around);
        expectOneLine(result, says);
        expect(snapshot(stage.home)).toEqual(before);
      },
    );
  });
}

/** A stage for a file of tests. */
export function useStage(trained: boolean): Stage {
  const stage = new Stage();
  beforeAll(async () => {
    await stage.open();
    if (trained) await stage.train();
  });
  afterAll(() => stage.close());
  return stage;
}
