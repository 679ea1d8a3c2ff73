// What the demo found, as text: every command, and below it what came of it.

import { oneLine } from '../../array/messages.ts';
import type { ModelMeasures, TracedQuery, TracedSource } from '../../report/records.ts';
import { correlationsText, groupsTable } from '../curves/text.ts';
import type { DemoResult } from './run.ts';
import { columns, percent, table } from '../format.ts';

const quoted = (text: string): string => JSON.stringify(oneLine(text));

/** Some lines under the commands that lead to them. */
const under = (commands: readonly string[], ...lines: readonly string[]): string =>
  [...commands.map((command) => `$ ${command}`), ...lines].join('\n');

function trainedText({ commands, trained, device, settings, removed: { start, before } }: DemoResult): string {
  const { pairs, swapped, parameters, seconds, gradient } = trained;
  return under(
    [commands.evaluate, commands.train],
    columns([
      ['device', oneLine(device)],
      ['pairs', `${pairs}, the captions of ${swapped} swapped; ${settings.held} more to measure on`],
      [
        'trained',
        `${parameters} LoRA parameters in ${seconds.toFixed(1)} s, to a gradient of ${gradient.toExponential(1)}`,
      ],
      ['recall', `R@5 on the pairs to measure on ${percent(start.r5)} before, ${percent(before.r5)} after`],
    ]),
  );
}

function detectedText({ commands, detected, trained }: DemoResult): string {
  const { by, flagged, expectedPrecision, precision, scores } = detected;
  const cut =
    precision === null
      ? 'none: the pairs look like one kind'
      : `${flagged} pairs flagged by ${by}, expected precision ${percent(expectedPrecision)}, in truth ${percent(precision)}`;
  return under(
    [commands.score, commands.detect],
    table([
      [`${trained.swapped} swapped`, 'AUROC', 'AUPRC'],
      ...scores.map(({ name, auroc, auprc }) => [name, auroc.toFixed(3), auprc.toFixed(3)]),
    ]),
    `cut-off: ${cut}`,
  );
}

const sourceRow = ({ caption, score, swapped }: TracedSource): string[] => [
  quoted(caption),
  score.toExponential(1),
  swapped === true ? 'swapped' : '',
];

/** A mistake and the pairs behind it. */
function mistakeText({ caption, loss, predictions: [first], against, removal }: TracedQuery): string[] {
  const sources = [['pairs behind it', 'score', ''], ...against.map(sourceRow)];
  return [
    `the picture of ${quoted(caption)} is taken for ${quoted(first.caption)} (${percent(first.probability)})`,
    ...(against.length === 0 ? [] : [table(sources)]),
    ...(removal === null ? [] : [`without them: loss ${removal.editedLoss.toFixed(2)} in place of ${loss.toFixed(2)}`]),
  ];
}

function tracedText({ commands, traced: { asked, mistaken, query } }: DemoResult): string {
  const head = `${mistaken} of ${asked} pictures are taken for another; the one of the largest loss:`;
  return under([commands.trace], ...(query === null ? ['no picture is mistaken'] : [head, ...mistakeText(query)]));
}

function removedText({ commands, removed }: DemoResult): string {
  const { pairs, swapped, start, before, edits, again } = removed;
  const measured = ({ loss, r1, r5 }: ModelMeasures): string[] => [loss.toFixed(4), percent(r1), percent(r5)];
  const rows = [
    ['', 'seconds', 'faster', 'loss', 'R@1', 'R@5', 'error of θ'],
    ['small CLIP', '', '', '', percent(start.r1), percent(start.r5), ''],
    ['trained on all pairs', '', '', ...measured(before), '1.00'],
    ...edits.map(({ rung, seconds, speedup, measures, error }) => [
      ...[`ECIF, ${rung}`, seconds.toFixed(1), `${speedup.toFixed(1)}×`, ...measured(measures), error.toFixed(2)],
    ]),
    ...(again.onward === null
      ? []
      : [['trained on', again.onward.toFixed(1), `${(again.seconds / again.onward).toFixed(1)}×`, '', '', '', '']]),
    ['trained again', again.seconds.toFixed(1), '1.0×', ...measured(again.measures), '0.00'],
  ];
  return under(
    edits.map(({ rung }) => commands[rung]),
    `${pairs} pairs removed, ${swapped} of them swapped; measured on pairs that were not trained on`,
    table(rows),
    'trained on: from the model of all pairs to the same gradient; trained again: by the same recipe from the small CLIP',
    'error of θ: distance to the parameters of training again, 1 where nothing is done',
  );
}

const curvesText = ({ commands, curves }: DemoResult): string =>
  under(
    [commands.curves],
    'change of the loss if pairs are left out: sum of scores, Newton edit, trained again without them',
    ...[groupsTable(curves), correlationsText(curves)],
  );

/** The result as text. */
export const demoText = (result: DemoResult): string =>
  [
    ...[trainedText(result), detectedText(result), tracedText(result), removedText(result)],
    curvesText(result),
    under([result.commands.report], `report: ${oneLine(result.report)}, a page that opens offline`),
  ].join('\n\n');
