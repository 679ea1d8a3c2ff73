// The sections of the page: the tables of each experiment, from the cells.

import type { DatasetName } from './data.ts';
import { EDITS } from './edits.ts';
import type { Baselines } from './experiments/baselines.ts';
import { CURVE_ENDS, type CurveEnd, type Curves, CURVES_BY } from './experiments/curves.ts';
import type { Detected, Detection, Found } from './experiments/detection.ts';
import type { Human } from './experiments/human.ts';
import { type Several, SEVERAL_EDITS } from './experiments/several.ts';
import { SOURCES, type Traced } from './experiments/trace.ts';
import { REMOVALS, type Utility } from './experiments/utility.ts';
import { TITLES } from './figures.ts';
import { overOf, percentOf, percentOver, tableOf } from './markdown.ts';
import { PAPER_CIFAR100, PAPER_UTILITY } from './paper.ts';
import { cellsOf, type Results } from './results.ts';

/** Results of one experiment by dataset. */
function each<R>(
  results: Results,
  experiment: number,
  table: (all: readonly R[], dataset: DatasetName) => string,
): string {
  return [...cellsOf<R>(results, experiment)]
    .map(([dataset, cells]) => {
      const body = table(
        cells.map(({ result }) => result),
        dataset,
      );
      return `**${TITLES[dataset]}**, ${cells.length} seed${cells.length === 1 ? '' : 's'}\n\n${body}`;
    })
    .join('\n\n');
}

/** An image of the page. */
export const image = (name: string, words: string): string => `![${words}](results/${name}.svg)`;

/** Before any removal: what training reaches. */
export const modelsSection = (results: Results): string =>
  tableOf(
    ['dataset', 'pairs', 'not adapted, %', 'trained, %', 'R@5, %', 'settled runs', '‖∇F‖', 'training, s'],
    [...cellsOf<Utility>(results, 1)].map(([dataset, cells]) => {
      const all = cells.map(({ result }) => result);
      return [
        TITLES[dataset],
        String(all[0].base.pairs),
        percentOf(all, ({ before }) => before.accuracy),
        percentOf(all, ({ trained }) => trained.accuracy),
        percentOf(all, ({ trained }) => trained.r5),
        `${all.filter(({ base }) => base.settled).length} of ${all.length}`,
        overOf(all, ({ base }) => base.gradient, 1),
        overOf(all, ({ base }) => base.seconds, 1),
      ];
    }),
  );

function utilityTable(all: readonly Utility[]): string {
  const rows = REMOVALS.flatMap((kind) => {
    const of = all.map(({ removals }) => removals[kind]);
    const again = of.map(({ retrained }) => retrained);
    return [
      [
        `${kind}, retrain`,
        percentOf(again, ({ measures }) => measures.accuracy),
        overOf(again, ({ measures }) => measures.loss, 3),
        '0',
        overOf(again, ({ about }) => about.seconds, 2),
        '1',
      ],
      ...EDITS.map((edit) => {
        const edits = of.map((one) => one.edits[edit]);
        return [
          `${kind}, ${edit}`,
          percentOf(edits, ({ measures }) => measures.accuracy),
          overOf(edits, ({ measures }) => measures.loss, 3),
          overOf(edits, ({ error }) => error, 3),
          overOf(edits, ({ seconds }) => seconds, 2),
          overOf(edits, ({ seconds }, i) => again[i].about.seconds / seconds, 1),
        ];
      }),
    ];
  });
  return tableOf(['removed, by', 'accuracy, %', 'test loss', 'parameter error', 's', 'retrain / edit'], rows);
}

export const utilitySection = (results: Results): string =>
  [
    each(results, 1, utilityTable),
    'The paper, ViT-B/16, FGVC-Aircraft, Food101 and Flowers102 (accuracy in %, time as printed; the table says seconds, the text minutes):',
    tableOf(['removed, by', 'FGVC', 's', 'Food101', 's', 'Flowers102', 's'], PAPER_UTILITY),
    'and CIFAR-100:',
    tableOf(['removed, by', 'accuracy, %', 's'], PAPER_CIFAR100),
  ].join('\n\n');

/** Accuracy by what pairs were chosen by, over shares. */
function curveTable(all: readonly Curves[], ends: readonly CurveEnd[]): string {
  return ends
    .map((end) => {
      const { curves, trained } = { curves: all[0].curves[end], trained: all.map((one) => one.trained.accuracy) };
      const points = curves.ecif;
      const head = [`${end} left out, %`, '0', ...points.map(({ share }) => String(Math.round(100 * share)))];
      const removed = points.map((_, i) => overOf(all, (one) => one.curves[end].ecif[i].removed, 0));
      const rows = CURVES_BY.map((by) => [
        by,
        percentOver(trained),
        ...points.map((_, i) => percentOf(all, (one) => one.curves[end][by][i].retrained.measures.accuracy)),
      ]);
      return tableOf(head, [...rows, ['pairs', '0', ...removed]]);
    })
    .join('\n\n');
}

