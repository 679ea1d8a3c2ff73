// Single values of one column of a Parquet file, found by the places of its pages.

import { EcifError } from '../array/errors.ts';
import type { Chunk, ParquetSource } from './parquet-footer.ts';
import { type Codecs, ColumnCursor } from './parquet-pages.ts';
import type { Leaf } from './parquet-schema.ts';
import type { ParquetValue } from './parquet-values.ts';

/** Gives the value of a row. */
export type Lookup = (row: number) => Promise<ParquetValue>;

/** A column's part of a row group. */
interface Part {
  readonly rows: number;
  readonly chunk: Chunk;
}

/** Where some rows are. */
interface Page {
  readonly chunk: Chunk;
  /** Where its chunk's values begin. */
  readonly begin: number;
  readonly at: number;
  readonly first: number;
  readonly rows: number;
}

/** Pages that are kept decoded. */
const KEPT = 2;

/** Places of all pages, from their headers alone. */
async function pagesOf(source: ParquetSource, leaf: Leaf, parts: readonly Part[], codecs: Codecs): Promise<Page[]> {
  const pages: Page[] = [];
  let first = 0;
  for (const { rows, chunk } of parts) {
    const cursor = new ColumnCursor(source, leaf, chunk, codecs);
    const end = first + rows;
    let begin: number | null = null;
    while (first < end) {
      const { at, values } = await cursor.skip();
      if (values === 0) continue;
      begin ??= at;
      pages.push({ chunk, begin, at, first, rows: Math.min(values, end - first) });
      first += values;
    }
    first = end;
  }
  return pages;
}

/** The last page that begins at a row or before it. */
function pageWith(pages: readonly Page[], row: number): Page | undefined {
  let [low, high] = [0, pages.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (pages[middle].first <= row) low = middle + 1;
    else high = middle;
  }
  return pages[low - 1];
}

/**
 * Finds the pages of a column.
 * @throws EcifError that names file and column; the lookup too, for a page that is damaged
 */
export async function openLookup(
  source: ParquetSource,
  leaf: Leaf,
  parts: readonly Part[],
  codecs: Codecs,
): Promise<Lookup> {
  const pages = await pagesOf(source, leaf, parts, codecs);
  const kept = new Map<Page, Promise<ParquetValue[]>>();
  const decode = async ({ chunk, begin, at, rows }: Page): Promise<ParquetValue[]> => {
    const cursor = new ColumnCursor(source, leaf, chunk, codecs);
    await cursor.seek(at, begin);
    return Array.from({ length: rows }, () => cursor.next());
  };
  return async (row) => {
    const page = pageWith(pages, row);
    if (page === undefined || row >= page.first + page.rows) {
      throw new EcifError(`${source.name}: no row ${row}; was the file changed?`);
    }
    const values = kept.get(page) ?? decode(page);
    kept.delete(page);
    kept.set(page, values);
    for (const old of kept.keys()) if (kept.size > KEPT) kept.delete(old);
    return (await values)[row - page.first];
  };
}
