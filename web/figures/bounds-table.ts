// The bounds of chapter 4 at one point: their values, how many times the error they are, and whether they hold.

import { formatNumber as few } from '../../src/report/numbers.ts';
import { h, show, shown } from '../app/dom.ts';
import type { BoundsAt } from '../maths/bounds.ts';
import { isBelow, isBroken, LOOKS, type Quantity, QUANTITIES, swatch } from './bounds-plot.ts';

const BOUNDS = QUANTITIES.filter((quantity) => quantity !== 'error');

/** What a bound is worth, in words. */
function verdict(quantity: Quantity, at: BoundsAt): string {
  const bound = at[quantity];
  if (bound === null) return quantity === 'printed' ? 'only for the corrected form' : 'says nothing here: ρ ≥ 1';
  if (isBelow(bound, at)) return '✗ broken: below the error';
  if (at.error <= at.resolution) return 'the error is below what retraining resolves';
  if (bound > at.change) return '✓ holds, but above the whole change';
  return '✓ holds';
}

/** The table. */
export function boundsTable() {
  const rows = BOUNDS.map((quantity) => {
    const { name, colour } = LOOKS[quantity];
    const [value, ratio, word] = [shown(quantity), h('td'), h('td', { class: 'bounds-verdict' })];
    const row = h(
      'tr',
      {},
      h('th', { scope: 'row' }, h('span', { class: `bounds-name ${colour}` }, swatch(quantity), name)),
      h('td', {}, value),
      ratio,
      word,
    );
    return { quantity, row, value, ratio, word };
  });
  const [error, change] = [shown('error'), shown('change')];
  const head = ['bound', 'says at most', 'over the error', 'verdict'].map((text) => h('th', { scope: 'col' }, text));
  const el = h(
    'div',
    {},
    h(
      'p',
      { class: 'values' },
      h('span', { class: 'bounds-name c-ink' }, swatch('error'), 'true error ‖θ̃ − θ*‖ ', error),
      h('span', {}, 'the whole change ‖θ* − θ̂‖ ', change),
    ),
    h(
      'div',
      { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Every bound where the sliders stand' },
      h(
        'table',
        { class: 'small bounds-table' },
        h('thead', {}, h('tr', {}, ...head)),
        h('tbody', {}, ...rows.map(({ row }) => row)),
      ),
    ),
  );
  return {
    el,
    set: (at: BoundsAt): void => {
      show(error, at.error);
      show(change, at.change);
      for (const { quantity, row, value, ratio, word } of rows) {
        const bound = at[quantity];
        show(value, bound ?? NaN);
        ratio.textContent = bound === null ? '–' : `× ${few(bound / at.error)}`;
        word.textContent = verdict(quantity, at);
        row.classList.toggle('bounds-broken', isBelow(bound, at));
      }
    },
  };
}

/** What is seen at the point, in words. */
export function pointInWords(at: BoundsAt): string {
  if (at.printed === null) {
    return `The theorem speaks of the corrected form only. P1 certifies ${few(at.p1)}, the edit is ${few(at.error)} from retraining.`;
  }
  const surrogate =
    at.surrogate === null ? '' : `, and ${few(at.surrogate)} from what the printed proof takes for retraining`;
  if (isBroken(at)) {
    return `The printed theorem says: at most ${few(at.printed)}. The edit is ${few(at.error)} from retraining${surrogate}. The printed bound is broken.`;
  }
  return `The printed theorem says: at most ${few(at.printed)}, which is ${few(at.printed / at.error)} times the true error of ${few(at.error)}${surrogate}.`;
}

/** Where along the decay the printed theorem is broken, in words. */
export function curveInWords(all: readonly BoundsAt[]): string {
  if (all.every(({ printed }) => printed === null)) return '';
  const found = all.filter(isBroken);
  if (found.length === 0) return 'On this curve it is never below the error.';
  const decays = found.map(({ decay }) => decay);
  return `Of the ${all.length} points over δ it is broken at ${found.length}, for δ from ${few(Math.min(...decays))} to ${few(Math.max(...decays))}.`;
}
