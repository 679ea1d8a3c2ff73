// A matrix of captions and pictures as a table, its cells as strong as their values.

import { formatted, h } from '../app/dom.ts';
import type { EmojiPair } from '../data/emoji.gen.ts';

/** What the matrix shows. */
interface Shown {
  /** Row and column that stand out. */
  readonly pair: number;
  /** In words. */
  readonly kind: string;
  /** Whether values are shares of one. */
  readonly shares: boolean;
}

/** Captions in rows, pictures in columns; a heading chooses its pair. */
export function matrixTable(names: readonly EmojiPair[], choose: (pair: number) => void) {
  const caption = h('caption');
  const head = names.map(({ code, caption: name }) =>
    h('th', { scope: 'col' }, h('img', { src: `emoji/${code}.svg`, alt: `picture of ${name}`, width: 26, height: 26 })),
  );
  const cells = names.map(() => names.map(() => h('td')));
  const rows = names.map(({ caption: name }, i) => {
    const chooser = h('button', { type: 'button', class: 'plain', onclick: () => choose(i) }, name);
    return h('tr', {}, h('th', { scope: 'row' }, chooser), ...cells[i]);
  });
  const table = h(
    'table',
    { class: 'matrix' },
    caption,
    h('thead', {}, h('tr', {}, h('td'), ...head)),
    h('tbody', {}, ...rows),
  );
  return {
    el: h(
      'div',
      { class: 'scroll', role: 'region', 'aria-label': 'Matrix of captions and pictures', tabindex: 0 },
      table,
    ),
    /** @param values row by row */
    set: (values: readonly number[], { pair, kind, shares }: Shown): void => {
      caption.textContent = kind;
      const far = shares ? 1 : Math.max(...values.map(Math.abs), 1e-9);
      cells.forEach((row, i) =>
        row.forEach((cell, j) => {
          const value = values[i * names.length + j];
          const strength = Math.round(70 * Math.min(1, Math.abs(value) / far));
          cell.style.setProperty('--strength', `${strength}%`);
          cell.className = `${value < 0 ? 'below' : 'above'}${i === pair || j === pair ? ' chosen' : ''}`;
          cell.textContent = shares ? value.toFixed(2) : formatted(value, 2);
          cell.dataset.value = String(value);
        }),
      );
      rows.forEach((row, i) => row.querySelector('button')?.setAttribute('aria-pressed', String(i === pair)));
    },
  };
}
