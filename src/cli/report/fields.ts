// Checks that turn unknown JSON into types, field by field, and name the file and the field that is not as it should be.

import { bad, isObject, shown } from '../../models/clip/formats/fields.ts';

/** Where a value was found. */
interface Place {
  readonly file: string;
  /** Its name from the top of the file, empty for the whole. */
  readonly field: string;
}

/** Gives the value as its type, or complains about it. */
export type Check<T> = (place: Place, value: unknown) => T;

function refuse({ file, field }: Place, value: unknown, fix: string): never {
  return bad(file, field === '' ? 'the whole' : field.slice(0, 200), `found ${shown(value)}`, fix);
}

/** Complains about a field that does not go with the others. */
export const misfit = ({ file, field }: Place, name: string, found: string, fix: string): never =>
  bad(file, field === '' ? name : `${field}.${name}`, `found ${found}`, fix);

export const text: Check<string> = (place, value) =>
  typeof value === 'string' ? value : refuse(place, value, 'give a text');

export const flag: Check<boolean> = (place, value) =>
  typeof value === 'boolean' ? value : refuse(place, value, 'give true or false');

/** Numbers beyond this cannot be drawn. */
const LARGEST = 1e300;

/** A number that can be drawn. */
export const number: Check<number> = (place, value) =>
  typeof value === 'number' && Math.abs(value) <= LARGEST ? value : refuse(place, value, 'give a finite number');

/** A whole number from 0. */
export const count: Check<number> = (place, value) =>
  Number.isSafeInteger(value) && (value as number) >= 0
    ? (value as number)
    : refuse(place, value, 'give a whole number from 0');

/** An object of any fields. */
export const anything: Check<Readonly<Record<string, unknown>>> = (place, value) =>
  isObject(value) ? value : refuse(place, value, 'give an object');

/** One of a few words. */
export const oneOf =
  <const T extends string>(...words: readonly T[]): Check<T> =>
  (place, value) =>
    words.find((word) => word === value) ?? refuse(place, value, `give ${words.join(' or ')}`);

/** Null, also for a field that is not there, or what is checked. */
export const orNull =
  <T>(check: Check<T>): Check<T | null> =>
  (place, value) =>
    value === undefined || value === null ? null : check(place, value);

/** A list of what is checked, `most` of them at most. */
export const listOf =
  <T>(check: Check<T>, most = 100_000): Check<readonly T[]> =>
  ({ file, field }, value) => {
    if (!Array.isArray(value) || value.length > most) {
      return refuse({ file, field }, value, `give a list of ${most} at most`);
    }
    return value.map((one: unknown, i) => check({ file, field: `${field}[${i}]` }, one));
  };

/** A list of two numbers. */
export const point: Check<readonly [number, number]> = (place, value) => {
  if (!Array.isArray(value) || value.length !== 2) return refuse(place, value, 'give a list of 2 numbers');
  return [number(place, value[0]), number(place, value[1])];
};

/** An object with these fields, others left out. */
export const objectOf =
  <T extends object>(fields: { readonly [K in keyof T]-?: Check<T[K]> }): Check<T> =>
  (place, value) => {
    const found = anything(place, value);
    const names = Object.keys(fields) as (keyof T & string)[];
    const inside = (name: string): Place => ({ ...place, field: place.field === '' ? name : `${place.field}.${name}` });
    return Object.fromEntries(names.map((name) => [name, fields[name](inside(name), found[name])])) as T;
  };

/** What is checked, and then that its fields go together. */
export const also =
  <T>(check: Check<T>, together: (place: Place, value: T) => void): Check<T> =>
  (place, value) => {
    const found = check(place, value);
    together(place, found);
    return found;
  };
