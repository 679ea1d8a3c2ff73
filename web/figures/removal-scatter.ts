// Chapter 3's predictions for every pair alone, against what training without it does.

import { h, s, show, shown } from '../app/dom.ts';
import { pearson, spearman } from '../../src/ecif/metrics/ranks.ts';
import { axesOf, plot } from '../../src/report/plot.ts';
import type { Figure } from '../../src/verify/result.ts';
import type { EmojiPair } from '../data/emoji.gen.ts';
import type { LeftOut, Trained } from '../maths/removal.ts';

type Point = readonly [number, number];

/** What is known so far: the scores at once, the outcome of each pair as its training ends. */
export interface Outcomes {
  readonly trained: Trained;
  readonly out: readonly (LeftOut | null)[];
  readonly removed: readonly number[];
}

const PREDICTORS = ['corrected', 'published', 'newton'] as const;
type Predictor = (typeof PREDICTORS)[number];

const SAYS: Readonly<Record<Predictor, string>> = {
  corrected: 'linear score, corrected',
  published: 'linear score, published',
  newton: 'loss at Newton’s parameters',
};

/** Actual and predicted changes of the pairs that are done. */
function pointsOf({ trained, out }: Outcomes): Record<Predictor, Point[]> {
  const done = out.flatMap((one, i) => (one === null ? [] : [{ i, ...one }]));
  return {
    corrected: done.map(({ i, actual }) => [actual, trained.scores.corrected[i]]),
    published: done.map(({ i, actual }) => [actual, trained.scores.published[i]]),
    newton: done.map(({ actual, newton }) => [actual, newton]),
  };
}

const figureOf = ({ corrected, newton }: Record<Predictor, Point[]>): Figure => ({
  ...{
    id: 'removal-scatter',
    title: 'Change of the validation loss without each pair, predicted and actual',
    caption: '',
  },
  x: { label: 'actual change, by retraining', log: false },
  y: { label: 'predicted change', log: false },
  ...{ kind: 'points', diagonal: true },
  series: [
    { name: 'linear score', points: corrected },
    { name: 'Newton', points: newton },
  ],
});

/** Rings and pictures at the pairs that are removed above, titles at all. */
function marks(figure: Figure, { trained, out, removed }: Outcomes, names: readonly EmojiPair[]): SVGGElement[] {
  const { x, y } = axesOf(figure);
  return out.flatMap((one, i) => {
    if (one === null) return [];
    const title = s('title', {}, names[i].caption);
    const [left, top] = [x.at(one.actual), y.at(trained.scores.corrected[i])];
    const chosen = removed.includes(i);
    const ring = s('circle', { cx: left, cy: top, r: 11, class: chosen ? 'removal-ring' : 'removal-hit' });
    const picture = s('image', {
      href: `emoji/${names[i].code}.svg`,
      x: left - 11,
      y: top + 13,
      width: 22,
      height: 22,
    });
    return [s('g', {}, title, ring, ...(chosen ? [picture] : []))];
  });
}

/** The scatter and its correlations. */
export function removalScatter(names: readonly EmojiPair[]) {
  const picture = h('div', { class: 'removal-scatter' });
  const outputs = Object.fromEntries(
    PREDICTORS.map((name) => [name, [shown(`spearman-${name}`), shown(`pearson-${name}`)]]),
  ) as Record<Predictor, HTMLOutputElement[]>;
  const rows = PREDICTORS.map((name) =>
    h('tr', {}, h('th', { scope: 'row' }, SAYS[name]), ...outputs[name].map((el) => h('td', {}, el))),
  );
  const head = ['prediction', 'Spearman', 'Pearson'].map((text) => h('th', { scope: 'col' }, text));
  const table = h('table', { class: 'small' }, h('thead', {}, h('tr', {}, ...head)), h('tbody', {}, ...rows));
  return {
    picture,
    table,
    set: (outcomes: Outcomes): void => {
      const points = pointsOf(outcomes);
      const figure = figureOf(points);
      picture.innerHTML = plot(figure);
      picture.querySelector('svg')?.append(...marks(figure, outcomes, names));
      const complete = outcomes.out.every((one) => one !== null);
      for (const name of PREDICTORS) {
        const [actual, predicted] = [0, 1].map((d) => points[name].map((p) => p[d]));
        show(outputs[name][0], complete ? spearman(predicted, actual) : NaN, 3);
        show(outputs[name][1], complete ? pearson(predicted, actual) : NaN, 3);
      }
    },
  };
}
