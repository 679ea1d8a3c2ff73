// What a run folder holds, read and checked for the report.

import { existsSync, readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { EcifError } from '../../array/errors.ts';
import { oneLine, unreadable } from '../../array/messages.ts';
import type { Findings, LoggedStep, NamedRemoval, Options, RemovalState } from '../../report/findings.ts';
import { bad } from '../../models/clip/formats/fields.ts';
import type { OptionSpecs } from '../args.ts';
import { UsageError } from '../args.ts';
import { CURVES_OPTIONS } from '../curves/options.ts';
import { DETECT_OPTIONS } from '../detect/options.ts';
import { editName, type Edits, readEdits } from '../remove/edits.ts';
import { readText } from '../files.ts';
import { REMOVE_OPTIONS } from '../remove/options.ts';
import type { Check } from './fields.ts';
import { detectRecord, loggedStep, madeBy, predictedActual, removalCurves } from './records.ts';
import { removalRecord, scored, traceRecord, trainedRun } from './records.ts';
import { curvesRecordPath, runFile } from '../runs/run-folder.ts';
import { SCORE_OPTIONS } from '../score/options.ts';
import { TRACE_OPTIONS } from '../trace/options.ts';
import { TRAIN_OPTIONS } from '../train/options.ts';

/** Removals and steps of training that are read at most. */
const [MOST_REMOVALS, MOST_STEPS] = [50, 1_000_000];

/** The value that a text of JSON stands for. */
function parsed(file: string, field: string, source: string): unknown {
  try {
    return JSON.parse(source);
  } catch (error) {
    return bad(file, field, `no JSON, ${(error as Error).message}`, 'make the file again');
  }
}

/**
 * A file of JSON, checked; null where there is none.
 * @throws EcifError `file: field: what was found; what to do`
 */
export function readRecord<T>(path: string, check: Check<T>): T | null {
  if (!existsSync(path)) return null;
  return check({ file: path, field: '' }, parsed(path, 'the whole', readText(path)));
}

/** The steps of training; a last line that a killed process left unfinished does not count. */
function logOf(path: string): LoggedStep[] | null {
  if (!existsSync(path)) return null;
  const lines = readText(path).split('\n').slice(0, -1);
  if (lines.length > MOST_STEPS) throw new EcifError(`${path}: ${lines.length} steps; at most ${MOST_STEPS}`);
  return lines.map((line, i) => {
    const place = { file: path, field: `line ${i + 1}` };
    return loggedStep(place, parsed(path, place.field, line));
  });
}

/** What became of a removal. */
function stateOf({ applied, undone }: Edits, name: string, { options }: NamedRemoval['record']): RemovalState {
  if (applied.at(-1) === name) return 'in force';
  if (applied.includes(name)) return 'held by a later edit';
  if (undone.includes(name)) return 'undone';
  return options['dry-run'] === true ? 'dry run' : 'not in force';
}

/** The removals of a run. */
function removalsOf(run: string): NamedRemoval[] {
  const folder = join(run, 'removals');
  const edits = readEdits(run);
  if (!existsSync(folder)) return [];
  let names: string[];
  try {
    names = readdirSync(folder).toSorted();
  } catch (error) {
    throw unreadable(folder, error);
  }
  return names
    .flatMap((name) => {
      const found = readRecord(join(folder, name, 'removal.json'), removalRecord);
      const state = found === null ? null : stateOf(edits, editName(run, join(folder, name)), found);
      return found === null || state === null ? [] : [{ name, record: found, state }];
    })
    .slice(0, MOST_REMOVALS);
}

/** Options by command, to leave out of a command line what is so anyway. */
const SPECS: Readonly<Record<string, OptionSpecs>> = {
  ...{ train: TRAIN_OPTIONS, score: SCORE_OPTIONS, detect: DETECT_OPTIONS },
  ...{ trace: TRACE_OPTIONS, remove: REMOVE_OPTIONS, curves: CURVES_OPTIONS },
};

/** Options that are operands on the command line. */
const OPERANDS = ['data', 'run'];

/** A word as a shell reads it. */
const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${oneLine(word).replaceAll("'", String.raw`'\''`)}'`;

/** The command line that gives these options; those that are so anyway are left out where they are known. */
export function commandLine(command: string, options: Options): string {
  if (/\s/.test(command)) return oneLine(command);
  const specs = Object.hasOwn(SPECS, command) ? SPECS[command] : {};
  const words = Object.entries(options).flatMap(([name, value]): string[] => {
    const spec = Object.hasOwn(specs, name) ? specs[name] : undefined;
    const usual = spec !== undefined && 'default' in spec && spec.default === value;
    if (OPERANDS.includes(name) || name === 'resume' || usual) return [];
    if (value === true) return [`--${name}`];
    return typeof value === 'number' || typeof value === 'string' ? [`--${name}`, shellWord(String(value))] : [];
  });
  const operands = OPERANDS.flatMap((name) => (typeof options[name] === 'string' ? [shellWord(options[name])] : []));
  return ['ecif', shellWord(command), ...operands, ...words].join(' ');
}

/**
 * Reads a run folder.
 * @throws EcifError `file: field: what was found; what to do` for a file that is not as it should be
 */
export function readFindings(folder: string): Findings {
  const run = readRecord(runFile(folder, 'run'), trainedRun);
  if (run === null) throw new UsageError(`${folder}: holds no run.json; ecif train DATA --out ${folder} makes a run`);
  const scores = readRecord(join(folder, 'scores.parquet.json'), scored);
  const detect = readRecord(join(folder, 'detect.json'), detectRecord);
  const trace = readRecord(join(folder, 'trace.json'), traceRecord);
  const removals = removalsOf(folder);
  const curved = readRecord(curvesRecordPath(folder), madeBy);
  const made = [detect, trace, ...removals.map((one) => one.record), curved].filter((one) => one !== null);
  return {
    ...{ name: basename(resolve(folder)), run, scores, detect, trace, removals },
    log: logOf(runFile(folder, 'log')),
    curves: readRecord(join(folder, 'curves.json'), removalCurves),
    predicted: readRecord(join(folder, 'predicted.json'), predictedActual),
    commands: [
      commandLine('train', run.options),
      ...(scores === null ? [] : [commandLine('score', scores.options)]),
      ...made.map(({ command, options }) => commandLine(command, options)),
      `ecif report ${shellWord(folder)}`,
    ],
  };
}
