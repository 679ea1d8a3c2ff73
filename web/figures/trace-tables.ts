// Chapter 6: the ranking of captions, the training pairs behind an answer, and what removing some of them does.

import { h, show, shown } from '../app/dom.ts';
import { EMOJI } from '../data/emoji.gen.ts';
import { TRACE_PAIRS, traceCaptions } from '../maths/trace-pairs.ts';
import type { TraceAnswer, TraceEdited, TraceRemoval, TraceSource, TraceSources } from '../maths/trace.ts';
import { emojiUrl } from './trace-picker.ts';

/** A caption in quotes. */
export const quoted = (i: number): string => `“${EMOJI[i].caption}”`;

/** A probability with a bar as long as it. */
function share(name: string, p: number): HTMLTableCellElement {
  const number = shown(name);
  number.dataset.value = String(p);
  number.textContent = p >= 0.001 ? `${(100 * p).toFixed(1)} %` : '< 0.1 %';
  const cell = h('td', { class: 'trace-share' }, number);
  cell.style.setProperty('--share', `${100 * p}%`);
  return cell;
}

/** Captions that are listed, beside the one that was asked about. */
const LISTED = 5;

/** Places of the largest values, the largest first. */
const largest = (values: readonly number[], count: number): number[] =>
  [...values.keys()].sort((a, b) => values[b] - values[a] || a - b).slice(0, count);

const headed = (...names: readonly string[]): HTMLElement =>
  h('thead', {}, h('tr', {}, ...names.map((name) => h('th', { scope: 'col' }, name))));

/** The captions that the model finds likeliest, before training and after. */
export function rankingOf({ before, after, caption, loss }: TraceAnswer): readonly HTMLElement[] {
  const listed = [...new Set([...largest(after, LISTED), ...largest(before, 1), caption])].sort(
    (a, b) => after[b] - after[a],
  );
  const rows = listed.map((i) => {
    const rank = after.filter((p) => p > after[i]).length + 1;
    const mark = i === caption ? [h('span', { class: 'trace-badge asked' }, 'asked about')] : [];
    return h(
      'tr',
      { class: i === caption ? 'asked' : null },
      h('td', {}, String(rank)),
      h('th', { scope: 'row' }, EMOJI[i].caption, ' ', ...mark),
      share(`before-${i}`, before[i]),
      share(`after-${i}`, after[i]),
    );
  });
  const table = h('table', { class: 'small trace-ranking' }, headed('rank', 'caption', 'before', 'trained'));
  table.append(h('tbody', {}, ...rows));
  const values = h('p', { class: 'values' });
  values.append(
    h('span', {}, 'loss before ', shown('loss-before', loss.before)),
    h('span', {}, 'trained ', shown('loss-after', loss.after)),
  );
  return [table, values];
}

/** What orders sources. */
export type By = 'relative' | 'score';

const sizeOf = (by: By, { score, relative }: TraceSource): number => (by === 'score' ? Math.abs(score) : relative);

/** Sources against a caption and for it, the strongest first. */
export function sidesOf({ sources }: TraceSources, by: By): { against: TraceSource[]; for: TraceSource[] } {
  const sorted = sources.toSorted((a, b) => sizeOf(by, b) - sizeOf(by, a) || a.row - b.row);
  return { against: sorted.filter(({ score }) => score < 0), for: sorted.filter(({ score }) => score > 0) };
}

/** What the table of sources shows. */
export interface SourcesShown {
  readonly by: By;
  readonly swaps: number;
  readonly removed: readonly number[];
  /** @param rows places among the training pairs */
  remove(rows: readonly number[]): void;
}

