// Reading Parquet row by row: any columns that are not repeated, also those inside of structs.

import { EcifError } from '../array/errors.ts';
import { shown } from './dataset.ts';
import { type ParquetSource, readFooter, type RowGroup } from './parquet-footer.ts';
import { type Lookup, openLookup } from './parquet-lookup.ts';
import { type Codecs, ColumnCursor } from './parquet-pages.ts';
import type { Leaf } from './parquet-schema.ts';
import type { ParquetValue } from './parquet-values.ts';

/** A Parquet file whose footer was read. */
export interface ParquetFile {
  readonly rows: number;
  /** Its columns; a field of a struct has the names on its way with dots between, as `image.bytes`. */
  readonly leaves: readonly Leaf[];
  /**
   * The values of some columns, row by row; null where there is none. Memory holds one page a column.
   * @throws EcifError for a column that is not there or is not read, and for a file that is damaged
   */
  read(columns: readonly string[]): AsyncGenerator<ParquetValue[]>;
  /** What the writer noted, by key. */
  readonly notes: ReadonlyMap<string, string>;
  /**
   * Gives a way to read single values of a column. Only the places of its pages are held, and few pages at a time.
   * @throws EcifError as {@link read} does
   */
  lookup(column: string): Promise<Lookup>;
}

const UNREAD: Readonly<Partial<Record<Leaf['kind'], string>>> = {
  repeated: 'is a list',
  decimal: 'holds decimals',
  int96: 'holds numbers of 96 bits',
};

/** The places of some columns among the leaves. */
function placesOf(file: string, leaves: readonly Leaf[], columns: readonly string[]): number[] {
  return columns.map((name) => {
    const place = leaves.findIndex((leaf) => leaf.name === name);
    if (place < 0) {
      const names = leaves.map((leaf) => leaf.name);
      throw new EcifError(`${file}: column ${shown(name)}: not among ${shown(names)}; give one of them`);
    }
    const why = UNREAD[leaves[place].kind];
    if (why !== undefined) throw new EcifError(`${file}: column ${shown(name)}: ${why}; give another column`);
    return place;
  });
}

async function* groupRows(
  source: ParquetSource,
  leaves: readonly Leaf[],
  places: readonly number[],
  { rows, chunks }: RowGroup,
  codecs: Codecs,
): AsyncGenerator<ParquetValue[]> {
  if (rows === 0) return;
  const cursors = places.map((p) => new ColumnCursor(source, leaves[p], chunks[p], codecs));
  for (let row = 0; row < rows; row++) {
    for (const cursor of cursors) if (cursor.left === 0) await cursor.load();
    yield cursors.map((cursor) => cursor.next());
  }
}

/**
 * Opens a Parquet file: PLAIN and dictionary encodings, pages of version 1 and 2, whatever codecs are given. Sizes are
 * checked before anything is read or made.
 * @throws EcifError that names the file and what is wrong
 * @example for await (const [bytes, caption] of file.read(['image.bytes', 'caption'])) show(bytes, caption);
 */
export async function openParquet(source: ParquetSource, codecs: Codecs): Promise<ParquetFile> {
  const { rows, leaves, groups, notes } = await readFooter(source);
  return {
    rows,
    leaves,
    notes,
    lookup: (column) => {
      const [place] = placesOf(source.name, leaves, [column]);
      return openLookup(
        source,
        leaves[place],
        groups.map(({ rows: count, chunks }) => ({ rows: count, chunk: chunks[place] })),
        codecs,
      );
    },
    async *read(columns) {
      const places = placesOf(source.name, leaves, columns);
      for (const group of groups) yield* groupRows(source, leaves, places, group, codecs);
    },
  };
}
