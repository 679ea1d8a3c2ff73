// Which columns a table on disk has.

import { createReadStream } from 'node:fs';
import { EcifError } from '../array/errors.ts';
import { unreadable } from '../array/messages.ts';
import { CsvReader } from './csv.ts';
import { openParquetFile } from './parquet.node.ts';
import { tableFormat } from './score-table.ts';

/** Letters within which the first line of a table ends. */
const LONGEST_LINE = 2 ** 22;

/** The first line of a text file. */
async function firstLine(path: string): Promise<string> {
  let text = '';
  try {
    for await (const part of createReadStream(path, 'utf8') as AsyncIterable<string>) {
      text += part;
      if (text.includes('\n') || text.length > LONGEST_LINE) break;
    }
  } catch (error) {
    throw unreadable(path, error);
  }
  return text.replace(/^\ufeff/, '').split('\n')[0];
}

/**
 * The names of a table's columns: the first line of a CSV file, the fields of the first object of a JSONL file, the
 * schema of a Parquet file.
 * @throws EcifError for a file that is no table
 */
export async function tableColumns(path: string): Promise<string[]> {
  const format = tableFormat(path);
  if (format === 'parquet') {
    const file = await openParquetFile(path);
    await file.close();
    return file.leaves.map(({ name }) => name);
  }
  const line = await firstLine(path);
  if (format === 'csv') {
    const reader = new CsvReader(path, ',');
    return [...reader.push(`${line.replace(/\r$/, '')}\n`), ...reader.end()][0]?.fields.slice() ?? [];
  }
  try {
    const found = JSON.parse(line) as unknown;
    if (typeof found === 'object' && found !== null && !Array.isArray(found)) return Object.keys(found);
  } catch {
    // told below
  }
  throw new EcifError(`${path}: line 1: no JSON object; give one object a line`);
}
