// Small pictures of the pairs of a run and of its queries, made from the datasets they came from.

import type { Dataset, DatasetRow } from '../../data/dataset.ts';
import { openDecoder } from '../../data/images.node.ts';
import type { Findings, Options } from '../../report/findings.ts';
import type { PictureOf } from '../../report/pieces.ts';
import type { ThumbnailOf } from '../../report/workflow-report.ts';
import { oneLine } from '../../array/messages.ts';
import { type PairSettings, openPairs, otherPairs } from '../runs/data-run.ts';
import type { Progress } from '../progress.ts';
import { datasetHash, readRun } from '../runs/run-folder.ts';
import { placeNow, settingsIn } from '../runs/run-paths.ts';
import type { TrainSettings } from '../train/options.ts';

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
  folder: string,
  { run, trace }: Findings,
  progress: Progress,
): Promise<{ thumbnail: ThumbnailOf; counts: { shown: number; unreadable: number } }> {
  const counts = { shown: 0, unreadable: 0 };
  const opened = async (
    of: string,
    asked: () => PairSettings,
    dropped: readonly string[],
    sha256?: string,
  ): Promise<Maker> => {
    try {
      const { dataset } = await openPairs(asked(), progress, dropped);
      if (sha256 === undefined || sha256 === datasetHash(dataset)) return await makerOf(dataset);
      progress.line(
        `${oneLine(dataset.source)}: other pairs than the run was trained on; no pictures of them are shown`,
      );
    } catch (error) {
      progress.line(`no pictures of ${of}: ${oneLine((error as Error).message)}`);
    }
    return NONE;
  };
  const settings = (): TrainSettings => settingsIn(folder, readRun(folder));
  const { queries, split = 'auto', format = 'auto' } = (trace?.options ?? {}) as Partial<PairSettings> & Options;
  const asked = (path: string): PairSettings => {
    const { cwd = null, places = null } = trace ?? {};
    const noted = { ...(cwd === null ? {} : { cwd }), ...(places === null ? {} : { places }) };
    return otherPairs(settings(), placeNow(folder, path, 'queries', noted), { split, format });
  };
  const makers: Record<PictureOf, Maker> = {
    training: await opened('the pairs', settings, run.dataset.dropped ?? [], run.dataset.sha256),
    query: typeof queries === 'string' ? await opened('the queries', () => asked(queries), []) : NONE,
  };
  const thumbnail: ThumbnailOf = async (id, of) => {
    const made = await makers[of](id).catch(() => null);
    counts[made === null ? 'unreadable' : 'shown']++;
    return made;
  };
  return { thumbnail, counts };
}
