// Rows of a table as lines of CSV and JSONL, and back.

import { EcifError } from '../array/errors.ts';
import { type CsvRecord, CsvReader, isBlank } from './csv.ts';
import { shown } from './dataset.ts';
import { type Cell, checkedCell, type Column, type Row } from './score-table.ts';

/** Letters of a JSON line at most. */
const LONGEST_LINE = 2 ** 26;
const NUMBER = /^-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/;

/** The shortest decimal that reads back as the same double. */
const numeral = (x: number): string => (Object.is(x, -0) ? '-0.0' : String(x));

function csvField(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return numeral(cell);
  return cell === '' || /["\r\n,]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** One line of CSV; an empty text is `""`, no value is nothing. */
export const csvLine = (row: Row): string => `${row.map(csvField).join(',')}\n`;

/**
 * Makes lines of JSONL: an object with every column, null for no value.
 * @example jsonLines([{ name: 'id', type: 'string' }])(['cat']); // '{"id":"cat"}\n'
 */
export function jsonLines(columns: readonly Column[]): (row: Row) => string {
  const keys = columns.map(({ name }, i) => `${i === 0 ? '{' : ','}${JSON.stringify(name)}:`);
  return (row) => {
    let line = '';
    for (let i = 0; i < keys.length; i++) {
      const cell = row[i];
      line += keys[i] + (typeof cell === 'number' ? numeral(cell) : JSON.stringify(cell));
    }
    return `${line}}\n`;
  };
}

/** Turns a text that comes in pieces into rows. */
export interface RowParser {
  push(text: string): Row[];
  end(): Row[];
}

/** The value that a field of CSV stands for. */
function csvCell({ type }: Column, field: string, quoted: boolean): Cell {
  if (field === '' && !quoted) return null;
  return type !== 'string' && NUMBER.test(field) ? Number(field) : field;
}

/** The place of each column in the first record. */
function csvPlaces(file: string, columns: readonly Column[], { fields }: CsvRecord): number[] {
  return columns.map(({ name }) => {
    const place = fields.indexOf(name);
    if (place < 0) {
      throw new EcifError(
        `${file}: line 1: ${shown(name)}: no such column among ${shown(fields)}; name it in the first line`,
      );
    }
    return place;
  });
}

/** Reads the rows of a CSV file, the columns found by their names in the first line. */
export function csvParser(file: string, columns: readonly Column[]): RowParser {
  const reader = new CsvReader(file, ',');
  let places: number[] | null = null;
  let width = 0;
  const rowOf = (record: CsvRecord): Row[] => {
    if (places === null) {
      width = record.fields.length;
      places = csvPlaces(file, columns, record);
      return [];
    }
    if (width > 1 && isBlank(record)) return [];
    const { line, fields, quoted } = record;
    const where = (): string => `${file}: line ${line}`;
    if (fields.length !== width) {
      throw new EcifError(
        `${where()}: found ${fields.length} fields, the first line has ${width}; quote separators in fields`,
      );
    }
    return [places.map((p, i) => checkedCell(columns[i], csvCell(columns[i], fields[p], quoted[p]), where))];
  };
  return {
    push: (text) => reader.push(text).flatMap(rowOf),
    end: () => {
      const rows = reader.end().flatMap(rowOf);
      if (places === null) throw new EcifError(`${file}: empty; give a first line with the names of the columns`);
      return rows;
    },
  };
}

/** The row in a line of JSON. */
function jsonRow(file: string, line: number, text: string, columns: readonly Column[]): Row {
  const where = (): string => `${file}: line ${line}`;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new EcifError(`${where()}: no JSON; give one object a line`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new EcifError(`${where()}: found ${shown(value)}; give one object a line`);
  }
  const fields = new Map(Object.entries(value));
  return columns.map((column) => checkedCell(column, fields.get(column.name) ?? null, where));
}

/** Reads the rows of a JSONL file; a field that is not there is no value. */
export function jsonParser(file: string, columns: readonly Column[]): RowParser {
  let rest: string[] = [];
  let letters = 0;
  let line = 0;
  const take = (text: string): Row[] => {
    const whole = [...rest, text].join('');
    [rest, letters] = [[], 0];
    line++;
    return whole.trim() === '' ? [] : [jsonRow(file, line, whole, columns)];
  };
  return {
    push: (text) => {
      const lines = text.split('\n');
      const last = lines.pop() as string;
      const rows = lines.flatMap(take);
      rest.push(last);
      letters += last.length;
      if (letters > LONGEST_LINE) {
        throw new EcifError(`${file}: line ${line + 1}: more than ${LONGEST_LINE} letters; is this a JSONL file?`);
      }
      return rows;
    },
    end: () => take(''),
  };
}
