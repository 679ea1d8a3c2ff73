// Predictions traced back: the query with what the model makes of it, and the training pairs against and for it.

import { counted, formatNumber, formatPercent } from './numbers.ts';
import {
  badge,
  bar,
  given,
  pairLine,
  type Pictures,
  probability,
  quoted,
  type Section,
  thumbnail,
  truthBadge,
} from './pieces.ts';
import type { TracedQuery, TracedSource, TraceRecord } from './records.ts';

/** Queries, sources of each kind and predictions that are shown at most. */
export const QUERIES = 16;
export const SOURCES = 6;
const PREDICTIONS = 5;

function query(pictures: Pictures, { id, caption, label, loss, predictions, mistaken }: TracedQuery): string {
  const lines = predictions
    .slice(0, PREDICTIONS)
    .map(
      ({ caption: said, probability: p, right }) =>
        `<li${right ? ' class="right"' : ''}><span>${given(said, 60)}${right ? ' <strong class="good">✓ right</strong>' : ''}</span>${probability(p, right ? 'good' : 'plain')}</li>`,
    );
  return `<div class="query">
<div class="top">${thumbnail(pictures, id, 'query')}<div><h3>${quoted(caption)}</h3>
<p class="minor id">${given(id, 60)}${label === null ? '' : `, ${given(label, 40)}`}</p>
<p class="badges">${mistaken ? badge('bad', 'mistaken') : badge('good', 'right')}</p></div></div>
<dl class="mini"><div><dt>loss</dt><dd>${formatNumber(loss)}</dd></div></dl>
<h4>The model takes it for</h4>
<ol class="predictions">${lines.join('')}</ol>
</div>`;
}

/** The number that orders the sources and that their bars show, and the other one. */
type By = 'score' | 'relative';

const NAMES: Record<By, string> = { score: 'removal', relative: 'relative' };

function sources(
  pictures: Pictures,
  list: readonly TracedSource[],
  tone: 'bad' | 'good',
  { by, largest }: { by: By; largest: number },
): string {
  const other = by === 'score' ? 'relative' : 'score';
  if (list.length === 0) return '<p class="minor">None.</p>';
  const lines = list.slice(0, SOURCES).map(
    (source) => `<li>${pairLine(pictures, source)}
<span class="measured">${bar(Math.abs(source[by]) / largest, tone)}<span>${NAMES[by]} ${formatNumber(source[by])}</span></span>
<span class="minor">${NAMES[other]} ${formatNumber(source[other])}${source.label === null ? '' : `, ${given(source.label, 40)}`}</span> ${source.swapped === true ? truthBadge(true) : ''}</li>`,
  );
  return `<ol class="sources">${lines.join('')}</ol>`;
}

/** What removing the pairs against the query together does. */
function removal({ loss, removal: found }: TracedQuery): string {
  if (found === null) return '';
  const { ids, rung, predictedLoss, editedLoss, probabilityBefore, probabilityAfter } = found;
  return `<p class="outcome">${counted(ids.length, 'pair')} against it removed (${given(rung, 40)}): loss
${formatNumber(loss)} → <strong>${formatNumber(editedLoss)}</strong>, to first order ${formatNumber(predictedLoss)};
probability of the right answer ${formatPercent(probabilityBefore)} → <strong>${formatPercent(probabilityAfter)}</strong>.</p>`;
}

function panel(pictures: Pictures, traced: TracedQuery, index: number, by: By): string {
  const largest = Math.max(...[...traced.against, ...traced.for].map((source) => Math.abs(source[by])), 0) || 1;
  const bars = { by, largest };
  return `<article class="panel" aria-label="query ${index + 1}">
${query(pictures, traced)}
<div class="behind"><div><h4>Against: its loss falls without them</h4>${sources(pictures, traced.against, 'bad', bars)}</div>
<div><h4>For: its loss rises without them</h4>${sources(pictures, traced.for, 'good', bars)}</div></div>
${removal(traced)}
</article>`;
}

/** The queries, each with the pairs behind it. */
export function traceSection({ queries, asked, mistaken, options }: TraceRecord, pictures: Pictures): Section {
  const by = options.by === 'relative' ? 'relative' : 'score';
  const shown = queries.slice(0, QUERIES);
  const more = queries.length > shown.length ? ` The first ${shown.length} of ${queries.length} are shown.` : '';
  return {
    id: 'trace',
    title: 'Traced predictions',
    html: `<p class="intro">${counted(asked, 'query was', 'queries were')} asked, ${mistaken} mistaken.${more} Removal is the predicted change of the loss of the query
without a training pair, relative the same beside how far the pair moves the model. Order and bars are by ${NAMES[by]}.</p>
${shown.map((traced, i) => panel(pictures, traced, i, by)).join('\n')}`,
  };
}
