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

/** Where a pair stands: beside its outcome, or on the diagonal as long as that is not known. */
const placeOf = ({ trained, out }: Outcomes, i: number): Point => {
  const score = trained.scores.corrected[i];
  return [out[i]?.actual ?? score, score];
};

const figureOf = (outcomes: Outcomes): Figure => ({
  ...{ id: 'removal-scatter', caption: '' },
  title: 'Change of the validation loss without each pair, predicted and actual',
  x: { label: 'actual change, by retraining', log: false },
  y: { label: 'predicted change', log: false },
  ...{ kind: 'points', diagonal: true },
  series: [
    { name: 'linear score', points: outcomes.out.map((_, i) => placeOf(outcomes, i)) },
    { name: 'Newton', points: pointsOf(outcomes).newton },
  ],
});

/** Rings and pictures at the pairs that are removed above, titles at all; those not yet known are hollow. */
function marks(figure: Figure, outcomes: Outcomes, names: readonly EmojiPair[]): SVGGElement[] {
  const { x, y } = axesOf(figure);
  return outcomes.out.map((one, i) => {
    const [actual, score] = placeOf(outcomes, i);
    const [cx, cy] = [x.at(actual), y.at(score)];
    const chosen = outcomes.removed.includes(i);
    const { code, caption } = names[i];
    const picture = s('image', { href: `emoji/${code}.svg`, x: cx - 11, y: cy + 13, width: 22, height: 22 });
    return s(
      'g',
      {},
      s('title', {}, one === null ? `${caption}, not yet retrained without` : caption),
      s('circle', { cx, cy, r: 11, class: chosen ? 'removal-ring' : 'removal-hit' }),
      ...(one === null ? [s('circle', { cx, cy, r: 2.6, class: 'removal-waiting' })] : []),
      ...(chosen ? [picture] : []),
    );
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
      const figure = figureOf(outcomes);
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
