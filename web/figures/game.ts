// Figure of chapter 5: a game of finding swapped captions, against detectors that are trained on the same cards.

import { button, controls, slider } from '../app/controls.ts';
import { h } from '../app/dom.ts';
import { defineFigure } from '../app/figure.ts';
import { ask, Status } from '../app/status.ts';
import { gameCards } from './game-cards.ts';
import { marksIn, PARAMS, questionOf, type Values } from './game-params.ts';
import { gameResults, tallyOf } from './game-results.ts';

/** Rounds that are averaged. */
const ROUNDS = 20;

/** A round that was not played yet. */
const FRESH = { marks: [], shown: false, many: false };

/** Sliders of a round. */
function gameControls(change: (patch: Partial<Values>, done?: boolean) => void) {
  const made = (key: 'cards' | 'swapped' | 'decay', label: string, symbol: string, more: Partial<Values>) => {
    const { kind, least, most } = PARAMS[key];
    const steps = kind === 'whole' ? { whole: true } : { log: true, steps: 60 };
    const onChange = (x: number, done: boolean): void => change({ [key]: x, ...more }, done);
    return slider({ label, symbol, least, most, ...steps, onChange });
  };
  const sliders = {
    cards: made('cards', 'Cards', 'n', FRESH),
    swapped: made('swapped', 'Swapped captions', 'k', FRESH),
    decay: made('decay', 'Weight decay of the machine', 'δ', { many: false }),
  };
  return {
    el: controls(...Object.values(sliders).map(({ el }) => el)),
    set: (values: Values): void => {
      for (const key of ['cards', 'swapped', 'decay'] as const) sliders[key].set(values[key]);
    },
  };
}

export const gameFigure = defineFigure({
  name: 'game',
  title: 'Find the swapped captions',
  params: PARAMS,
  mount: (el, first, host) => {
    let values: Values = first;
    const status = new Status();
    const panel = gameControls((patch, done) => host.change(patch, done));
    const cards = gameCards((card) => {
      const marks = new Set(values.marks);
      if (!marks.delete(card)) marks.add(card);
      host.change({ marks: [...marks] });
    });
    const count = h('span', { class: 'game-count', 'aria-live': 'polite' });
    const reveal = button('Show the truth', () => host.change({ shown: !values.shown, many: false }));
    const next = button('New round', () => host.change({ ...FRESH, seed: (values.seed % PARAMS.seed.most) + 1 }));
    const more = button(`Average ${ROUNDS} rounds`, () => host.change({ many: true }));
    const results = gameResults(more);
    el.append(panel.el, cards.el, h('p', { class: 'game-buttons' }, reveal, next, count), results.el, status.el);

    /** Asks the machine, once the truth is shown. */
    const judge = (now: Values, round: ReturnType<typeof cards.set>): void => {
      const tally = tallyOf(now, round);
      results.tally(tally);
      void ask(host.engine, status, 'game', 'game', questionOf(now), (found) => results.set(found, round, tally));
      results.setMany(null);
      if (!now.many) return;
      const question = { ...questionOf(now), rounds: ROUNDS };
      void ask(host.engine, status, 'game.rounds', 'gameRounds', question, (found) => results.setMany(found));
    };
    const set = (now: Values): void => {
      values = now;
      panel.set(now);
      const round = cards.set(now);
      const marked = marksIn(now).length;
      count.textContent = now.shown ? '' : `${marked} marked; ${now.swapped} of ${now.cards} captions are swapped.`;
      reveal.textContent = now.shown ? 'Hide the truth' : 'Show the truth';
      more.disabled = now.many;
      results.el.hidden = !now.shown;
      if (now.shown) judge(now, round);
      else status.idle('Nothing is computed before the truth is shown.');
    };
    set(first);
    return { set, dispose: () => el.replaceChildren() };
  },
});
