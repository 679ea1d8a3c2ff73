// The columns of a Parquet file: the leaves of its tree of fields.

import { Damaged, PHYSICAL, REPETITION, UTF8 } from './parquet-format.ts';
import type { Fields } from './parquet-thrift-read.ts';

/** What the values of a column are in JavaScript, or why they are not read. */
export type LeafKind = 'boolean' | 'number' | 'text' | 'bytes' | 'repeated' | 'decimal' | 'int96';

/** One column of a file. */
export interface Leaf {
  /** Names from the outermost struct to the field, with dots between. */
  readonly name: string;
  readonly kind: LeafKind;
  /** How a value is stored. */
  readonly physical: number;
  /** Bytes of a value of fixed length. */
  readonly width: number;
  readonly unsigned: boolean;
  /** Optional fields from the root to this one; a value is there where all of them are. */
  readonly optional: number;
}

/** Structs within structs at most. */
const DEEPEST = 32;

/** Old annotations of enumerations and JSON, texts both. */
const TEXTS: readonly (number | undefined)[] = [UTF8, 4, 19];
const DECIMAL = 5;
const UNSIGNED: readonly (number | undefined)[] = [11, 12, 13, 14];

function kindOf(field: Fields, physical: number, converted: number | undefined): LeafKind {
  const logical = field.fields(10);
  if (converted === DECIMAL || logical?.has(5) === true) return 'decimal';
  if (physical === PHYSICAL.int96) return 'int96';
  if (physical === PHYSICAL.boolean) return 'boolean';
  if (physical === PHYSICAL.fixed) return 'bytes';
  if (physical !== PHYSICAL.bytes) return 'number';
  return TEXTS.includes(converted) || [1, 4, 12].some((id) => logical?.has(id)) ? 'text' : 'bytes';
}

function leafOf(field: Fields, name: string, optional: number, repeated: boolean): Leaf {
  const physical = field.needCount(1, `type of ${name}`);
  if (physical > PHYSICAL.fixed) throw new Damaged(`type of ${name} is ${physical}`);
  const width = physical === PHYSICAL.fixed ? field.needCount(2, `length of ${name}`) : 0;
  if (physical === PHYSICAL.fixed && width === 0) throw new Damaged(`length of ${name} is 0`);
  const converted = field.count(6, `annotation of ${name}`);
  const kind = repeated ? 'repeated' : kindOf(field, physical, converted);
  return { name, kind, physical, width, optional, unsigned: UNSIGNED.includes(converted) };
}

/**
 * The leaves of a schema, in their order.
 * @param elements the tree as a file has it, every struct before its fields, the root first
 * @throws Damaged for a tree that does not add up
 */
export function leavesOf(elements: readonly Fields[]): Leaf[] {
  const leaves: Leaf[] = [];
  let at = 0;
  const visit = (path: readonly string[], optional: number, repeated: boolean): void => {
    if (at >= elements.length || path.length > DEEPEST) throw new Damaged('its tree of columns does not add up');
    const field = elements[at++];
    const children = field.count(5, 'number of fields') ?? 0;
    const root = at === 1;
    const repetition = root ? REPETITION.required : field.needCount(3, 'repetition of a field');
    const names = root ? [] : [...path, field.needText(4, 'name of a field')];
    const may = optional + (repetition === REPETITION.required ? 0 : 1);
    const often = repeated || repetition === REPETITION.repeated;
    if (root || children > 0) for (let i = 0; i < children; i++) visit(names, may, often);
    else leaves.push(leafOf(field, names.join('.'), may, often));
  };
  visit([], 0, false);
  if (at !== elements.length) throw new Damaged('its tree of columns does not add up');
  return leaves;
}
