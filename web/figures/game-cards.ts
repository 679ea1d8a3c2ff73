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

/** One card; what it shows changes, the element stays. */
function makeCard(onMark: () => void) {
  const image = h('img', { width: 48, height: 48, decoding: 'async' });
  const [caption, word] = [h('span', { class: 'game-caption' }), h('span', { class: 'game-word' })];
  const button = h('button', { type: 'button', class: 'game-card', onclick: onMark }, image, ' ', caption, ' ', word);
  return {
    el: h('li', {}, button),
    deal: (picture: number, from: number): void => {
      const src = `emoji/${EMOJI[picture].code}.svg`;
      if (image.getAttribute('src') !== src) image.src = src;
      // The true name: without seeing the picture one plays by comparing it with the caption.
      image.alt = `picture of ${EMOJI[picture].caption},`;
      caption.textContent = `“${EMOJI[from].caption}”`;
    },
    judge: (marked: boolean, shown: boolean, wrong: boolean, text: string): void => {
      button.setAttribute('aria-pressed', String(marked));
      button.disabled = shown;
      button.classList.toggle('game-wrong', shown && wrong);
      word.textContent = shown ? text : marked ? '⚑ suspect' : '';
    },
  };
}

/** The cards on the table. */
export function gameCards(mark: (card: number) => void) {
  const list = h('ul', { class: 'game-cards' });
  const cards: ReturnType<typeof makeCard>[] = [];

  /** As many cards as there are pictures. */
  const lay = (count: number): void => {
    cards.splice(count).forEach(({ el }) => el.remove());
    while (cards.length < count) {
      const at = cards.length;
      cards.push(makeCard(() => mark(at)));
      list.append(cards[at].el);
    }
  };
  return {
    el: list,
    set: (values: Values): Round => {
      const round = roundOf(values);
      const marks = new Set(marksIn(values));
      lay(values.cards);
      cards.forEach(({ deal, judge }, card) => {
        const marked = marks.has(card);
        deal(round.pictures[card], round.captions[card]);
        judge(marked, values.shown, round.wrong[card], verdict(round, card, marked));
      });
      return round;
    },
  };
}
