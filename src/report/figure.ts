// A figure as it stands in a report: heading, picture, caption, and its numbers where they are few.

import type { Figure } from '../verify/result.ts';
import { escapeHtml, slug } from './html.ts';
import { formatNumber } from './numbers.ts';
import { plot } from './plot.ts';

/** Values of x up to which the numbers of a figure are listed. */
const LISTED = 10;

/** The points of a figure of few x in a table, null for a figure of many. */
function numbersOf({ kind, x, series }: Figure): string | null {
  const xs = [...new Set(series.flatMap((s) => s.points.map(([a]) => a)))].toSorted((a, b) => a - b);
  if (kind !== 'lines' || xs.length === 0 || xs.length > LISTED) return null;
  const cells = series.map(({ name, points }) => {
    const at = new Map(points);
    return `<tr><th scope="row">${escapeHtml(name)}</th>${xs.map((a) => `<td>${formatNumber(at.get(a) ?? null)}</td>`).join('')}</tr>`;
  });
  const head = `<tr><th scope="col">${escapeHtml(x.label)}</th>${xs.map((a) => `<th scope="col">${formatNumber(a)}</th>`).join('')}</tr>`;
  return `<details><summary>Numbers</summary><div class="numbers"><table><thead>${head}</thead><tbody>${cells.join('')}</tbody></table></div></details>`;
}

/**
 * A picture with its heading and its caption.
 * @param picture HTML
 * @param caption HTML
 */
export const figureHtml = (id: string, title: string, picture: string, caption: string): string =>
  `<figure id="figure-${slug(id)}">
<h3>${escapeHtml(title)}</h3>
${picture}
<figcaption>${caption}</figcaption>
</figure>`;

/** A figure of series, its title after a prefix such as a number. */
export const figureBlock = (figure: Figure, prefix = ''): string =>
  figureHtml(
    figure.id,
    `${prefix}${figure.title}`,
    plot(figure),
    `${escapeHtml(figure.caption)}${numbersOf(figure) ?? ''}`,
  );
