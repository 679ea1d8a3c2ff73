// The suspected pairs: a card for each of the first, with what explains it, and a table of all.

import { counted, formatNumber, formatPercent } from './numbers.ts';
import { badge, bar, type Cell, type Column, given, pairLine, type Pictures, probability, quoted } from './pieces.ts';
import { type Section, sortable, thumbnail, truthBadge } from './pieces.ts';
import type { DetectRecord, ExplainedPair, HardNegative } from './records.ts';

/** Suspects that have a card, and that are listed; negatives of each half on a card. */
export const CARDS = 24;
/** Cards that show at once what competes with the pair; the others at a click. */
const OPEN = 6;
const LISTED = 1000;
export const NEGATIVES = 3;

/** The half that looks wrong, as a badge; where none does more than the other, a note. */
const WRONG: Record<ExplainedPair['wrong'], string> = {
  caption: badge('part', 'caption looks wrong'),
  picture: badge('part', 'picture looks wrong'),
  both: '<span class="minor">a better caption and a better picture both exist</span>',
  neither: '<span class="minor">no other caption or picture fits better</span>',
};

/** The same in the table. */
const LOOKS: Record<ExplainedPair['wrong'], string> = {
  ...{ caption: 'caption', picture: 'picture', both: 'either half', neither: 'neither' },
};

/** The negatives of a half that a card shows, the hardest first. */
export const negativesOf = ({ hardest }: ExplainedPair, side: HardNegative['side']): HardNegative[] =>
  hardest
    .filter((one) => one.side === side)
    .toSorted((a, b) => b.share - a.share)
    .slice(0, NEGATIVES);

/** What competes for one half of the pair: pictures for the caption, captions for the picture. */
function competitors(pictures: Pictures, pair: ExplainedPair, side: HardNegative['side']): string {
  const found = negativesOf(pair, side);
  if (found.length === 0) return '';
  const lines = found.map(({ id, caption, cosine, share }) => {
    const what =
      side === 'caption'
        ? `<span class="pair">${thumbnail(pictures, id, 'training', 'small')}<span class="minor">${given(caption, 60)}</span></span>`
        : `<span>${quoted(caption, 80)}</span>`;
    return `<li>${what}<span class="measured">${bar(share)}<span>${formatPercent(share)}</span></span><span class="minor">cosine ${formatNumber(cosine)}</span></li>`;
  });
  const title = side === 'caption' ? 'The caption is drawn to' : 'The picture is drawn to';
  return `<div><h4>${title}</h4><ul class="rivals">${lines.join('')}</ul></div>`;
}

/** What competes with either half, behind a click after the first cards. */
function rivals(pictures: Pictures, pair: ExplainedPair): string {
  const html = `${competitors(pictures, pair, 'caption')}${competitors(pictures, pair, 'picture')}`;
  return html === ''
    ? ''
    : `<details${pair.rank <= OPEN ? ' open=""' : ''}><summary>Hardest negatives</summary>${html}</details>`;
}

/** The caption that most likely belongs to the picture. */
const likely = (belongs: ExplainedPair['belongs']): string =>
  belongs === null
    ? ''
    : `<p class="minor">Most likely caption of this picture: ${quoted(belongs.caption, 80)}, ${formatPercent(belongs.probability)}</p>`;

/** What the loss would be with either half replaced. */
function counterfactuals(pictures: Pictures, { loss, otherCaption, otherPicture, belongs }: ExplainedPair): string {
  const change = (to: number): string =>
    `<span class="number">${formatNumber(loss)} → <strong>${formatNumber(to)}</strong></span>`;
  return `<div><h4>Loss with one half replaced</h4><dl class="swaps">
<dt>caption</dt><dd>${quoted(otherCaption.caption, 80)} ${change(otherCaption.loss)}</dd>
<dt>picture</dt><dd><span class="pair">${thumbnail(pictures, otherPicture.id, 'training', 'small')}<span class="minor">${given(otherPicture.caption, 60)}</span></span> ${change(otherPicture.loss)}</dd>
</dl>${likely(belongs)}</div>`;
}

