// ecif trace: from what a trained model takes pictures for to the training pairs behind it.

import { oneLine } from '../../array/messages.ts';
import type { TracedQuery, TracedSource, TraceRecord } from '../../report/records.ts';
import { defineCommand } from '../command.ts';
import { onDevice } from '../devices.ts';
import { percent, table } from '../format.ts';
import { TRACE_OPTIONS } from './options.ts';
import { runTrace } from './run.ts';
import { requireEditUse } from '../remove/options.ts';
import { requireSolverUse } from '../score/options.ts';

/** Queries, and sources on either side, that are printed at most; the file has all. */
const [QUERIES, SOURCES] = [5, 5];

const short = (text: string): string => oneLine(text.slice(0, 60));

const sourceRow = ({ id, score, relative, caption }: TracedSource): string[] => [
  oneLine(id),
  score.toExponential(2),
  relative.toExponential(2),
  short(caption),
];

/** What the model makes of a query. */
function answerText({ id, loss, predictions, mistaken }: TracedQuery): string {
  const [first] = predictions;
  const truth = predictions.find(({ right }) => right) ?? first;
  const taken = `${JSON.stringify(short(first.caption))} ${percent(first.probability)}`;
  const right = `${JSON.stringify(short(truth.caption))} ${percent(truth.probability)}`;
  const verdict = mistaken ? `taken for ${taken}, is ${right}` : `rightly taken for ${right}`;
  return `${oneLine(id)}: ${verdict}, loss ${loss.toPrecision(4)}`;
}

function queryText(query: TracedQuery): string {
  const { against, for: those, removal } = query;
  const sources = table([
    ['against the truth', 'score', 'relative', 'caption'],
    ...against.slice(0, SOURCES).map(sourceRow),
    ['for it', '', '', ''],
    ...those.slice(0, SOURCES).map(sourceRow),
  ]);
  const removed =
    removal === null
      ? []
      : [
          `without the ${removal.ids.length} first against it: loss ${removal.predictedLoss.toPrecision(4)} predicted, ${removal.editedLoss.toPrecision(4)} by ${removal.rung}; probability of the truth ${percent(removal.probabilityBefore)} → ${percent(removal.probabilityAfter)}`,
        ];
  return [answerText(query), sources, ...removed].join('\n');
}

function describe(out: string, { asked, mistaken, queries }: TraceRecord): string {
  const more = queries.length > QUERIES ? `, ${QUERIES} printed` : '';
  const head = `${mistaken} of ${asked} pictures are mistaken; ${queries.length} traced in ${oneLine(out)}${more}`;
  return [head, ...queries.slice(0, QUERIES).map(queryText)].join('\n\n');
}

export const trace = defineCommand({
  name: 'trace',
  summary: 'trace mistakes of a trained model to the training pairs behind them',
  example: 'ecif trace run --queries held-out.csv --most 5',
  options: TRACE_OPTIONS,
  operands: { label: 'RUN', help: 'folder of a finished ecif train', least: 1, most: 1 },
  run: (values, context) => {
    const { operands, given, progress } = context;
    const [folder] = operands;
    requireSolverUse(values, given);
    requireEditUse(values.rung, given);
    return onDevice(context, async (device) => {
      const json = await runTrace(folder, values, device, progress);
      return { json, text: describe(values.out ?? `${folder}/trace.json`, json), ok: true };
    });
  },
});
