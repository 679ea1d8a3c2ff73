// Comma- and tab-separated values as RFC 4180 has them: quoted fields may hold separators, line breaks and "" for ".

import { EcifError } from '../array/errors.ts';

/** One record with the line of the file at which it begins, from 1. */
export interface CsvRecord {
  readonly line: number;
  readonly fields: readonly string[];
}

/** Reads field after field of a text. */
class Reader {
  readonly #file: string;
  readonly #text: string;
  readonly #separator: string;
  #at = 0;
  line = 1;

  constructor(file: string, text: string, separator: string) {
    this.#file = file;
    this.#text = text;
    this.#separator = separator;
  }

  get done(): boolean {
    return this.#at >= this.#text.length;
  }

  #quoted(): string {
    const began = this.line;
    let value = '';
    for (this.#at++; ; this.#at++) {
      if (this.done) throw new EcifError(`${this.#file}: line ${began}: a quote is never closed; close it with "`);
      const char = this.#text[this.#at];
      if (char === '"' && this.#text[++this.#at] !== '"') return value;
      if (char === '\n') this.line++;
      value += char;
    }
  }

  #plain(): string {
    const began = this.#at;
    while (!this.done && this.#text[this.#at] !== this.#separator && this.#text[this.#at] !== '\n') this.#at++;
    return this.#text.slice(began, this.#at).replace(/\r$/, '');
  }

  /** One record, the line break after it taken. */
  record(): CsvRecord {
    const { line } = this;
    const fields: string[] = [];
    for (;;) {
      fields.push(this.#text[this.#at] === '"' ? this.#quoted() : this.#plain());
      if (this.#text[this.#at] === '\r' && this.#text[this.#at + 1] === '\n') this.#at++;
      const next = this.#text[this.#at++];
      if (next === this.#separator) continue;
      if (next !== undefined && next !== '\n') {
        throw new EcifError(
          `${this.#file}: line ${this.line}: ${JSON.stringify(next)} after a closing quote; double it`,
        );
      }
      this.line++;
      return { line, fields };
    }
  }
}

/**
 * The records of a text; empty lines are left out.
 * @param file its name, for messages
 * @throws EcifError with file and line for a quote that is not closed, or text after one that is
 * @example parseCsv('a.csv', 'image,caption\ncat.png,"a cat, asleep"', ',')[1].fields; // ['cat.png', 'a cat, asleep']
 */
export function parseCsv(file: string, text: string, separator: ',' | '\t'): CsvRecord[] {
  const reader = new Reader(file, text.replace(/^\ufeff/, ''), separator);
  const records: CsvRecord[] = [];
  while (!reader.done) {
    const record = reader.record();
    if (record.fields.length > 1 || record.fields[0] !== '') records.push(record);
  }
  return records;
}
