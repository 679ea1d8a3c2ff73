// Complaints about one field of one file, and the checks that make them.

import { EcifError } from '../../../array/errors.ts';
import { oneLine } from '../../../array/messages.ts';

/** A JSON object whose fields have yet to be checked. */
export type Json = Readonly<Record<string, unknown>>;

const LONGEST = 120;

/**
 * Complains about one field of one file.
 * @throws EcifError `file: field: found; fix`, always
 * @example bad('config.json', 'size', 'found -1', 'give a number > 0');
 */
export function bad(file: string, field: string, found: string, fix: string): never {
  throw new EcifError(oneLine(`${file}: ${field}: ${found}; ${fix}`));
}

/** A value in a few words, whatever it is. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = JSON.stringify(value) ?? typeof value;
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/** True for a JSON object. */
export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A field that must be an object. */
export function objectField(file: string, field: string, value: unknown): Json {
  if (!isObject(value)) bad(file, field, `found ${shown(value)}`, 'give an object');
  return value;
}

/** A field that must be a whole number in `least`…`most`. */
export function wholeField(file: string, field: string, value: unknown, least = 1, most = 2 ** 31 - 1): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) {
    bad(file, field, `found ${shown(value)}`, `give a whole number in ${least}…${most}`);
  }
  return value;
}

/** A field that must be a finite number above 0. */
export function positiveField(file: string, field: string, value: unknown): number {
  if (typeof value !== 'number' || !(value > 0) || !Number.isFinite(value)) {
    bad(file, field, `found ${shown(value)}`, 'give a number > 0');
  }
  return value;
}

/** A field that must be true or false, or the default where there is none. */
export function flagField(file: string, field: string, value: unknown, otherwise: boolean): boolean {
  const found = value ?? otherwise;
  if (typeof found !== 'boolean') bad(file, field, `found ${shown(value)}`, 'give true or false');
  return found;
}

/** A field that must be text. */
export function textField(file: string, field: string, value: unknown): string {
  if (typeof value !== 'string') bad(file, field, `found ${shown(value)}`, 'give a text');
  return value;
}

/** A field that must be a list of `count` finite numbers. */
export function numbersField(file: string, field: string, value: unknown, count?: number): number[] {
  const fits = Array.isArray(value) && (count === undefined || value.length === count);
  if (!fits || !value.every((x) => typeof x === 'number' && Number.isFinite(x))) {
    bad(file, field, `found ${shown(value)}`, `give a list of ${count ?? ''} finite numbers`.replace('  ', ' '));
  }
  return value as number[];
}
