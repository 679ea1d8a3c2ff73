// Small pieces that the sections of a report share: captions, pictures, bars, badges, tables that scroll.

import { escapeHtml } from './html.ts';
import { formatPercent } from './numbers.ts';
import type { PairName } from './records.ts';

/** Letters of a caption that are shown, and that its title holds. */
const SHOWN = 120;
const TITLED = 10_000;

/** A text cut in its middle to a number of letters. */
function cutMiddle(text: string, most: number): string {
  const letters = Array.from(text.length > 4 * most ? text.slice(0, 2 * most) + text.slice(-2 * most) : text);
  if (letters.length <= most) return text;
  const head = Math.ceil((most - 1) / 2);
  return `${letters.slice(0, head).join('')}…${letters.slice(letters.length - (most - 1 - head)).join('')}`;
}

/**
 * A text that a file gave: apart from the text around it whatever its direction, cut in the middle where it is long,
 * whole in its title.
 */
export function given(text: string, most = SHOWN): string {
  const short = cutMiddle(text, most);
  const title = short === text ? '' : ` title="${escapeHtml(cutMiddle(text, TITLED))}"`;
  return `<bdi${title}>${escapeHtml(short) || '–'}</bdi>`;
}

/** A caption in quotation marks. */
export const quoted = (caption: string, most?: number): string => `<q>${given(caption, most)}</q>`;

/** The same short text without markup, for pictures. */
export const plainCut = (text: string, most: number): string => escapeHtml(cutMiddle(text, most));

/** Whose picture: that of a training pair, or of a query, which may have the same id. */
export type PictureOf = 'training' | 'query';

/** Small pictures as data: addresses. */
export type Pictures = Readonly<Record<PictureOf, ReadonlyMap<string, string>>>;

/** What a picture may be. */
const INLINE = /^data:image\/(?:png|webp|jpeg);base64,[A-Za-z0-9+/]+={0,2}$/;

/** Whether an address is that of a picture within the page. */
export const isInline = (address: string): boolean => INLINE.test(address);

/** The picture of a pair, or its name in a box. */
export function thumbnail(pictures: Pictures, id: string, of: PictureOf = 'training', size = ''): string {
  const found = pictures[of].get(id);
  const name = escapeHtml(cutMiddle(id, 60));
  const kind = `thumb${size === '' ? '' : ` ${size}`}`;
  return found === undefined
    ? `<span class="${kind} none" role="img" aria-label="no picture of ${name}"><span aria-hidden="true">${name}</span></span>`
    : `<img class="${kind}" src="${found}" alt="picture of ${name}">`;
}

/** A bar as long as a share of its room. */
export function bar(share: number, tone: 'bad' | 'good' | 'plain' = 'plain'): string {
  const width = Number((100 * Math.min(1, Math.max(0, share))).toFixed(1));
  return `<span class="bar ${tone}" aria-hidden="true"><span style="width:${Number.isFinite(width) ? width : 0}%"></span></span>`;
}

/** A word in a coloured box. */
export const badge = (tone: 'good' | 'part' | 'bad' | 'plain', text: string): string =>
  `<span class="badge ${tone}">${escapeHtml(text)}</span>`;

/** What is known of a pair, where something is. */
export const truthBadge = (swapped: boolean | null): string =>
  swapped === null ? '' : swapped ? badge('bad', 'swapped') : badge('good', 'not swapped');

/** A pair in a line: picture, caption, id. */
export const pairLine = (pictures: Pictures, { id, caption }: PairName, of: PictureOf = 'training'): string =>
  `<span class="pair">${thumbnail(pictures, id, of, 'small')}<span>${quoted(caption)} <span class="minor id">${given(id, 40)}</span></span></span>`;

/** Something wide that scrolls within the page, also by keyboard. */
export const scrolled = (label: string, html: string): string =>
  `<div class="scroll" role="region" aria-label="${escapeHtml(label)}" tabindex="0">${html}</div>`;

/** A column of a table: its name, and how the script sorts it. */
export interface Column {
  readonly name: string;
  readonly sort: 'number' | 'text';
  /** Said on the name. */
  readonly about?: string;
}

/** A cell: HTML, and what it is sorted by. */
export interface Cell {
  readonly html: string;
  readonly value: number | string | null;
}

/** A table whose rows the script of the page can sort. */
export function sortable(label: string, columns: readonly Column[], rows: readonly (readonly Cell[])[]): string {
  const number = (i: number): string => (columns[i].sort === 'number' ? ' class="number"' : '');
  const head = columns.map(
    ({ name, sort, about }, i) =>
      `<th scope="col"${number(i)} data-sort="${sort}"${about === undefined ? '' : ` title="${escapeHtml(about)}"`}>${escapeHtml(name)}</th>`,
  );
  const cell = ({ html, value }: Cell, i: number): string =>
    `<td${number(i)} data-value="${value === null ? '' : escapeHtml(String(value))}">${html}</td>`;
  const body = rows.map((cells) => `<tr>${cells.map(cell).join('')}</tr>`);
  return scrolled(
    label,
    `<table class="list sortable"><caption>${escapeHtml(label)}</caption><thead><tr>${head.join('')}</tr></thead>
<tbody>
${body.join('\n')}
</tbody></table>`,
  );
}

/** A probability with its bar. */
export const probability = (p: number, tone?: 'bad' | 'good' | 'plain'): string =>
  `<span class="measured">${bar(p, tone)}<span>${formatPercent(p)}</span></span>`;

/** A part of a page that its navigation leads to. */
export interface Section {
  readonly id: string;
  /** Plain text. */
  readonly title: string;
  /** What follows the heading. */
  readonly html: string;
}

/** A section with its heading. */
export const sectionHtml = ({ id, title, html }: Section): string =>
  `<section id="${id}" aria-labelledby="${id}-heading">
<h2 id="${id}-heading">${escapeHtml(title)}</h2>
${html}
</section>`;

/** Links to the sections of a page. */
export const navigation = (sections: readonly Section[]): string =>
  `<nav class="sections" aria-label="Sections"><ul>${sections
    .map(({ id, title }) => `<li><a href="#${id}">${escapeHtml(title)}</a></li>`)
    .join('')}</ul></nav>`;
