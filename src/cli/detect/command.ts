// ecif detect: training pairs ranked by how likely picture and caption do not belong together.

import { join } from 'node:path';
import { oneLine } from '../../array/messages.ts';
import type { DetectRecord, ExplainedPair } from '../../report/records.ts';
import { defineCommand } from '../command.ts';
import { DETECT_OPTIONS } from './options.ts';
import { runDetection } from './run.ts';
import { onDevice } from '../devices.ts';
import { columns, percent, table } from '../format.ts';
import { requireSolverUse } from '../score/options.ts';

const WRONG: Readonly<Record<ExplainedPair['wrong'], (pair: ExplainedPair) => string>> = {
  caption: ({ otherCaption }) => `caption; "${oneLine(otherCaption.caption.slice(0, 40))}" fits its picture`,
  picture: ({ otherPicture }) => `picture; that of "${oneLine(otherPicture.caption.slice(0, 40))}" fits its caption`,
  both: ({ otherCaption }) => `either half; its picture looks like "${oneLine(otherCaption.caption.slice(0, 40))}"`,
  neither: () => 'neither replacement helps',
};

/** Least probability at which a caption is said to belong to a picture. */
const LIKELY = 0.25;

/** What looks wrong about a suspect. */
function fault(pair: ExplainedPair): string {
  const { belongs } = pair;
  if (belongs === null || belongs.probability < LIKELY) return WRONG[pair.wrong](pair);
  return `its picture belongs to "${oneLine(belongs.caption.slice(0, 40))}" (${percent(belongs.probability)})`;
}

/** Suspects that are printed at most. */
const PRINTED = 20;

function suspectsText({ suspects }: DetectRecord): string {
  const rows = suspects
    .slice(0, PRINTED)
    .map((pair) => [
      oneLine(pair.id.slice(0, 40)),
      percent(pair.probability),
      oneLine(pair.caption.slice(0, 40)),
      fault(pair),
      pair.swapped === null ? '' : pair.swapped ? 'swapped' : 'not swapped',
    ]);
  return table([['suspect', 'mismatch', 'caption', 'what looks wrong', ''], ...rows]);
}

function truthText({ truth }: DetectRecord): string[] {
  if (truth === null) return [];
  const rows = truth.measures.map(({ name, auroc, auprc, top10 }) => [
    name,
    auroc.toFixed(3),
    auprc.toFixed(3),
    String(top10),
  ]);
  return [`${truth.swapped} pairs are known to be swapped`, table([['by', 'AUROC', 'AUPRC', 'of first 10'], ...rows])];
}

function describe(folder: string, record: DetectRecord): string {
  const { pairs, method, about, cutoff } = record;
  const cut =
    cutoff.flagged === 0
      ? 'none: these pairs look like one kind; inspect from the top'
      : `${cutoff.flagged} pairs flagged, expected precision ${percent(cutoff.expectedPrecision)}`;
  const share = `about ${percent(cutoff.share)} of the pairs`;
  const facts = columns([
    ['pairs', `${pairs}, ranked in ${oneLine(join(folder, 'detect.csv'))}`],
    ['by', `${method}: ${about}`],
    ['mismatched', share],
    ['cut-off', cut],
  ]);
  return [facts, suspectsText(record), ...truthText(record)].join('\n\n');
}

export const detect = defineCommand({
  name: 'detect',
  summary: 'rank training pairs by how likely picture and caption do not belong together, and explain the first',
  example: 'ecif detect run --validation held-out.csv',
  options: DETECT_OPTIONS,
  operands: { label: 'RUN', help: 'folder of a finished ecif train', least: 1, most: 1 },
  run: (values, context) => {
    const { operands, given, progress } = context;
    const [folder] = operands;
    requireSolverUse(values, given);
    return onDevice(context, async (device) => {
      const json = await runDetection(folder, values, device, progress);
      return { json, text: describe(folder, json), ok: true };
    });
  },
});
