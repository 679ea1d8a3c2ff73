// ecif curves: what removing more and more pairs does, as predicted and as training again without them gives it.

import { oneLine } from '../../array/messages.ts';
import type { CurvesRecord } from '../../report/records.ts';
import { defineCommand } from '../command.ts';
import { CURVES_OPTIONS } from './options.ts';
import { runCurves } from './run.ts';
import { correlationsText, groupsTable } from './text.ts';
import { onDevice } from '../devices.ts';
import { requireEditUse } from '../remove/options.ts';
import { requireSolverUse } from '../score/options.ts';

const describe = (folder: string, record: CurvesRecord): string =>
  [
    ...record.notes.map((note) => `note: ${oneLine(note)}`),
    groupsTable(record),
    correlationsText(record),
    `predicted.json and curves.json in ${oneLine(folder)}; ecif report draws them`,
  ].join('\n');

export const curves = defineCommand({
  name: 'curves',
  summary: 'train again without harmful, valuable and random pairs, beside what was predicted of that',
  example: 'ecif curves run --validation held-out.csv --shares 0.1,0.2,0.3',
  options: CURVES_OPTIONS,
  operands: { label: 'RUN', help: 'folder of a finished ecif train, with scores', least: 1, most: 1 },
  run: (values, context) => {
    const { operands, given, progress } = context;
    const [folder] = operands;
    requireSolverUse(values, given);
    requireEditUse(values.rung, given);
    return onDevice(context, async (device) => {
      const json = await runCurves(folder, values, device, progress);
      return { json, text: describe(folder, json), ok: true };
    });
  },
});