/** One source. */
function sourceRow(source: TraceSource, far: number, { by, swaps, removed, remove }: SourcesShown): HTMLElement {
  const { row, score, relative, error } = source;
  const [picture, caption] = [TRACE_PAIRS[row], traceCaptions(swaps)[row]];
  const swapped = picture !== caption;
  const label = `remove the pair of the picture ${EMOJI[picture].caption} with the caption ${EMOJI[caption].caption}`;
  const box = h('input', {
    ...{ type: 'checkbox', 'aria-label': label, 'data-row': row },
    onchange: () => remove(box.checked ? [...removed, row] : removed.filter((one) => one !== row)),
  });
  box.checked = removed.includes(row);
  const image = h('img', {
    src: emojiUrl(picture),
    alt: `picture of ${EMOJI[picture].caption}`,
    width: 28,
    height: 28,
  });
  const badge = swapped ? [' ', h('span', { class: 'trace-badge swapped' }, 'swapped')] : [];
  const spread = h('small', {}, ` ± ${error < 10 ? error.toFixed(1) : error.toFixed(0)}`);
  const cells = {
    score: h('td', {}, shown(`score-${row}`)),
    relative: h('td', {}, shown(`relative-${row}`), spread),
  };
  show(cells.score.firstElementChild as HTMLElement, score, 3);
  show(cells.relative.firstElementChild as HTMLElement, relative, 3);
  cells[by].classList.add('trace-size');
  cells[by].style.setProperty('--share', `${(100 * sizeOf(by, source)) / far}%`);
  return h(
    'tr',
    { class: removed.includes(row) ? 'removed' : null },
    h('td', {}, box),
    h('td', {}, image),
    h('th', { scope: 'row' }, h('span', { class: 'trace-caption' }, quoted(caption)), ...badge),
    cells.relative,
    cells.score,
  );
}

/** Sources that are listed on either side. */
const EACH = { against: 5, for: 3 } as const;

/** The training pairs behind an answer. */
export function sourcesOf(found: TraceSources, shownAs: SourcesShown): readonly HTMLElement[] {
  const sides = sidesOf(found, shownAs.by);
  const far = Math.max(...found.sources.map((source) => sizeOf(shownAs.by, source)), Number.MIN_VALUE);
  const body = (side: keyof typeof EACH, title: string): HTMLElement => {
    const listed = sides[side].filter(({ row }, i) => i < EACH[side] || shownAs.removed.includes(row));
    return h(
      'tbody',
      { class: `trace-${side}` },
      h('tr', {}, h('th', { scope: 'rowgroup', colspan: 5 }, title)),
      ...listed.map((source) => sourceRow(source, far, shownAs)),
    );
  };
  const table = h(
    'table',
    { class: 'small trace-sources' },
    headed('out', 'picture', 'caption', 'relative', 'score'),
    body('against', `− Against ${quoted(found.caption)}`),
    body('for', `+ For ${quoted(found.caption)}`),
  );
  return [
    h('div', { class: 'scroll', role: 'region', 'aria-label': 'Training pairs', tabindex: 0 }, table),
    h(
      'p',
      { class: 'trace-about' },
      'Score: the predicted change of the loss if the pair is removed. Bars: what orders the list.',
    ),
  ];
}

/** What removing does, one way below the other. */
export function removalOf({ before, predicted, edited, retrained, caption }: TraceRemoval): HTMLElement {
  const row = (name: string, text: string, loss: number, answer: TraceEdited | null): HTMLElement =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, text),
      h('td', {}, shown(name, loss)),
      answer === null ? h('td', {}, '–') : share(`${name}-share`, answer.probability),
      h('td', {}, answer === null ? '–' : `${quoted(answer.says)}, ${(100 * answer.saysProbability).toFixed(0)} %`),
    );
  const rows = [
    row('loss', 'as trained', before.loss, before),
    row('predicted', 'predicted, to first order', predicted, null),
    row('edited', 'edited: one Newton step', edited.loss, edited),
    ...(retrained === null ? [] : [row('retrained', 'trained again', retrained.loss, retrained)]),
  ];
  const table = h('table', { class: 'small trace-removal' }, headed('the model', 'loss', quoted(caption), 'it says'));
  table.append(h('tbody', {}, ...rows));
  return h('div', { class: 'scroll', role: 'region', 'aria-label': 'What removing does', tabindex: 0 }, table);
}
