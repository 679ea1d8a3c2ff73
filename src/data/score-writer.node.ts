// Writing tables row by row: CSV, JSONL or Parquet by the end of the path, the same bytes however the rows arrive.

import { createHash } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { writingFailed } from '../array/whole-file.node.ts';
import { parquetEncoder } from './parquet-writer.ts';
import { checkColumns, checkedRow, type Column, type Row, type Rows, tableFormat } from './score-table.ts';
import { csvLine, jsonLines } from './score-text.ts';

/** Turns rows into bytes. */
export interface TableEncoder {
  /** Takes a row, and gives the bytes that are ready to be written. */
  add(row: Row): readonly Uint8Array[];
  /** Gives the bytes that end the file. */
  end(): readonly Uint8Array[];
}

/** What was written. */
export interface TableSummary {
  readonly rows: number;
  readonly bytes: number;
  /** Hash of the file. */
  readonly sha256: string;
}

/** A table that is being written. */
export interface TableWriter {
  /**
   * Adds rows.
   * @throws EcifError for a row that does not fit the columns, and for a disk that is full; nothing is left then
   */
  write(rows: Rows): Promise<void>;
  /** Ends the table and gives it its name. */
  close(): Promise<TableSummary>;
  /** Removes what was written. */
  discard(): Promise<void>;
}

/** Letters after which text is written. */
const TEXT_PIECE = 2 ** 16;

function textEncoder(head: string, lineOf: (row: Row) => string): TableEncoder {
  const encoder = new TextEncoder();
  let text = head;
  const take = (): Uint8Array[] => {
    const bytes = encoder.encode(text);
    text = '';
    return bytes.length === 0 ? [] : [bytes];
  };
  return {
    add: (row) => {
      text += lineOf(row);
      return text.length < TEXT_PIECE ? [] : take();
    },
    end: take,
  };
}

function encoderOf(path: string, columns: readonly Column[], groupRows: number | undefined): TableEncoder {
  switch (tableFormat(path)) {
    case 'csv':
      return textEncoder(csvLine(columns.map(({ name }) => name)), csvLine);
    case 'jsonl':
      return textEncoder('', jsonLines(columns));
    case 'parquet':
      return parquetEncoder(columns, groupRows);
  }
}

class FileTable implements TableWriter {
  readonly #path: string;
  readonly #columns: readonly Column[];
  readonly #handle: FileHandle;
  readonly #encoder: TableEncoder;
  readonly #hash = createHash('sha256');
  #rows = 0;
  #bytes = 0;

  constructor(path: string, columns: readonly Column[], handle: FileHandle, encoder: TableEncoder) {
    this.#path = path;
    this.#columns = columns;
    this.#handle = handle;
    this.#encoder = encoder;
  }

  async #put(pieces: readonly Uint8Array[]): Promise<void> {
    for (const piece of pieces) {
      this.#hash.update(piece);
      this.#bytes += piece.length;
      await this.#handle.writeFile(piece);
    }
  }

  /** Does some work, and leaves nothing behind where it fails. */
  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      await this.discard();
      throw writingFailed(this.#path, error);
    }
  }

  write(rows: Rows): Promise<void> {
    return this.#guarded(async () => {
      const where = (): string => `${this.#path}: row ${this.#rows}`;
      for await (const row of rows) {
        const ready = this.#encoder.add(checkedRow(this.#columns, row, where));
        this.#rows++;
        if (ready.length > 0) await this.#put(ready);
      }
    });
  }

  close(): Promise<TableSummary> {
    return this.#guarded(async () => {
      await this.#put(this.#encoder.end());
      await this.#handle.datasync();
      await this.#handle.close();
      await rename(`${this.#path}.part`, this.#path);
      return { rows: this.#rows, bytes: this.#bytes, sha256: this.#hash.digest('hex') };
    });
  }

  async discard(): Promise<void> {
    await this.#handle.close().catch(() => undefined);
    await rm(`${this.#path}.part`, { force: true });
  }
}

/** Settings of {@link openTable}. */
export interface TableOptions {
  /** Rows of a row group of Parquet; 65,536 unless given. */
  readonly groupRows?: number;
}

/**
 * Begins a table. Its bytes stand in `PATH.part` until it is closed, so that PATH is whole or not there.
 *
 * A number that is not finite is written as no value in every format; CSV has nothing for no value and `""` for an
 * empty text, lines end with a line feed. Memory holds 64 Ki letters, or one row group.
 * @throws EcifError for an end of the path that is not .csv, .jsonl or .parquet, and for columns without a name
 * @example
 * const table = await openTable('scores.parquet', [{ name: 'id', type: 'string' }, { name: 'score', type: 'float64' }]);
 * await table.write([['cat', 0.5], ['dog', -1]]);
 * await table.close();
 */
export async function openTable(
  path: string,
  columns: readonly Column[],
  { groupRows }: TableOptions = {},
): Promise<TableWriter> {
  checkColumns(path, columns);
  const encoder = encoderOf(path, columns, groupRows);
  const handle = await open(`${path}.part`, 'w').catch((error: unknown) => {
    throw writingFailed(path, error);
  });
  return new FileTable(path, columns, handle, encoder);
}
