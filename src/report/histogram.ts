// How suspicion is spread over the pairs: bars, those of pairs known to be swapped over them, the cut-off as a line.

import { counted, formatNumber } from './numbers.ts';
import { axesSvg, FRAME, px } from './plot.ts';
import type { DetectRecord } from './records.ts';
import { linearScale, type Scale } from './scale.ts';

type Histogram = DetectRecord['histogram'];

/** Bars from zero, side by side. */
const barsPath = (bounds: readonly number[], counts: readonly number[], x: Scale, y: Scale): string =>
  counts
    .map((count, i) => {
      if (!(count > 0)) return '';
      const [from, to] = [x.at(bounds[i]) + 0.5, Math.max(x.at(bounds[i + 1]) - 0.5, x.at(bounds[i]) + 1)];
      return `M${px(from)} ${px(y.at(0))}V${px(y.at(count))}H${px(to)}V${px(y.at(0))}Z`;
    })
    .join('');

const key = (shape: string, text: string): string =>
  `<li><svg class="swatch" viewBox="0 0 36 16" width="36" height="16" aria-hidden="true">${shape}</svg>${text}</li>`;

/**
 * The picture with its legend.
 * @param cutoff null where none is proposed
 */
export function histogram({ bounds, all, swapped }: Histogram, cutoff: number | null): string {
  const x = linearScale([...bounds, ...(cutoff === null ? [] : [cutoff])], { from: FRAME.left, to: FRAME.right });
  const y = linearScale([0, ...all], { from: FRAME.bottom, to: FRAME.top });
  const total = all.reduce((sum, count) => sum + count, 0);
  const known = swapped === null ? null : swapped.reduce((sum, count) => sum + count, 0);
  const words =
    `${counted(total, 'pair')} by suspicion, from ${formatNumber(bounds[0])} to ${formatNumber(bounds[bounds.length - 1])}` +
    `${known === null ? '' : `, ${known} of them known to be swapped`}; ${cutoff === null ? 'no cut-off is proposed' : `the cut-off is at ${formatNumber(cutoff)}`}.`;
  return `<svg class="plot histogram" viewBox="0 0 ${FRAME.width} ${FRAME.height}" role="img" aria-labelledby="histogram-title histogram-desc">
<title id="histogram-title">Suspicion of all pairs</title>
<desc id="histogram-desc">${words}</desc>
${axesSvg('suspicion', 'pairs', x, y)}
<path class="bars all" d="${barsPath(bounds, all, x, y)}"/>
${swapped === null ? '' : `<path class="bars swapped" d="${barsPath(bounds, swapped, x, y)}"/>`}
${cutoff === null ? '' : `<path class="cutoff" d="M${px(x.at(cutoff))} ${FRAME.bottom}V${FRAME.top}"/>`}
</svg>
<ul class="legend">${key('<path class="bars all" d="M6 2H30V14H6Z"/>', 'all pairs')}${
    swapped === null ? '' : key('<path class="bars swapped" d="M6 2H30V14H6Z"/>', 'known to be swapped')
  }${cutoff === null ? '' : key('<path class="cutoff" d="M18 0V16"/>', `cut-off ${formatNumber(cutoff)}`)}</ul>`;
}
