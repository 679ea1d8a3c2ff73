// Image-text pairs: what a dataset is, whatever it is read from, and captions of classes.

import { EcifError } from '../array/errors.ts';
import { oneLine } from '../array/messages.ts';
import type { Rng } from '../array/rng.ts';

/** One pair. */
export interface DatasetRow {
  /** Its own id, or its number from 0. */
  readonly id: string;
  /** Names the picture within the dataset: a path relative to it, or a file and a place in that. */
  readonly image: string;
  readonly caption: string;
  /** Its class, where the dataset names one. */
  readonly label: string | null;
}

/** A pair as a reader finds it; one with a class may have no caption yet. */
export interface FoundRow extends Omit<DatasetRow, 'caption'> {
  readonly caption: string | null;
}

/** A decoded picture: red, green and blue, 8 bits each, row by row. */
export interface DecodedPicture {
  readonly width: number;
  readonly height: number;
  readonly channels: 3;
  readonly data: Uint8Array;
}

/** A picture where it is kept; nothing of it is held until it is read. */
export interface StoredPicture {
  /** File, and place in it, for messages. */
  readonly name: string;
  /** The bytes of a picture file, or pixels where they are kept as such. */
  read(): Promise<Uint8Array | DecodedPicture>;
}

/** Pairs with where they come from. */
export interface Dataset {
  /** File or folder. */
  readonly source: string;
  readonly rows: readonly DatasetRow[];
  /** Names of the classes: by their number where the source numbers them, else in the order of letters. */
  readonly classes: readonly string[];
  /**
   * Finds the picture of a row.
   * @throws EcifError for one that is not there, or lies outside of the dataset's folder
   */
  picture(row: DatasetRow): Promise<StoredPicture>;
}

/** The caption of a class unless told. */
export const TEMPLATE = 'a photo of a {}';

/** A value from a file in a few words, safe to print. */
export const shown = (value: unknown): string =>
  value === undefined ? 'nothing' : oneLine((JSON.stringify(value) ?? typeof value).slice(0, 80));

/**
 * The caption of a class.
 * @param template with `{}` where the class goes
 * @throws EcifError for a template without `{}`
 * @example captionOf('a photo of a {}', 'tabby_cat'); // 'a photo of a tabby cat'
 */
export function captionOf(template: string, label: string): string {
  if (!template.includes('{}')) {
    throw new EcifError(`template: found ${shown(template)}; put {} where the class goes, as in "a photo of a {}"`);
  }
  return template.replaceAll('{}', () => label.replaceAll('_', ' '));
}

/** The caption of a class by one of some templates, drawn where there are several. */
export const promptOf = (templates: readonly string[], label: string, rng: Rng): string =>
  captionOf(templates[templates.length === 1 ? 0 : rng.int(templates.length)], label);

/** The rows with captions: their own, or else that of their class. */
export const withPrompts = (rows: readonly FoundRow[], templates: readonly string[], rng: Rng): DatasetRow[] =>
  rows.map((row) => ({ ...row, caption: row.caption ?? promptOf(templates, row.label as string, rng) }));

/** What a pair is one of: its class, or its caption where no class is named. */
export const classOf = ({ label, caption }: DatasetRow): string => label ?? caption;