function card(pictures: Pictures, pair: ExplainedPair): string {
  const { rank, id, caption, suspicion, probability: p, wrong, swapped, loss, clipscore, score, self } = pair;
  const facts = [
    ['suspicion', suspicion],
    ['loss', loss],
    ['cosine', clipscore],
    ['influence', score],
    ['self', self],
  ] as const;
  return `<article class="card" aria-label="suspect ${rank}">
<div class="top">${thumbnail(pictures, id)}
<div><h3><span class="minor">${rank}.</span> ${quoted(caption)}</h3>
<p class="minor id">${given(id, 60)}</p>
<p class="badges">${WRONG[wrong]} ${truthBadge(swapped)}</p></div></div>
<p class="chance"><span class="minor">mismatched with probability</span>${probability(p, 'bad')}</p>
<dl class="mini">${facts.map(([name, x]) => (x === null ? '' : `<div><dt>${name}</dt><dd>${formatNumber(x)}</dd></div>`)).join('')}</dl>
${counterfactuals(pictures, pair)}
${rivals(pictures, pair)}
</article>`;
}

const number = (x: number | null): Cell => ({ html: formatNumber(x), value: x });

const COLUMNS: readonly Column[] = [
  { name: 'Rank', sort: 'number' },
  { name: 'Pair', sort: 'text' },
  { name: 'Suspicion', sort: 'number', about: 'higher is more suspicious' },
  { name: 'Probability', sort: 'number', about: 'estimated probability of a mismatch' },
  { name: 'Looks wrong', sort: 'text' },
  { name: 'Loss', sort: 'number', about: 'of the pair as anchor, in both directions' },
  { name: 'Cosine', sort: 'number', about: 'of picture and caption' },
  { name: 'Influence', sort: 'number', about: 'predicted change of the validation loss if the pair is removed' },
  { name: 'as positive', sort: 'number' },
  { name: 'as negative', sort: 'number' },
  { name: 'Self-influence', sort: 'number', about: 'predicted rise of the pair’s own 1 − cos if it is removed' },
  { name: 'Truth', sort: 'text' },
];

/** A row of the table; columns that no suspect has a value for are left out by the caller. */
const cells = (pictures: Pictures, pair: ExplainedPair): Cell[] => [
  { html: String(pair.rank), value: pair.rank },
  { html: pairLine(pictures, pair), value: pair.caption.slice(0, 200) },
  number(pair.suspicion),
  { html: formatPercent(pair.probability), value: pair.probability },
  { html: LOOKS[pair.wrong], value: LOOKS[pair.wrong] },
  ...[pair.loss, pair.clipscore, pair.score, pair.positive, pair.negative, pair.self].map(number),
  { html: truthBadge(pair.swapped), value: pair.swapped === null ? null : pair.swapped ? 'swapped' : 'not swapped' },
];

function table(pictures: Pictures, suspects: readonly ExplainedPair[]): string {
  const rows = suspects.slice(0, LISTED).map((pair) => cells(pictures, pair));
  const kept = COLUMNS.map((_, i) => rows.some((row) => row[i].value !== null));
  const left = <T>(list: readonly T[]): T[] => list.filter((_, i) => kept[i]);
  return sortable('All suspects', left(COLUMNS), rows.map(left));
}

/** Where the list is proposed to be cut. */
const cutText = ({ flagged, suspicion, expectedPrecision, share }: DetectRecord['cutoff']): string =>
  flagged === 0
    ? 'No cut-off is proposed: the pairs look like one kind. Inspect them from the top.'
    : `${counted(flagged, 'pair')} at or above the
cut-off of ${formatNumber(suspicion)}, of which ${formatPercent(expectedPrecision)} are expected to be mismatched; of all pairs about ${formatPercent(share)}.`;

/** Suspects as cards and as a table. */
export function suspectsSection({ suspects, about, method, cutoff }: DetectRecord, pictures: Pictures): Section {
  const head = { id: 'suspects', title: 'Suspects' };
  if (suspects.length === 0) return { ...head, html: '<p>No pair is suspected.</p>' };
  const cards = suspects.slice(0, CARDS);
  const more = suspects.length > cards.length ? ` The first ${cards.length} have a card, the table holds all.` : '';
  const cut = suspects.length > LISTED ? `<p class="minor">The first ${LISTED} of ${suspects.length}.</p>` : '';
  return {
    ...head,
    html: `<p class="intro">Suspicion is ${given(method, 60)}: ${given(about, 400)}. ${cutText(cutoff)}${more}</p>
<div class="cards">
${cards.map((pair) => card(pictures, pair)).join('\n')}
</div>
<h3 class="table-title">All suspects</h3>
${table(pictures, suspects)}${cut}`,
  };
}
