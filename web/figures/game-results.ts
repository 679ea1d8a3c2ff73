// What is shown with the truth in chapter 5: the player's hits, rankings, ROC curves and AUROC of every detector.

import { h, show, shown } from '../app/dom.ts';
import { EMOJI } from '../data/emoji.gen.ts';
import type { RoundsFound } from '../maths/game-rounds.ts';
import type { Round } from '../maths/game-round.ts';
import { type Detection, DETECTORS, type Detector, type GameFound } from '../maths/game.ts';
import { LOOKS, marksIn, type Values } from './game-params.ts';
import { rocLegend, rocPlot } from './game-roc.ts';

/** What the player found. */
export interface Tally {
  readonly hits: number;
  readonly misses: number;
  readonly alarms: number;
}

/** Counts the marks. */
export function tallyOf(values: Values, { wrong }: Round): Tally {
  const marks = marksIn(values);
  const hits = marks.filter((card) => wrong[card]).length;
  return { hits, misses: wrong.filter(Boolean).length - hits, alarms: marks.length - hits };
}

/** Cards from the most to the least suspicious, the swapped ones marked. */
function strip({ detector, order, auroc }: Detection, { pictures, wrong }: Round): HTMLElement {
  const { name } = LOOKS[detector];
  const ranks = order.flatMap((card, rank) => (wrong[card] ? [rank + 1] : []));
  const label = `${name}: swapped captions at places ${ranks.join(', ')} of ${order.length}`;
  const thumbs = order.map((card, rank) =>
    h(
      'span',
      {
        class: `game-thumb${wrong[card] ? ' game-swapped' : ''}${rank === ranks.length - 1 ? ' game-cut' : ''}`,
      },
      h('img', { src: `emoji/${EMOJI[pictures[card]].code}.svg`, alt: '', width: 22, height: 22 }),
    ),
  );
  return h(
    'div',
    { class: 'game-strip' },
    h('span', { class: 'game-strip-name' }, name, ' ', h('small', {}, auroc.toFixed(2))),
    h('div', { class: 'game-thumbs', role: 'img', 'aria-label': label }, ...thumbs),
  );
}

/** The better of influence and cosine in this round, in words. */
function honest(by: Readonly<Record<Detector, Detection>>): string {
  const [influence, cosine] = [by.ecif.auroc, by.clipscore.auroc];
  const numbers = `${influence.toFixed(3)} against ${cosine.toFixed(3)}`;
  const best = DETECTORS.reduce((a, b) => (by[b].auroc > by[a].auroc ? b : a));
  const first =
    Math.abs(influence - cosine) < 1e-9
      ? `In this round influence and CLIPScore are level at ${influence.toFixed(3)}.`
      : influence > cosine
        ? `In this round influence beats CLIPScore, ${numbers}.`
        : `In this round CLIPScore beats influence: influence has ${numbers}.`;
  return `${first} Best of all is ${LOOKS[best].name} with ${by[best].auroc.toFixed(3)}.`;
}

/** The player beside the machine that may inspect as many cards, in words. */
function beside({ hits, alarms }: Tally, { order }: Detection, { wrong }: Round): string {
  const [marked, all] = [hits + alarms, wrong.filter(Boolean).length];
  if (marked === 0) return `You marked nothing; ${all} captions are swapped.`;
  const theirs = order.slice(0, marked).filter((card) => wrong[card]).length;
  return `You found ${hits} of ${all} with ${marked} marks. The first ${marked} of ECIF’s ranking hold ${theirs}.`;
}

/** AUROC of every detector, in this round and over many. */
function scoreTable() {
  const rows = DETECTORS.map((detector) => {
    const [area, found, mean] = [shown(`auroc-${detector}`), shown(`found-${detector}`), shown(`mean-${detector}`)];
    const cells = [area, found, mean].map((el) => h('td', {}, el));
    return { detector, area, found, mean, row: h('tr', {}, h('th', { scope: 'row' }, LOOKS[detector].name), ...cells) };
  });
  const many = h('th', { scope: 'col' }, 'AUROC, many rounds');
  const head = [
    h('th', { scope: 'col' }, 'detector'),
    h('th', { scope: 'col' }, 'AUROC'),
    h('th', { scope: 'col' }, 'found in the first k'),
    many,
  ];
  const table = h(
    'table',
    { class: 'small' },
    h('thead', {}, h('tr', {}, ...head)),
    h('tbody', {}, ...rows.map(({ row }) => row)),
  );
  return {
    el: h('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'AUROC of every detector' }, table),
    set: (by: Readonly<Record<Detector, Detection>>): void => {
      for (const { detector, area, found } of rows) {
        show(area, by[detector].auroc);
        show(found, by[detector].found, 2);
        found.textContent = String(by[detector].found);
      }
    },
    setMany: (found: RoundsFound | null): void => {
      many.textContent = found === null ? 'AUROC, many rounds' : `AUROC, mean of ${found.rounds}`;
      for (const { detector, mean } of rows) show(mean, found?.means[detector] ?? NaN);
    },
  };
}

/** Everything that is shown with the truth. */
export function gameResults(more: HTMLElement) {
  const [hits, misses, alarms] = [shown('hits'), shown('misses'), shown('alarms')];
  const [words, lot, strips, roc] = [h('p', { class: 'game-words' }), h('p'), h('div', { class: 'scroll' }), h('div')];
  const table = scoreTable();
  for (const [name, value] of Object.entries({ tabindex: '0', role: 'group', 'aria-label': 'Rankings' }))
    strips.setAttribute(name, value);
  const el = h(
    'div',
    { class: 'game-results' },
    h(
      'p',
      { class: 'values' },
      ...(
        [
          ['found ', hits],
          ['missed ', misses],
          ['false alarms ', alarms],
        ] as const
      ).map(([text, output]) => h('span', {}, text, output)),
    ),
    words,
    h(
      'div',
      { class: 'columns' },
      h('div', {}, roc),
      h('div', {}, table.el, h('p', { class: 'game-more' }, more), lot),
    ),
    h('h3', {}, 'Rankings, the most suspicious first: swapped ones underlined, a dashed line after the first k'),
    strips,
  );
  return {
    el,
    /** The player's part, known at once. */
    tally: (tally: Tally): void => {
      show(hits, tally.hits);
      show(misses, tally.misses);
      show(alarms, tally.alarms);
      for (const [output, x] of [
        [hits, tally.hits],
        [misses, tally.misses],
        [alarms, tally.alarms],
      ] as const)
        output.textContent = String(x);
    },
    set: ({ detections }: GameFound, round: Round, tally: Tally): void => {
      const by = Object.fromEntries(detections.map((one) => [one.detector, one])) as Record<Detector, Detection>;
      const bad = round.wrong.filter(Boolean).length;
      const player = [tally.alarms / (round.wrong.length - bad), tally.hits / bad] as const;
      words.textContent = `${beside(tally, by.ecif, round)} ${honest(by)}`;
      roc.replaceChildren(rocPlot(detections, player), rocLegend(detections));
      strips.replaceChildren(...detections.map((one) => strip(one, round)));
      table.set(by);
    },
    setMany: (found: RoundsFound | null): void => {
      table.setMany(found);
      lot.textContent =
        found === null
          ? ''
          : `Over ${found.rounds} rounds CLIPScore was better than influence in ${found.cosineBetter}, influence better in ${found.influenceBetter}.`;
    },
  };
}
