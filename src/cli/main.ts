#!/usr/bin/env node
// The command line: finds the command, runs it, prints its outcome, and turns errors into exit codes.

import { oneLine, safeJson } from '../array/messages.ts';
import { EcifError, NumericsError } from '../array/errors.ts';
import { checkOperands, type Parsed, parseWords, UsageError, withDefaults } from './args.ts';
import { type Command, type Context, GLOBAL_OPTIONS } from './command.ts';
import { compare } from './compare/command.ts';
import { conformance } from './conformance/command.ts';
import { convex } from './convex.ts';
import { curves } from './curves/command.ts';
import { demo } from './demo/command.ts';
import { detect } from './detect/command.ts';
import { evaluate } from './evaluate/command.ts';
import { commandHelp, programHelp } from './help.ts';
import { info } from './info.ts';
import { ladder } from './ladder.ts';
import { merge } from './score/merge.ts';
import { profile } from './profile/command.ts';
import { progressOn } from './progress.ts';
import { remove } from './remove/command.ts';
import { report } from './report/command.ts';
import { score } from './score/command.ts';
import { nearest } from './suggest.ts';
import { trace } from './trace/command.ts';
import { train } from './train/command.ts';
import { verify } from './verify.ts';
import { ownVersion } from './versions.ts';

/** Every command, in the order of the help. */
const COMMANDS: readonly Command[] = [
  demo,
  train,
  evaluate,
  score,
  merge,
  detect,
  trace,
  remove,
  curves,
  report,
  compare,
  verify,
  convex,
  ladder,
  conformance,
  profile,
  info,
];

function findCommand(name: string): Command {
  const found = COMMANDS.find((command) => command.name === name);
  if (found !== undefined) return found;
  const guess = nearest(
    name,
    COMMANDS.map((command) => command.name),
  );
  throw new UsageError(
    `unknown command ${JSON.stringify(name)}; ${guess === null ? 'see ecif --help' : `did you mean ${guess}?`}`,
  );
}

const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** Runs one command line. */
async function run(words: readonly string[]): Promise<number> {
  const parsed: Parsed = { values: {}, operands: [] };
  const rest = parseWords(words, GLOBAL_OPTIONS, parsed, true);
  const command = rest.length === 0 ? null : findCommand(rest[0]);
  const specs = { ...command?.options, ...GLOBAL_OPTIONS };
  parseWords(rest.slice(1), specs, parsed);
  const values = withDefaults(parsed.values, specs);
  if (values.version === true) {
    print(values.json === true ? JSON.stringify({ ecif: ownVersion() }) : ownVersion());
    return 0;
  }
  if (values.help === true) {
    print(command === null ? programHelp(COMMANDS) : commandHelp(command));
    return 0;
  }
  if (command === null) throw new UsageError('no command; see ecif --help');
  checkOperands(command.name, parsed.operands, command.operands);
  const { device, json, verbose } = values as Pick<Context, 'device' | 'json' | 'verbose'>;
  const given = new Set(Object.keys(parsed.values));
  const context = { device, json, verbose, given, operands: parsed.operands, progress: progressOn(process.stderr) };
  const outcome = await command.run(withDefaults(parsed.values, command.options), context);
  print(json ? safeJson(outcome.json, 2) : outcome.text);
  return outcome.ok ? 0 : 1;
}

/** One line for people; a stack trace only where it was asked for. */
function explain(error: unknown, verbose: boolean): string {
  if (verbose && error instanceof Error) return `ecif: ${error.stack ?? error.message}`;
  const message = oneLine((error instanceof Error ? error.message : String(error)).replace(/\s*\n\s*/g, ' '));
  return error instanceof EcifError
    ? `ecif: ${message}`
    : `ecif: unexpected error, ${message}; run again with --verbose and report it`;
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});
try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${explain(error, process.argv.includes('--verbose'))}\n`);
  process.exitCode = error instanceof NumericsError ? 1 : 2;
}
