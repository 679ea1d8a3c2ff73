// From settings to pairs: read, chosen, without those whose pictures are bad, and with captions made wrong on purpose.

import { EcifError } from '../../array/errors.ts';
import { oneLine } from '../../array/messages.ts';
import { readDataset } from '../../data/dataset.node.ts';
import { type Dataset, type DatasetRow, promptOf } from '../../data/dataset.ts';
import { openDecoder } from '../../data/images.node.ts';
import { labelsIn } from '../../data/noise-labels.ts';
import { drawTrades, traded } from '../../data/noise.ts';
import { drawSome, fewShot } from '../../data/select.ts';
import { truthText } from '../../data/truth.ts';
import { streamOf } from '../../models/clip/train-streams.ts';
import type { ReadSettings } from './data-options.ts';
import { readText } from '../files.ts';
import { leaveOut } from './pair-ids.ts';
import type { Progress } from '../progress.ts';
import type { TrainSettings } from '../train/options.ts';

/** What is asked of pairs; only training chooses among them and makes some wrong. */
export type PairSettings = ReadSettings &
  Partial<Pick<TrainSettings, 'shots' | 'noise' | 'noise-kind' | 'noise-labels' | 'without'>>;

/** Other pairs than those of a run, read as its settings say. */
export const otherPairs = (
  { templates, 'class-names': names, 'bad-images': bad, seed }: ReadSettings,
  data: string,
  { split, format }: Pick<ReadSettings, 'split' | 'format'>,
): PairSettings => ({ data, split, format, templates, 'class-names': names, 'bad-images': bad, limit: 0, seed });

/** Pairs that settings ask for. */
export interface AskedPairs {
  readonly dataset: Dataset;
  /** Its pairs and those that `--without` leaves out: batches are drawn of all of them. */
  readonly listed: readonly DatasetRow[];
  /** Places of the dataset's pairs among them; null where none is left out. */
  readonly kept: Uint32Array | null;
  /** Ids of pairs left out because their pictures are bad. */
  readonly dropped: readonly string[];
  /** What was made wrong: the text of `truth.csv`, and how many; null where nothing was asked for. */
  readonly truth: { readonly text: string; readonly swapped: number } | null;
}

const AT_ONCE = 8;
const TOLD = 10;

const templatesOf = ({ templates }: ReadSettings): string[] => templates.split('|');

/** Rows that shots and limit choose. */
function chosen({ shots = 0, limit, seed }: PairSettings, rows: readonly DatasetRow[]): number[] {
  const shot = shots === 0 ? [...rows.keys()] : fewShot(streamOf(seed, 'shots'), rows, shots);
  if (limit === 0 || limit >= shot.length) return shot;
  return drawSome(streamOf(seed, 'limit'), shot.length, limit).map((i) => shot[i]);
}

/** What is wrong with a picture; null where nothing is. */
async function faultOf(dataset: Dataset, row: DatasetRow, decode: Awaited<ReturnType<typeof openDecoder>>) {
  try {
    await decode(await dataset.picture(row));
    return null;
  } catch (error) {
    if (error instanceof EcifError) return error.message;
    throw error;
  }
}

/** Ids of the pairs whose pictures cannot be decoded, each told, or counted where they are many. */
async function badPictures(dataset: Dataset, progress: Progress): Promise<string[]> {
  const decode = await openDecoder();
  const bad: string[] = [];
  const { rows } = dataset;
  for (let first = 0; first < rows.length; first += AT_ONCE) {
    const some = rows.slice(first, first + AT_ONCE);
    const faults = await Promise.all(some.map((row) => faultOf(dataset, row, decode)));
    faults.forEach((fault, i) => {
      if (fault === null) return;
      if (bad.length < TOLD) progress.line(`left out: pair ${oneLine(JSON.stringify(some[i].id))}: ${oneLine(fault)}`);
      bad.push(some[i].id);
    });
  }
  if (bad.length > TOLD) progress.line(`left out: ${bad.length - TOLD} more pairs`);
  return bad;
}

/** The rows with what was made wrong, and the record of it. */
function withNoise(
  settings: PairSettings,
  rows: readonly DatasetRow[],
  labels: readonly string[] | null,
): Pick<AskedPairs, 'truth'> & { rows: readonly DatasetRow[] } {
  const { noise = 0, 'noise-kind': kind = 'across', seed } = settings;
  if (labels === null && noise === 0) return { rows, truth: null };
  const rng = streamOf(seed, 'noise');
  const told = (after: readonly DatasetRow[], swapped: (row: number) => boolean) => ({
    rows: after,
    truth: { text: truthText(rows, after, swapped), swapped: rows.filter((_, i) => swapped(i)).length },
  });
  if (labels === null) {
    const donors = drawTrades(rng, rows, noise, kind);
    return told(traded(rows, donors), (row) => donors[row] !== row);
  }
  const templates = templatesOf(settings);
  const other = (row: number): boolean => labels[row] !== rows[row].label;
  const after = rows.map((row, i) =>
    other(i) ? { ...row, label: labels[i], caption: promptOf(templates, labels[i], rng) } : row,
  );
  return told(after, other);
}

/**
 * Pairs as settings ask for them; equal settings give equal pairs.
 * @param before ids that were left out before, which are not looked for again
 * @throws EcifError for data that cannot be read, and for settings that do not fit them
 */
export async function openPairs(
  settings: PairSettings,
  progress: Progress,
  before?: readonly string[],
): Promise<AskedPairs> {
  const { data, split, format, seed, 'class-names': classNames, 'noise-labels': noisy } = settings;
  const part = split === 'auto' ? undefined : split;
  const all = await readDataset(data, { templates: templatesOf(settings), seed, split: part, format, classNames });
  const labels = noisy === undefined ? null : labelsIn(noisy, readText(noisy), all);
  const some = chosen(settings, all.rows);
  const asked = { ...all, rows: some.map((row) => all.rows[row]) };
  const dropped = before ?? (settings['bad-images'] === 'skip' ? await badPictures(asked, progress) : []);
  const out = new Set(dropped);
  const good = some.filter((row) => !out.has(all.rows[row].id));
  if (good.length === 0) throw new EcifError(`${data}: no pair is left; check the pictures`);
  const { rows, truth } = withNoise(
    settings,
    good.map((row) => all.rows[row]),
    labels === null ? null : good.map((row) => labels[row]),
  );
  return { ...leaveOut({ ...all, rows }, settings.without), listed: rows, dropped, truth };
}
