// Command-line options: typed specs, and the parser that turns words into checked values.

import { EcifError } from '../array/errors.ts';
import { nearest } from './suggest.ts';

/** Words that make no valid command line. */
export class UsageError extends EcifError {
  override name = 'UsageError';
}

/** A switch; false unless given. */
interface FlagSpec {
  readonly kind: 'flag';
  readonly help: string;
}

/** A number within bounds. */
interface NumberSpec {
  readonly kind: 'number';
  readonly help: string;
  readonly default?: number;
  readonly whole?: boolean;
  readonly least?: number;
  readonly most?: number;
  /** Words that may stand in place of a number. */
  readonly words?: readonly string[];
}

/** One of a few words. */
interface ChoiceSpec {
  readonly kind: 'choice';
  readonly help: string;
  readonly choices: readonly string[];
  readonly default: string;
}

/** Any text, such as a path. */
interface TextSpec {
  readonly kind: 'text';
  readonly help: string;
  /** What stands for the value in the help. */
  readonly label: string;
  readonly default?: string;
}

export type OptionSpec = FlagSpec | NumberSpec | ChoiceSpec | TextSpec;
export type OptionSpecs = Readonly<Record<string, OptionSpec>>;
export type OptionValue = boolean | number | string | undefined;

/** `T`, or undefined too where the spec has no default. */
type Filled<S, T> = S extends { default: T } ? T : T | undefined;

/** The value an option gives. */
type ValueOf<S extends OptionSpec> = S extends FlagSpec
  ? boolean
  : S extends ChoiceSpec
    ? S['choices'][number]
    : S extends NumberSpec
      ? Filled<S, number> | WordOf<S>
      : Filled<S, string>;

/** The words of a number that has some. */
type WordOf<S> = S extends { words: readonly (infer W)[] } ? W : never;

/** The values of a table of specs. */
export type OptionValues<S extends OptionSpecs> = { readonly [K in keyof S]: ValueOf<S[K]> };

/** Words after the options, such as files. */
export interface OperandSpec {
  readonly label: string;
  readonly help: string;
  readonly least: number;
  readonly most: number;
}

/** One word as the parser sees it. */
type Word =
  | { readonly kind: 'operand'; readonly text: string }
  | { readonly kind: 'option'; readonly name: string; readonly value: string | null };

function classify(word: string): Word {
  if (word === '-h') return { kind: 'option', name: 'help', value: null };
  if (!word.startsWith('--')) {
    if (word.startsWith('-') && word !== '-') throw new UsageError(`unknown option ${word}; options start with --`);
    return { kind: 'operand', text: word };
  }
  const cut = word.indexOf('=');
  return {
    kind: 'option',
    name: word.slice(2, cut < 0 ? undefined : cut),
    value: cut < 0 ? null : word.slice(cut + 1),
  };
}

function specOf(name: string, specs: OptionSpecs): OptionSpec {
  if (Object.hasOwn(specs, name)) return specs[name];
  const guess = nearest(name, Object.keys(specs));
  throw new UsageError(`unknown option --${name}; ${guess === null ? 'see --help' : `did you mean --${guess}?`}`);
}

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

function numberOf(name: string, spec: NumberSpec, text: string): number | string {
  const { words = [] } = spec;
  if (words.includes(text)) return text;
  const value = DECIMAL.test(text) ? Number(text) : NaN;
  const { least = -Infinity, most = Infinity, whole = false } = spec;
  if (!Number.isFinite(value) || value < least || value > most || (whole && !Number.isSafeInteger(value))) {
    const bounds = [...(Number.isFinite(least) ? [`≥ ${least}`] : []), ...(Number.isFinite(most) ? [`≤ ${most}`] : [])];
    const wanted = [whole ? 'a whole number' : 'a number', bounds.join(' and ')].filter((s) => s !== '').join(' ');
    throw new UsageError(`--${name}: found ${JSON.stringify(text)}; give ${[wanted, ...words].join(', or ')}`);
  }
  return value;
}

function valueOf(name: string, spec: Exclude<OptionSpec, FlagSpec>, text: string): OptionValue {
  if (spec.kind === 'number') return numberOf(name, spec, text);
  if (spec.kind === 'choice' && !spec.choices.includes(text)) {
    throw new UsageError(`--${name}: found ${JSON.stringify(text)}; give one of ${spec.choices.join(', ')}`);
  }
  return text;
}

/** Options and operands, as far as they have been read. */
export interface Parsed {
  readonly values: Record<string, OptionValue>;
  readonly operands: string[];
}

/**
 * Reads words until `stop` says that an operand ends the reading.
 * @returns the words that are left, the stopping operand first
 * @throws UsageError with the nearest known option
 */
export function parseWords(words: readonly string[], specs: OptionSpecs, into: Parsed, stop = false): string[] {
  for (let i = 0; i < words.length; i++) {
    if (words[i] === '--') {
      into.operands.push(...words.slice(i + 1));
      return [];
    }
    const word = classify(words[i]);
    if (word.kind === 'operand') {
      if (stop) return words.slice(i);
      into.operands.push(word.text);
      continue;
    }
    const spec = specOf(word.name, specs);
    if (Object.hasOwn(into.values, word.name)) throw new UsageError(`--${word.name} is given twice; give it once`);
    if (spec.kind === 'flag') {
      if (word.value !== null) throw new UsageError(`--${word.name} takes no value; write it alone`);
      into.values[word.name] = true;
      continue;
    }
    const text = word.value ?? words.at(i + 1);
    if (text === undefined || (word.value === null && text.startsWith('--'))) {
      throw new UsageError(`--${word.name} needs a value; write --${word.name} ${placeholder(spec)}`);
    }
    if (word.value === null) i++;
    into.values[word.name] = valueOf(word.name, spec, text);
  }
  return [];
}

/** The values with defaults where nothing was given. */
export function withDefaults(
  values: Readonly<Record<string, OptionValue>>,
  specs: OptionSpecs,
): Record<string, OptionValue> {
  return Object.fromEntries(
    Object.entries(specs).map(([name, spec]) => [name, values[name] ?? (spec.kind === 'flag' ? false : spec.default)]),
  );
}

/** Checks the number of operands. */
export function checkOperands(command: string, operands: readonly string[], spec: OperandSpec | undefined): void {
  const { least, most, label } = spec ?? { least: 0, most: 0, label: '' };
  if (operands.length > most)
    throw new UsageError(`${command}: unexpected ${JSON.stringify(operands[most])}; see ecif ${command} --help`);
  if (operands.length < least) throw new UsageError(`${command}: ${label} is missing; see ecif ${command} --help`);
}

/** What stands for an option's value in the help. */
export function placeholder(spec: OptionSpec): string {
  if (spec.kind === 'flag') return '';
  if (spec.kind === 'number') return [spec.whole === true ? 'N' : 'X', ...(spec.words ?? [])].join('|');
  return spec.kind === 'choice' ? spec.choices.join('|') : spec.label;
}
