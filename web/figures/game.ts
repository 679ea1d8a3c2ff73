// Figure of chapter 5: a game of finding swapped captions, against detectors that are trained on the same cards.

import { button, controls, slider } from '../app/controls.ts';
import { h } from '../app/dom.ts';
import { defineFigure } from '../app/figure.ts';
import { ask, Status } from '../app/status.ts';
import type { Round } from '../maths/game-round.ts';
import type { RoundsFound } from '../maths/game-rounds.ts';
import type { GameFound } from '../maths/game.ts';
import { gameCards } from './game-cards.ts';
import { marksIn, PARAMS, questionOf, type Values } from './game-params.ts';
import { gameResults, tallyOf } from './game-results.ts';

/** Rounds that are averaged. */
const ROUNDS = 20;

/** A round that was not played yet. */
const FRESH = { marks: [], shown: false, many: false };

/** An answer, and what was asked. */
interface Known<R> {
  readonly key: string;
  readonly value: R;
}

const keyOf = (values: Values): string => JSON.stringify(questionOf(values));

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

    let [before, found, lot]: [string, Known<GameFound> | null, Known<RoundsFound> | null] = ['', null, null];
    /** Shows what is known of the values. */
    const tell = (round: Round): void => {
      const tally = tallyOf(values, round);
      results.tally(tally);
      if (values.shown && found?.key === keyOf(values)) results.set(found.value, round, tally);
      results.setMany(values.many && lot?.key === keyOf(values) ? lot.value : null);
    };
    /** Asks for what is not known; the answer is shown with the truth. */
    const judge = (now: Values, round: Round): void => {
      const [key, question] = [keyOf(now), questionOf(now)];
      if (found?.key !== key) {
        void ask(host.engine, status, 'game', 'game', question, (value) => {
          found = { key, value };
          if (keyOf(values) === key) tell(round);
        });
      }
      if (!now.many || lot?.key === key) return;
      void ask(host.engine, status, 'game.rounds', 'gameRounds', { ...question, rounds: ROUNDS }, (value) => {
        lot = { key, value };
        if (keyOf(values) === key) tell(round);
      });
    };
    const set = (now: Values): void => {
      // The same values again: the device is another.
      if (JSON.stringify(now) === before) [found, lot] = [null, null];
      before = JSON.stringify(now);
      values = now;
      panel.set(now);
      const round = cards.set(now);
      const marked = marksIn(now).length;
      count.textContent = now.shown ? '' : `${marked} marked; ${now.swapped} of ${now.cards} captions are swapped.`;
      reveal.textContent = now.shown ? 'Hide the truth' : 'Show the truth';
      more.disabled = now.many;
      results.el.hidden = !now.shown;
      tell(round);
      judge(now, round);
    };
    set(first);
    return { set, dispose: () => el.replaceChildren() };
  },
});
