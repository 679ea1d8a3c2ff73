// What a command is, and the options every command has.

import type { OperandSpec, OptionSpecs, OptionValue, OptionValues } from './args.ts';
import type { Progress } from './progress.ts';

/** Options that may stand before or after the name of any command. */
export const GLOBAL_OPTIONS = {
  device: {
    kind: 'choice',
    choices: ['auto', 'cpu', 'webgpu'],
    default: 'auto',
    help: 'where to compute: float32 on WebGPU or float64 on the CPU',
  },
  json: { kind: 'flag', help: 'print one JSON document on stdout' },
  verbose: { kind: 'flag', help: 'print stack traces of errors' },
  help: { kind: 'flag', help: 'print this help' },
  version: { kind: 'flag', help: 'print the version' },
} as const satisfies OptionSpecs;

/** What a command is given besides its own options. */
export interface Context extends Pick<OptionValues<typeof GLOBAL_OPTIONS>, 'device' | 'json' | 'verbose'> {
  readonly operands: readonly string[];
  /** Names of the options that stand on the command line, whatever their values. */
  readonly given: ReadonlySet<string>;
  readonly progress: Progress;
}

/** What a command found: the same result as JSON and as text, and whether its checks hold (exit code 0 or 1). */
export interface Outcome {
  readonly json: unknown;
  readonly text: string;
  readonly ok: boolean;
}

/** A command as the main program sees it. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  /** One command line that works as it stands. */
  readonly example: string;
  readonly options: OptionSpecs;
  readonly operands?: OperandSpec;
  run(values: Readonly<Record<string, OptionValue>>, context: Context): Promise<Outcome>;
}

/** A command whose `run` sees its options with their types. */
interface TypedCommand<S extends OptionSpecs> extends Omit<Command, 'options' | 'run'> {
  readonly options: S;
  run(values: OptionValues<S>, context: Context): Promise<Outcome>;
}

/** Declares a command. */
export function defineCommand<const S extends OptionSpecs>(command: TypedCommand<S>): Command {
  return { ...command, run: (values, context) => command.run(values as OptionValues<S>, context) };
}
