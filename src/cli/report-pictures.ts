// Small pictures of the pairs of a run and of its queries, made from the datasets they came from.

import type { Dataset, DatasetRow } from '../data/dataset.ts';
import { openDecoder } from '../data/images.node.ts';
import type { Findings, Options } from '../report/findings.ts';
import type { PictureOf } from '../report/pieces.ts';
import type { ThumbnailOf } from '../report/workflow-report.ts';
import { oneLine } from '../array/messages.ts';
import type { OptionValue } from './args.ts';
import { type PairSettings, openPairs, otherPairs } from './data-run.ts';
import type { Progress } from './progress.ts';
import { datasetHash } from './run-folder.ts';
import { settingsOfRun } from './train-options.ts';

/** Pixels of the longer side. */
const SIDE = 96;

/** Makes the small picture of one pair. */
type Maker = (id: string) => Promise<string | null>;

const NONE: Maker = () => Promise.resolve(null);

/** Makes small pictures of the pairs of a dataset. */
async function makerOf(dataset: Dataset): Promise<Maker> {
  const decode = await openDecoder();
  const { default: sharp } = await import('sharp');
  const rows = new Map<string, DatasetRow>(dataset.rows.map((row) => [row.id, row]));
  return async (id) => {
    const row = rows.get(id);
    if (row === undefined) return null;
    const { data, width, height, channels } = await decode(await dataset.picture(row));
    const small = sharp(data, { raw: { width, height, channels } }).resize(SIDE, SIDE, {
      fit: 'inside',
      withoutEnlargement: true,
    });
    return `data:image/webp;base64,${(await small.webp({ quality: 76 }).toBuffer()).toString('base64')}`;
  };
}

/**
 * Gives small pictures of training pairs and of queries; one that cannot be read is left out, and said.
 * @returns with how many there were, and how many could not be made
 */
export async function openThumbnails(
  { run, trace }: Findings,
  progress: Progress,
): Promise<{ thumbnail: ThumbnailOf; counts: { shown: number; unreadable: number } }> {
  const counts = { shown: 0, unreadable: 0 };
  const settings = settingsOfRun(run.options as Readonly<Record<string, OptionValue>>);
  const opened = async (asked: PairSettings | null, dropped: readonly string[], sha256?: string): Promise<Maker> => {
    if (asked === null) return NONE;
    try {
      const { dataset } = await openPairs(asked, progress, dropped);
      if (sha256 === undefined || sha256 === datasetHash(dataset)) return await makerOf(dataset);
      progress.line(`${oneLine(asked.data)}: other pairs than the run was trained on; no pictures of them are shown`);
    } catch (error) {
      progress.line(`no pictures of ${oneLine(asked.data)}: ${oneLine((error as Error).message)}`);
    }
    return NONE;
  };
  const { queries, split = 'auto', format = 'auto' } = (trace?.options ?? {}) as Partial<PairSettings> & Options;
  const makers: Record<PictureOf, Maker> = {
    training: await opened(settings, run.dataset.dropped ?? [], run.dataset.sha256),
    query: await opened(typeof queries === 'string' ? otherPairs(settings, queries, { split, format }) : null, []),
  };
  const thumbnail: ThumbnailOf = async (id, of) => {
    const made = await makers[of](id).catch(() => null);
    counts[made === null ? 'unreadable' : 'shown']++;
    return made;
  };
  return { thumbnail, counts };
}
