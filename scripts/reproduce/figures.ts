// The figures of the page, from the cells.

import { summarise } from '../../src/ecif/metrics/interval.ts';
import type { Figure } from '../../src/verify/result.ts';
import type { DatasetName } from './data.ts';
import { CURVE_ENDS, type CurveEnd, type Curves, CURVES_BY } from './experiments/curves.ts';
import type { Human } from './experiments/human.ts';
import { type Several, SEVERAL_EDITS } from './experiments/several.ts';
import { cellsOf, type Results } from './results.ts';

/** A figure and the name of its file. */
export interface NamedFigure {
  readonly name: string;
  readonly figure: Figure;
}

type Series = Figure['series'][number];

/** Names of the datasets as people know them. */
export const TITLES: Readonly<Record<DatasetName, string>> = {
  emoji: 'Emoji (Twemoji)',
  cifar10: 'CIFAR-10',
  fashion: 'Fashion-MNIST',
};

/** Means over seeds with a band of one standard deviation. */
function seriesOf(name: string, points: readonly { x: number; values: readonly number[] }[]): Series {
  const found = points.map(({ x, values }) => ({ x, ...summarise(values) }));
  return {
    name,
    points: found.map(({ x, mean }) => [x, mean]),
    band: found.flatMap(({ x, mean, sd }): [number, number, number][] =>
      Number.isNaN(sd) ? [] : [[x, mean - sd, mean + sd]],
    ),
  };
}

/** Accuracy over what is removed of one end. */
function curveFigure(id: string, title: string, end: CurveEnd, all: readonly Curves[]): Figure {
  const [{ curves }] = all;
  const trained = { x: 0, values: all.map((one) => 100 * one.trained.accuracy) };
  return {
    ...{ id, title, caption: '', kind: 'lines', diagonal: false },
    x: { label: `share of the ${end} pairs left out, %`, log: false },
    y: { label: 'accuracy, %', log: false },
    series: CURVES_BY.map((by) =>
      seriesOf(by, [
        trained,
        ...curves[end][by].map(({ share }, i) => ({
          x: 100 * share,
          values: all.map((one) => 100 * one.curves[end][by][i].retrained.measures.accuracy),
        })),
      ]),
    ),
  };
}

/** Error of the parameters over what is removed. */
function errorFigure(dataset: DatasetName, all: readonly Several[]): Figure {
  return {
    ...{
      id: `several-${dataset}`,
      title: `${TITLES[dataset]}: error of the edited parameters`,
      caption: '',
      kind: 'lines',
    },
    diagonal: false,
    x: { label: 'share of the pairs removed at random, %', log: false },
    y: { label: '‖edited − retrained‖ / ‖trained − retrained‖', log: true },
    series: SEVERAL_EDITS.map((edit) =>
      seriesOf(
        edit,
        all[0].points.map(({ share }, i) => ({
          x: 100 * share,
          values: all.map(({ points }) => points[i].edits[edit].error),
        })),
      ),
    ),
  };
}

/** Every figure that the results have data for. */
export function figuresOf(results: Results): NamedFigure[] {
  const curves = [...cellsOf<Curves>(results, 2)].flatMap(([dataset, cells]) =>
    CURVE_ENDS.map((end) => ({
      name: `${end}-${dataset}`,
      figure: curveFigure(
        `${end}-${dataset}`,
        `${TITLES[dataset]}: without ${end} pairs`,
        end,
        cells.map(({ result }) => result),
      ),
    })),
  );
  const several = [...cellsOf<Several>(results, 6)].map(([dataset, cells]) => ({
    name: `several-${dataset}`,
    figure: errorFigure(
      dataset,
      cells.map(({ result }) => result),
    ),
  }));
  const human = [...cellsOf<Human>(results, 7).values()].map((cells) => ({
    name: 'human',
    figure: curveFigure(
      'human',
      'CIFAR-10N: without harmful pairs',
      'harmful',
      cells.map(({ result }) => result.curves),
    ),
  }));
  return [...curves, ...several, ...human];
}
