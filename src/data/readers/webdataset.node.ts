// WebDataset: pairs in tar archives, the files of a pair named alike up to the first dot.

import { basename } from 'node:path';
import { EcifError } from '../../array/errors.ts';
import { type FoundRow, shown, type StoredPicture } from '../dataset.ts';
import type { ParquetSource } from '../parquet-footer.ts';
import { fileOf, withFile } from '../ranges.node.ts';
import { bad, rowOf } from '../rows.ts';
import { entryOf, type Source } from './source.ts';
import { type TarEntry, tarEntries } from './tar.ts';

/** Key and ending of a name: cut at the first dot after the last slash. */
const NAME = /^((?:.*\/)?[^./]+)\.([^/]+)$/s;
const PICTURES = /^(?:jpe?g|png|webp|gif|avif|tiff?)$/;
const TEXTS = /^(?:txt|json|cls)$/;
const LONGEST_TEXT = 2 ** 20;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The files of one pair. */
interface Sample {
  picture?: TarEntry;
  readonly texts: Map<string, string>;
}

async function textOf({ name, read }: ParquetSource, entry: TarEntry): Promise<string> {
  const where = `${name}: ${shown(entry.name)}`;
  if (entry.size > LONGEST_TEXT)
    throw new EcifError(`${where}: ${entry.size} bytes, at most ${LONGEST_TEXT}; shorten it`);
  try {
    return utf8.decode(await read(entry.offset, entry.size)).trim();
  } catch (error) {
    throw error instanceof EcifError ? error : new EcifError(`${where}: not UTF-8 text; save it as UTF-8`);
  }
}

/** The pairs of an archive by their keys. */
async function samplesOf(source: ParquetSource): Promise<Map<string, Sample>> {
  const samples = new Map<string, Sample>();
  for await (const entry of tarEntries(source)) {
    const [, key, ending = ''] = NAME.exec(entry.name) ?? [];
    const kind = ending.toLowerCase();
    const [isPicture, isText] = [PICTURES.test(kind), TEXTS.test(kind)];
    if (key === undefined || (!isPicture && !isText)) continue;
    const sample = samples.get(key) ?? { texts: new Map<string, string>() };
    samples.set(key, sample);
    if (isPicture ? sample.picture !== undefined : sample.texts.has(kind)) {
      throw new EcifError(
        `${source.name}: ${shown(key)}: a second ${isPicture ? 'picture' : `.${kind}`}; give every pair its own name`,
      );
    }
    if (isPicture) sample.picture = entry;
    else sample.texts.set(kind, await textOf(source, entry));
  }
  return samples;
}

/** Caption and label of a pair, from its texts. */
function fieldsOf(file: string, key: string, texts: ReadonlyMap<string, string>): Record<string, unknown> {
  let json: Record<string, unknown> = {};
  const source = texts.get('json');
  if (source !== undefined) {
    try {
      json = Object(JSON.parse(source)) as Record<string, unknown>;
    } catch {
      bad(file, shown(key), 'json', 'no JSON', 'give one object');
    }
  }
  return {
    caption: texts.get('txt') ?? json.caption ?? json.text,
    label: texts.get('cls') ?? json.label,
  };
}

/**
 * Reads tar archives: `.jpg`, `.png` or `.webp`, with `.txt`, `.json` or `.cls`. Texts and the places of pictures are
 * held, pictures are read when they are wanted.
 * @throws EcifError that names archive and pair, and what is wrong
 */
export async function readWebDataset(path: string, files: readonly string[]): Promise<Source> {
  const rows: FoundRow[] = [];
  const places = new Map<string, { source: ParquetSource; entry: TarEntry }>();
  for (const file of files) {
    const name = basename(file);
    const samples = await withFile(file, samplesOf);
    const source = await fileOf(file);
    for (const [key, { picture, texts }] of samples) {
      if (picture === undefined) {
        if (texts.has('txt') || texts.has('cls')) bad(file, shown(key), 'image', 'found nothing', 'add its picture');
        continue;
      }
      const id = files.length === 1 ? key : `${name}/${key}`;
      const image = `${name}/${picture.name}`;
      rows.push(rowOf(file, { place: shown(key), fields: { ...fieldsOf(file, key, texts), id, image } }, rows.length));
      places.set(image, { source, entry: picture });
    }
  }
  if (rows.length === 0) throw new EcifError(`${path}: no pairs; name their files KEY.jpg and KEY.txt`);
  return {
    rows,
    numbered: false,
    classes: null,
    picture: ({ image }) => {
      const { source, entry } = entryOf(places, path, image);
      const stored: StoredPicture = {
        name: `${source.name}: ${shown(entry.name)}`,
        read: () => source.read(entry.offset, entry.size),
      };
      return Promise.resolve(stored);
    },
  };
}
