// How the suspects were told: the batch of the first, the spread of suspicion, and how well every score does.

import { figureBlock, figureHtml } from './figure.ts';
import { heatMap } from './heat-map.ts';
import { histogram } from './histogram.ts';
import { counted, formatNumber } from './numbers.ts';
import { type Cell, given, type Pictures, type Section, sortable } from './pieces.ts';
import type { DetectionMeasures, DetectRecord } from './records.ts';
import { prFigure, rocFigure } from './workflow-figures.ts';

/** Where the first suspect stands in its batch; null where no batch was kept. */
export const batchSection = ({ batch }: DetectRecord, pictures: Pictures): Section | null =>
  batch === null ? null : { id: 'batch', title: 'Batch', html: heatMap(batch, pictures) };

const number = (x: number): Cell => ({ html: formatNumber(x), value: x });

const measureTable = (measures: readonly DetectionMeasures[]): string =>
  sortable(
    'How well each score tells the swapped pairs',
    [
      { name: 'Score', sort: 'text' },
      { name: 'AUROC', sort: 'number' },
      { name: 'Average precision', sort: 'number' },
      { name: 'Swapped among the first ten', sort: 'number' },
    ],
    measures.map(({ name, auroc, auprc, top10 }) => [
      { html: given(name, 60), value: name.slice(0, 200) },
      ...[auroc, auprc, top10].map(number),
    ]),
  );

/** The spread of suspicion and, with a known truth, the curves of every score. */
export function detectionSection({ histogram: spread, cutoff, truth, pairs }: DetectRecord): Section {
  const picture = figureHtml(
    'histogram',
    'Suspicion of all pairs',
    histogram(spread, cutoff.flagged === 0 ? null : cutoff.suspicion),
    cutoff.flagged === 0
      ? 'No cut-off is proposed.'
      : `${counted(cutoff.flagged, 'pair')} of ${pairs} at or to the right of the cut-off.`,
  );
  const curves =
    truth === null
      ? ''
      : `${figureBlock(rocFigure(truth.measures))}\n${figureBlock(prFigure(truth.measures, truth.swapped / pairs))}`;
  const table =
    truth === null
      ? ''
      : `<p class="intro">${counted(truth.swapped, 'pair is', 'pairs are')} known to be swapped. Every single score is judged beside the one that was used.</p>
${measureTable(truth.measures)}`;
  return { id: 'detection', title: 'Detection', html: `${table}<div class="figures">\n${curves}\n${picture}\n</div>` };
}
