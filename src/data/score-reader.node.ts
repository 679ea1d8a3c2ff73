// Reading tables row by row: CSV, JSONL or Parquet by the end of the path.

import { createReadStream } from 'node:fs';
import { EcifError } from '../array/errors.ts';
import { unreadable } from '../array/messages.ts';
import { shown } from './dataset.ts';
import { openParquetFile } from './parquet.node.ts';
import { checkedRow, type Column, type Row, tableFormat } from './score-table.ts';
import { csvParser, jsonParser, type RowParser } from './score-text.ts';

/** The text of a file in pieces, without a mark of byte order in front. */
async function* textOf(path: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (bytes?: Uint8Array): string => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined });
    } catch {
      throw new EcifError(`${path}: not UTF-8 text; save the table as UTF-8`);
    }
  };
  try {
    for await (const bytes of createReadStream(path) as AsyncIterable<Uint8Array>) yield decode(bytes);
  } catch (error) {
    throw error instanceof EcifError ? error : unreadable(path, error);
  }
  yield decode();
}

async function* textRows(path: string, parser: RowParser): AsyncGenerator<Row> {
  for await (const text of textOf(path)) yield* parser.push(text);
  yield* parser.end();
}

async function* parquetRows(path: string, columns: readonly Column[]): AsyncGenerator<Row> {
  const file = await openParquetFile(path);
  try {
    let row = 0;
    const where = (): string => `${path}: row ${row}`;
    for await (const values of file.read(columns.map(({ name }) => name))) {
      const bytes = values.findIndex((value) => value instanceof Uint8Array);
      if (bytes >= 0) {
        throw new EcifError(
          `${where()}: ${shown(columns[bytes].name)}: found bytes; give a column of texts or numbers`,
        );
      }
      yield checkedRow(columns, values, where);
      row++;
    }
  } finally {
    await file.close();
  }
}

/**
 * The rows of a table, with the columns asked for in the order asked for; others are passed over. Memory holds a piece
 * of the file, or one page of each column.
 * @throws EcifError that names the file and the line or row: a column that is not there, a value that it cannot hold
 * @example for await (const [id, score] of readTable('scores.csv', columns)) print(id, score);
 */
export function readTable(path: string, columns: readonly Column[]): AsyncGenerator<Row> {
  switch (tableFormat(path)) {
    case 'csv':
      return textRows(path, csvParser(path, columns));
    case 'jsonl':
      return textRows(path, jsonParser(path, columns));
    case 'parquet':
      return parquetRows(path, columns);
  }
}
