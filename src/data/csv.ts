// Comma- and tab-separated values as RFC 4180 has them: quoted fields may hold separators, line breaks and "" for ".

import { EcifError } from '../array/errors.ts';

/** One record with the line of the file at which it begins, from 1. */
export interface CsvRecord {
  readonly line: number;
  readonly fields: readonly string[];
  /** Whether each field stood in quotes, which tells an empty text from no value. */
  readonly quoted: readonly boolean[];
}

/** Where in a field the reading is. */
type State = 'start' | 'plain' | 'quoted' | 'closed' | 'return';

/** Letters of a record beyond which a quote was forgotten. */
const LONGEST_RECORD = 2 ** 26;

/** Reads records from a text that comes in pieces, wherever the pieces are cut. */
export class CsvReader {
  readonly #file: string;
  readonly #separator: string;
  #state: State = 'start';
  #line = 1;
  #began = 1;
  #letters = 0;
  #field = '';
  #fields: string[] = [];
  #quoted: boolean[] = [];
  #records: CsvRecord[] = [];

  /** @param file its name, for messages */
  constructor(file: string, separator: ',' | '\t') {
    this.#file = file;
    this.#separator = separator;
  }

  #add(text: string): void {
    this.#letters += text.length;
    if (this.#letters > LONGEST_RECORD) {
      throw new EcifError(
        `${this.#file}: line ${this.#began}: more than ${LONGEST_RECORD} letters; is a quote not closed?`,
      );
    }
    this.#field += text;
  }

  #endField(): void {
    const quoted = this.#state === 'closed' || this.#state === 'return';
    this.#fields.push(quoted ? this.#field : this.#field.replace(/\r$/, ''));
    this.#quoted.push(quoted);
    this.#field = '';
    this.#state = 'start';
  }

  #endRecord(): void {
    this.#endField();
    this.#records.push({ line: this.#began, fields: this.#fields, quoted: this.#quoted });
    this.#fields = [];
    this.#quoted = [];
    this.#letters = 0;
    this.#began = this.#line;
  }

  /** Text inside quotes, up to the quote that ends it; gives the place after. */
  #takeQuoted(text: string, at: number): number {
    const quote = text.indexOf('"', at);
    const part = text.slice(at, quote < 0 ? text.length : quote);
    for (let i = part.indexOf('\n'); i >= 0; i = part.indexOf('\n', i + 1)) this.#line++;
    this.#add(part);
    if (quote < 0) return text.length;
    this.#state = 'closed';
    return quote + 1;
  }

  /** Text without quotes, up to a separator or a line break; gives the place of it. */
  #takePlain(text: string, at: number): number {
    let end = at;
    while (end < text.length && text[end] !== this.#separator && text[end] !== '\n') end++;
    if (end > at) {
      this.#add(text.slice(at, end));
      this.#state = 'plain';
    }
    return end;
  }

  /** A separator, a line break, or what may follow a quote. */
  #takeMark(char: string): void {
    if (char === '\n') {
      this.#line++;
      this.#endRecord();
    } else if (char === this.#separator && this.#state !== 'return') {
      this.#endField();
      this.#letters++;
    } else if (char === '"' && this.#state === 'closed') {
      this.#add('"');
      this.#state = 'quoted';
    } else if (char === '\r' && this.#state === 'closed') {
      this.#state = 'return';
    } else {
      const found = this.#state === 'return' ? '\r' : char;
      throw new EcifError(
        `${this.#file}: line ${this.#line}: ${JSON.stringify(found)} after a closing quote; double it`,
      );
    }
  }

  /** Reads on, and gives the records that are complete. */
  push(text: string): CsvRecord[] {
    for (let at = 0; at < text.length;) {
      if (this.#state === 'start' && text[at] === '"') {
        this.#state = 'quoted';
        at++;
      } else if (this.#state === 'quoted') {
        at = this.#takeQuoted(text, at);
      } else {
        if (this.#state === 'start' || this.#state === 'plain') at = this.#takePlain(text, at);
        if (at < text.length) this.#takeMark(text[at++]);
      }
    }
    return this.#records.splice(0);
  }

  /**
   * Gives the last record, where no line break ends it.
   * @throws EcifError for a quote that is not closed
   */
  end(): CsvRecord[] {
    if (this.#state === 'quoted') {
      throw new EcifError(`${this.#file}: line ${this.#began}: a quote is never closed; close it with "`);
    }
    if (this.#state === 'return') this.#takeMark('\r');
    if (this.#state !== 'start' || this.#fields.length > 0) this.#endRecord();
    return this.#records.splice(0);
  }
}

/** True for the record of an empty line. */
export const isBlank = ({ fields }: CsvRecord): boolean => fields.length === 1 && fields[0] === '';

/**
 * The records of a text; empty lines are left out.
 * @param file its name, for messages
 * @throws EcifError with file and line for a quote that is not closed, or text after one that is
 * @example parseCsv('a.csv', 'image,caption\ncat.png,"a cat, asleep"', ',')[1].fields; // ['cat.png', 'a cat, asleep']
 */
export function parseCsv(file: string, text: string, separator: ',' | '\t'): CsvRecord[] {
  const reader = new CsvReader(file, separator);
  return [...reader.push(text.replace(/^\ufeff/, '')), ...reader.end()].filter((record) => !isBlank(record));
}
