// Help texts, made from the specs.

import { type OptionSpec, type OptionSpecs, placeholder } from './args.ts';
import { type Command, GLOBAL_OPTIONS } from './command.ts';

function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n');
}

const defaultOf = (spec: OptionSpec): string =>
  spec.kind === 'flag' || spec.default === undefined ? '' : ` (default ${spec.default})`;

const optionRows = (specs: OptionSpecs): [string, string][] =>
  Object.entries(specs).map(([name, spec]) => [`--${name} ${placeholder(spec)}`.trim(), spec.help + defaultOf(spec)]);

/** The help of the program. */
export function programHelp(commands: readonly Command[]): string {
  return [
    'ecif: exact influence of image-text pairs on contrastive models',
    '',
    'usage: ecif COMMAND [options]',
    '',
    'commands:',
    table(commands.map(({ name, summary }) => [name, summary])),
    '',
    'options of every command:',
    table(optionRows(GLOBAL_OPTIONS)),
    '',
    'exit codes: 0 ok, 1 a check failed, 2 bad usage or input',
    `example: ${commands[0].example}`,
  ].join('\n');
}

/** The help of one command. */
export function commandHelp({ name, summary, example, options, operands }: Command): string {
  const own = optionRows(options);
  return [
    `ecif ${name}: ${summary}`,
    '',
    `usage: ecif ${name} [options]${operands === undefined ? '' : ` ${operands.label}`}`,
    ...(operands === undefined ? [] : ['', table([[operands.label, operands.help]])]),
    ...(own.length === 0 ? [] : ['', 'options:', table(own)]),
    '',
    'options of every command:',
    table(optionRows(GLOBAL_OPTIONS)),
    '',
    `example: ${example}`,
  ].join('\n');
}
