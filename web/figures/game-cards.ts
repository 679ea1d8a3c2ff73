// The cards of chapter 5: pictures with captions, marked by the player, judged once the truth is shown.

import { h } from '../app/dom.ts';
import { EMOJI } from '../data/emoji.gen.ts';
import { type Round, roundOf } from '../maths/game-round.ts';
import { marksIn, type Values } from './game-params.ts';

/** What became of a card, in words. */
function verdict(round: Round, card: number, marked: boolean): string {
  if (round.wrong[card]) {
    const own = `is “${EMOJI[round.pictures[card]].caption}”`;
    return marked ? `✓ found: ${own}` : `✗ missed: ${own}`;
  }
  return marked ? '✗ false alarm' : '';
}

/** The cards on the table. */
export function gameCards(mark: (card: number) => void) {
  const list = h('ul', { class: 'game-cards' });
  let [round, key]: [Round | null, string] = [null, ''];
  let cards: { button: HTMLButtonElement; word: HTMLElement }[] = [];

  const deal = (values: Values): Round => {
    const made = roundOf(values);
    cards = made.pictures.map((picture, card) => {
      const word = h('span', { class: 'game-word' });
      const button = h(
        'button',
        { type: 'button', class: 'game-card', onclick: () => mark(card) },
        h('img', {
          src: `emoji/${EMOJI[picture].code}.svg`,
          alt: `picture of ${EMOJI[picture].caption},`,
          width: 48,
          height: 48,
        }),
        ' ',
        h('span', { class: 'game-caption' }, `“${EMOJI[made.captions[card]].caption}”`),
        ' ',
        word,
      );
      return { button, word };
    });
    list.replaceChildren(...cards.map(({ button }) => h('li', {}, button)));
    return made;
  };

  return {
    el: list,
    set: (values: Values): Round => {
      const now = [values.seed, values.cards, values.swapped].join();
      if (round === null || key !== now) round = deal(values);
      key = now;
      const dealt = round;
      const marks = new Set(marksIn(values));
      cards.forEach(({ button, word }, card) => {
        button.setAttribute('aria-pressed', String(marks.has(card)));
        button.disabled = values.shown;
        button.classList.toggle('game-wrong', values.shown && dealt.wrong[card]);
        word.textContent = values.shown ? verdict(dealt, card, marks.has(card)) : marks.has(card) ? '⚑ suspect' : '';
      });
      return dealt;
    },
  };
}
