// The two softmax matrices of chapter 2, the terms of one pair marked by the role in which they are its own.

import { h } from '../app/dom.ts';
import type { EmojiPair } from '../data/emoji.gen.ts';

/** Which softmax: of a caption over pictures, or of a picture over captions. */
type Direction = 'rows' | 'columns';

/** The role of the chosen pair in a cell. */
function roleOf(direction: Direction, i: number, j: number, pair: number): 'pos' | 'neg' | null {
  const [anchor, candidate] = direction === 'rows' ? [i, j] : [j, i];
  return anchor === pair ? 'pos' : candidate === pair ? 'neg' : null;
}

const SAYS: Readonly<Record<Direction, string>> = {
  rows: 'Rows sum to 1: each caption chooses among the pictures',
  columns: 'Columns sum to 1: each picture chooses among the captions',
};

/** What a matrix shows. */
interface Shown {
  readonly pair: number;
  /** ε, by which the pair's own terms fade. */
  readonly epsilon: number;
}

/** A matrix; headings of rows choose their pair. */
export function rolesMatrix(direction: Direction, names: readonly EmojiPair[], choose: (pair: number) => void) {
  const head = names.map(({ code, caption }) =>
    h(
      'th',
      { scope: 'col' },
      h('img', { src: `emoji/${code}.svg`, alt: `picture of ${caption}`, width: 24, height: 24 }),
    ),
  );
  const cells = names.map(() => names.map(() => h('td')));
  const buttons = names.map(({ caption }, i) =>
    h('button', { type: 'button', class: 'plain', onclick: () => choose(i) }, caption),
  );
  const rows = cells.map((row, i) => h('tr', {}, h('th', { scope: 'row' }, buttons[i]), ...row));
  const table = h(
    'table',
    { class: 'matrix roles-matrix' },
    h('caption', {}, SAYS[direction]),
    h('thead', {}, h('tr', {}, h('td'), ...head)),
    h('tbody', {}, ...rows),
  );
  const set = (values: readonly number[], { pair, epsilon }: Shown): void => {
    buttons.forEach((one, i) => one.setAttribute('aria-pressed', String(i === pair)));
    cells.forEach((row, i) =>
      row.forEach((cell, j) => {
        const value = values[i * names.length + j];
        const role = roleOf(direction, i, j, pair);
        const weight = role === 'pos' ? 1 + epsilon : 1;
        cell.className = `above${role === null ? '' : ` roles-${role}`}${weight < 0.005 ? ' roles-gone' : ''}`;
        cell.style.setProperty('--strength', `${Math.round(70 * weight * value)}%`);
        cell.textContent = value.toFixed(2);
        cell.dataset.value = String(value);
      }),
    );
  };
  const attributes = { class: 'scroll', role: 'region', 'aria-label': SAYS[direction], tabindex: 0 };
  return { el: h('div', attributes, table), set };
}
