// Pairs in Parquet files: pictures as bytes, as Hugging Face datasets keep them, or by their paths.

import { basename, dirname } from 'node:path';
import { EcifError } from '../../array/errors.ts';
import { type FoundRow, shown, type StoredPicture } from '../dataset.ts';
import { CODECS_HERE } from '../parquet.node.ts';
import { openParquet, type ParquetFile } from '../parquet-reader.ts';
import type { Lookup } from '../parquet-lookup.ts';
import { pictureIn } from '../pictures.node.ts';
import { fileOf } from '../ranges.node.ts';
import { bad, type FoundFields, requireDistinct, requireInside, rowOf } from '../rows.ts';
import { entryOf, pictureName, placeOf, type Source } from './source.ts';

/** Names that columns go by. */
const NAMES = { image: ['image', 'img'], caption: ['caption', 'text'], label: ['label', 'fine_label'], id: ['id'] };

/** The columns of pairs in a file; null where there is none. */
interface PairColumns {
  /** Bytes of pictures. */
  readonly bytes: string | null;
  readonly path: string | null;
  readonly caption: string | null;
  readonly label: string | null;
  readonly id: string | null;
}

/** An open file. */
interface Shard {
  readonly path: string;
  readonly bytes: Lookup | null;
  /** Paths of pictures by row. */
  readonly paths: readonly (string | null)[];
}

function columnsOf(path: string, { leaves }: ParquetFile): PairColumns {
  const named = (names: readonly string[], ...kinds: readonly string[]): string | null =>
    names.find((name) => leaves.some((leaf) => leaf.name === name && kinds.includes(leaf.kind))) ?? null;
  const within = (field: string): string[] => NAMES.image.map((name) => `${name}.${field}`);
  const found = {
    bytes: named([...within('bytes'), ...NAMES.image], 'bytes'),
    path: named([...within('path'), ...NAMES.image], 'text'),
    caption: named(NAMES.caption, 'text'),
    label: named(NAMES.label, 'text', 'number'),
    id: named(NAMES.id, 'text', 'number'),
  };
  const names = shown(leaves.map(({ name }) => name));
  if (found.bytes === null && found.path === null) {
    throw new EcifError(`${path}: image: no such column among ${names}; name one so, a path or {bytes, path}`);
  }
  if (found.caption === null && found.label === null) {
    throw new EcifError(`${path}: caption: no such column among ${names}; name one caption, text or label`);
  }
  return found;
}

/** Names of classes that Hugging Face notes in the footer. */
function classesOf(path: string, { notes }: ParquetFile, label: string | null): string[] | null {
  const note = notes.get('huggingface');
  if (note === undefined || label === null) return null;
  try {
    const { info } = JSON.parse(note) as { info?: { features?: Record<string, { names?: unknown }> } };
    const names = info?.features?.[label]?.names;
    if (names === undefined) return null;
    if (Array.isArray(names) && names.every((name) => typeof name === 'string')) return names;
  } catch {
    // told below
  }
  throw new EcifError(`${path}: the note huggingface names no classes of ${shown(label)}; write the file anew`);
}

/** The fields of every row but the pictures. */
async function* fieldsOf(file: ParquetFile, columns: PairColumns): AsyncGenerator<Record<string, unknown>> {
  const { path, caption, label, id } = columns;
  const wanted = Object.entries({ path, caption, label, id }).filter(([, column]) => column !== null);
  for await (const cells of file.read(wanted.map(([, column]) => column as string))) {
    yield Object.fromEntries(wanted.map(([field], i) => [field, cells[i]]));
  }
}

/** @param front what stands before the number of a row in messages */
async function openShard(
  path: string,
  front: string,
  add: (found: FoundFields) => void,
): Promise<{ shard: Shard; classes: string[] | null }> {
  const file = await openParquet(await fileOf(path), CODECS_HERE);
  const columns = columnsOf(path, file);
  const paths: (string | null)[] = [];
  for await (const { path: at = null, ...fields } of fieldsOf(file, columns)) {
    const place = `row ${paths.length}`;
    const image = typeof at === 'string' && at !== '' ? at : null;
    if (columns.bytes === null) {
      if (image === null) bad(path, place, 'image', 'found nothing', 'give every row an image');
      requireInside(path, place, image);
    }
    // Hugging Face writes -1 where a label is not told.
    const label = fields.label === -1 ? null : fields.label;
    const name = pictureName(basename(path), paths.length);
    add({ place: `${front}${place}`, fields: { ...fields, label, image: name } });
    paths.push(image);
  }
  const bytes = columns.bytes === null ? null : await file.lookup(columns.bytes);
  return { shard: { path, bytes, paths }, classes: classesOf(path, file, columns.label) };
}

/** A picture that is bytes in a row, or else the file that the row names. */
function pictureOf({ path, bytes, paths }: Shard, id: string, index: number): Promise<StoredPicture> {
  const beside = async (): Promise<StoredPicture> => {
    const image = paths[index];
    if (image === null) bad(path, `row ${index}`, 'image', 'found nothing', 'give every row an image');
    requireInside(path, `row ${index}`, image);
    return pictureIn(dirname(path), path, { id, image });
  };
  if (bytes === null) return beside();
  const read: StoredPicture['read'] = async () => {
    const value = await bytes(index);
    return value instanceof Uint8Array ? value : (await beside()).read();
  };
  return Promise.resolve({ name: pictureName(path, index), read });
}

/**
 * Reads pairs of Parquet files. Captions and labels are held; a page of pictures is read when one of it is wanted.
 * @throws EcifError that names file, row and column, and what is wrong
 */
export async function readParquetPairs(path: string, files: readonly string[]): Promise<Source> {
  const found: FoundFields[] = [];
  const shards = new Map<string, Shard>();
  let classes: string[] | null = null;
  for (const file of files) {
    const front = files.length === 1 ? '' : `${basename(file)} `;
    const opened = await openShard(file, front, (row) => found.push(row));
    shards.set(basename(file), opened.shard);
    classes ??= opened.classes;
  }
  if (found.length === 0) throw new EcifError(`${path}: no rows; give at least one pair`);
  const rows: FoundRow[] = found.map((one, i) => rowOf(path, one, i));
  requireDistinct(path, found, rows);
  return {
    rows,
    numbered: classes !== null,
    classes,
    picture: ({ id, image }) => {
      const { file, index } = placeOf(image);
      return pictureOf(entryOf(shards, path, file), id, index);
    },
  };
}