export const curvesSection = (results: Results): string =>
  each<Curves>(
    results,
    2,
    (all, dataset) =>
      `${curveTable(all, CURVE_ENDS)}\n\n${CURVE_ENDS.map((end) => image(`${end}-${dataset}`, `${TITLES[dataset]}: accuracy without ${end} pairs`)).join(' ')}`,
  );

/** Rows of a table of detectors, over one or more kinds of noise. */
function detectorTable(columns: readonly { name: string; all: readonly Detected[] }[]): string {
  const [{ all }] = columns;
  const numbers = (pick: (one: Detected) => Found): string[] =>
    columns.flatMap(({ all: some }) => [
      overOf(some, (one) => pick(one).top10, 1),
      overOf(some, (one) => pick(one).auroc, 3),
      overOf(some, (one) => pick(one).auprc, 3),
    ]);
  const head = ['by', ...columns.flatMap(({ name }) => [`${name}: of first 10`, 'AUROC', 'AUPRC'])];
  const detect = Object.keys(all[0].detect).map((name, i) => [
    `detect: ${name}${i === 0 ? ' (default)' : ''}`,
    ...numbers((one) => one.detect[name]),
  ]);
  const methods = Object.keys(all[0].methods).map((name) => [name, ...numbers((one) => one.methods[name])]);
  return tableOf(head, [...detect, ...methods]);
}

export const detectionSection = (results: Results): string =>
  each<Detection>(results, 3, (all) =>
    detectorTable(Object.keys(all[0]).map((noise) => ({ name: `${noise} %`, all: all.map((one) => one[noise]) }))),
  );

export const traceSection = (results: Results): string =>
  each<Traced>(results, 4, (all) => {
    const rows = SOURCES.map((by) => [
      by,
      percentOf(all, ({ shares }) => shares[by].predicted),
      percentOf(all, ({ shares }) => shares[by].truth),
      percentOf(all, ({ shares }) => shares[by].planted),
    ]);
    const about = `${overOf(all, ({ mistaken }) => mistaken, 0)} of ${all[0].asked} pictures mistaken, ${all[0].traced} traced.`;
    const head = [
      'first 10 by',
      'caption of the class it was taken for, %',
      'picture of its true class, %',
      'swapped, %',
    ];
    return `${tableOf(head, rows)}\n\n${about}`;
  });

export const baselinesSection = (results: Results): string =>
  each<Baselines>(results, 5, (all) => {
    const rows = Object.keys(all[0].methods).map((name) => {
      const of = all.map(({ methods }) => methods[name]);
      return [
        name,
        percentOf(of, ({ retrained }) => retrained.measures.accuracy),
        overOf(of, ({ retrained }) => retrained.measures.loss, 3),
        overOf(of, ({ wrong }) => wrong, 1),
        overOf(of, ({ seconds }) => seconds, 2),
      ];
    });
    const nothing = ['nothing removed', percentOf(all, ({ trained }) => trained.accuracy)];
    const loss = overOf(all, ({ trained }) => trained.loss, 3);
    const head = ['removed by', 'accuracy, %', 'test loss', `swapped of ${all[0].removed}`, 'scoring, s'];
    return tableOf(head, [[...nothing, loss, '', ''], ...rows]);
  });

export const severalSection = (results: Results): string =>
  each<Several>(results, 6, (all, dataset) => {
    const rows = all[0].points.flatMap(({ share, removed }, i) => {
      const of = all.map(({ points }) => points[i]);
      const name = `${Math.round(100 * share)} % (${removed})`;
      return [
        [`${name}, retrain`, percentOf(of, ({ retrained }) => retrained.measures.accuracy), '0', '1'],
        ...SEVERAL_EDITS.map((edit) => [
          `${name}, ${edit}`,
          percentOf(of, ({ edits }) => edits[edit].measures.accuracy),
          overOf(of, ({ edits }) => edits[edit].error, 3),
          overOf(of, ({ edits, retrained }) => retrained.about.seconds / edits[edit].seconds, 1),
        ]),
      ];
    });
    const head = ['removed, by', 'accuracy, %', 'parameter error', 'retrain / edit'];
    return `${tableOf(head, rows)}\n\n${image(`several-${dataset}`, `${TITLES[dataset]}: error of the edited parameters`)}`;
  });

export const humanSection = (results: Results): string =>
  each<Human>(results, 7, (all) => {
    const share = overOf(all, ({ detected }) => (100 * detected.wrong) / detected.pairs, 1);
    return [
      `${share} % of the labels are wrong.`,
      detectorTable([{ name: 'CIFAR-10N', all: all.map(({ detected }) => detected) }]),
      curveTable(
        all.map(({ curves }) => curves),
        ['harmful'],
      ),
      image('human', 'CIFAR-10N: accuracy without harmful pairs'),
    ].join('\n\n');
  });
