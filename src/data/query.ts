// Choosing rows of a table by a short query, such as `lowest 10%` or `probability > 0.5 and score < 0`.

import { shown } from './dataset.ts';
import { queryError, type QueryWord, queryWords } from './query-words.ts';
import type { Cell, Row } from './score-table.ts';

/** A column that a query looks at. */
export interface QueryColumn {
  readonly name: string;
  readonly type: 'float64' | 'string';
  /** Where the query names it first, from 1. */
  readonly at: number;
}

/** A query that was read. */
export interface Query {
  readonly columns: readonly QueryColumn[];
  /**
   * The places of the rows that it chooses, ascending.
   * @param rows cells in the order of `columns`
   */
  choose(rows: readonly Row[]): number[];
}

/** Whether a row meets a condition; null where a value that it needs is missing. */
type Condition = (row: Row) => boolean | null;

const COMPARISONS: Readonly<Record<string, (a: string | number, b: string | number) => boolean>> = {
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
  '=': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  contains: (a, b) => String(a).includes(String(b)),
};

const ENDS = ['lowest', 'highest'];

/** How many rows of an end are taken. */
interface End {
  readonly which: 'lowest' | 'highest';
  readonly amount: number;
  readonly percent: boolean;
  /** Place of the column that orders them. */
  readonly by: number;
}

/** Reads words from left to right. */
class Reader {
  readonly columns: QueryColumn[] = [];
  readonly #query: string;
  readonly #words: readonly QueryWord[];
  #next = 0;

  constructor(query: string) {
    this.#query = query;
    this.#words = queryWords(query);
  }

  /** Whether the next word is one of some keywords or marks, without taking it. */
  sees(...texts: readonly string[]): boolean {
    const { kind, text } = this.#words[this.#next];
    return (kind === 'name' && texts.includes(text.toLowerCase())) || (kind === 'mark' && texts.includes(text));
  }

  /** Takes the next word if it is this keyword or mark. */
  takes(text: string): boolean {
    if (!this.sees(text)) return false;
    this.#next++;
    return true;
  }

  /** Takes the next word. */
  take(): QueryWord {
    return this.#words[this.#next++] ?? this.#words[this.#words.length - 1];
  }

  /** Complains about a word. */
  refuse({ kind, text, at }: QueryWord, fix: string): never {
    throw queryError(this.#query, at, kind === 'end' ? 'found its end' : `found ${shown(text)}`, fix);
  }

  /** The place of a column, which holds numbers or texts. */
  column({ text: name, at }: Pick<QueryWord, 'text' | 'at'>, type: QueryColumn['type']): number {
    const known = this.columns.findIndex((column) => column.name === name);
    if (known < 0) return this.columns.push({ name, type, at }) - 1;
    if (this.columns[known].type === type) return known;
    throw queryError(
      this.#query,
      at,
      `${shown(name)} is compared with numbers and with texts`,
      'compare it with one kind',
    );
  }
}

/** The name of a column. */
function columnWord(reader: Reader): QueryWord {
  const word = reader.take();
  if (word.kind === 'column' || word.kind === 'name') return word;
  return reader.refuse(word, 'give a column, such as score');
}

/** `column op value` */
function comparison(reader: Reader): Condition {
  const name = columnWord(reader);
  const word = reader.take();
  const op = word.kind === 'name' ? word.text.toLowerCase() : word.text;
  if ((word.kind !== 'mark' && word.kind !== 'name') || !Object.hasOwn(COMPARISONS, op)) {
    reader.refuse(word, 'give < <= > >= = != or contains after a column');
  }
  const value = reader.take();
  if (value.kind !== 'number' && value.kind !== 'text') reader.refuse(value, "give a number or a 'text'");
  if (op === 'contains' && value.kind !== 'text') reader.refuse(value, "give a 'text' after contains");
  const wanted = value.kind === 'number' ? Number(value.text) : value.text;
  const place = reader.column(name, value.kind === 'number' ? 'float64' : 'string');
  return (row) => {
    const cell: Cell = row[place];
    return cell === null ? null : COMPARISONS[op](cell, wanted);
  };
}

/** A comparison, `not …` or `( … )`. */
function factor(reader: Reader): Condition {
  if (reader.takes('not')) {
    const of = factor(reader);
    return (row) => {
      const met = of(row);
      return met === null ? null : !met;
    };
  }
  if (!reader.takes('(')) return comparison(reader);
  const inner = either(reader);
  if (!reader.takes(')')) reader.refuse(reader.take(), 'close the bracket with )');
  return inner;
}

/** Conditions joined by a word: `decides` is the answer of one that settles all. */
function joined(reader: Reader, word: 'and' | 'or', part: (reader: Reader) => Condition, decides: boolean): Condition {
  const parts = [part(reader)];
  while (reader.takes(word)) parts.push(part(reader));
  return (row) => {
    const met = parts.map((one) => one(row));
    if (met.includes(decides)) return decides;
    return met.includes(null) ? null : !decides;
  };
}

const all = (reader: Reader): Condition => joined(reader, 'and', factor, false);
const either = (reader: Reader): Condition => joined(reader, 'or', all, true);

/** `lowest 10%`, `highest 5 by self` */
function endOf(reader: Reader): End {
  const which = reader.take().text.toLowerCase() as End['which'];
  const word = reader.take();
  const [amount, percent] = [Number(word.text), word.kind === 'percent'];
  const fits = percent ? amount > 0 && amount <= 100 : Number.isSafeInteger(amount) && amount >= 1;
  if ((word.kind !== 'number' && !percent) || !fits) {
    reader.refuse(word, 'give a whole number ≥ 1, or a share up to 100%');
  }
  const by = reader.takes('by') ? columnWord(reader) : { text: 'score', at: word.at };
  return { which, amount, percent, by: reader.column(by, 'float64') };
}

/** The rows of an end; those without a value are passed over, ties go to the earlier row. */
function takeEnd({ which, amount, percent, by }: End, rows: readonly Row[], among: readonly number[]): number[] {
  const sign = which === 'lowest' ? 1 : -1;
  const known = among.filter((i) => rows[i][by] !== null);
  const count = percent ? Math.round((known.length * amount) / 100) : amount;
  const value = (i: number): number => sign * (rows[i][by] as number);
  return known
    .toSorted((i, j) => value(i) - value(j) || i - j)
    .slice(0, count)
    .sort((i, j) => i - j);
}

/**
 * Reads a query: a condition, `lowest N` or `highest N%` with `by column` (`score` unless given), or such an end
 * `where` a condition holds. Conditions compare columns with numbers or 'texts' by < <= > >= = != and contains, joined
 * by and, or, not and brackets. A comparison with a missing value chooses nothing.
 * @throws EcifError with the place of what is wrong
 * @example parseQuery('lowest 10% by score where probability > 0.5').choose(rows);
 */
export function parseQuery(query: string): Query {
  const reader = new Reader(query);
  const end = reader.sees(...ENDS) ? endOf(reader) : null;
  const condition = end === null || reader.takes('where') ? either(reader) : null;
  const rest = reader.take();
  if (rest.kind !== 'end') reader.refuse(rest, condition === null ? 'go on with where' : 'go on with and or or');
  return {
    columns: reader.columns,
    choose: (rows) => {
      const met = [...rows.keys()].filter((i) => condition === null || condition(rows[i]) === true);
      return end === null ? met : takeEnd(end, rows, met);
    },
  };
}
