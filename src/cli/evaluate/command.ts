// ecif evaluate: retrieval in both directions and zero-shot accuracy of a CLIP folder on a dataset.

import { oneLine } from '../../array/messages.ts';
import type { Device } from '../../device/open.ts';
import type { Recall } from '../../models/retrieval.ts';
import type { ZeroShot } from '../../models/zero-shot.ts';
import { type OptionSpecs, type OptionValues, UsageError } from '../args.ts';
import { defineCommand } from '../command.ts';
import { DATA_HELP, READ_OPTIONS } from '../runs/data-options.ts';
import { openPairs } from '../runs/data-run.ts';
import { withDevice } from '../devices.ts';
import { adapterFolder } from '../remove/edits.ts';
import { evaluatePairs, type Evaluation, openEmbedder } from './run.ts';
import { percent, table } from '../format.ts';
import { readyPairs } from '../runs/pairs.ts';
import type { Progress } from '../progress.ts';

const recallRow = (label: string, { r1, r5, r10 }: Recall): string[] => [label, percent(r1), percent(r5), percent(r10)];

function zeroShotText({ accuracy, top5, chance, classes }: ZeroShot): string {
  const rows = classes.map(({ name, count, correct, confusedWith }) => [
    oneLine(name),
    String(count),
    percent(count === 0 ? 0 : correct / count),
    confusedWith === null ? '' : oneLine(confusedWith),
  ]);
  return [
    `zero-shot accuracy ${percent(accuracy)}, top 5 ${percent(top5)}, chance ${percent(chance)}`,
    table([['class', 'pictures', 'accuracy', 'most often taken for'], ...rows]),
  ].join('\n');
}

function describe({ device, pictures, captions, retrieval, zeroShot }: Evaluation): string {
  const { textToImage, imageToText, chance } = retrieval;
  const recalls = table([
    ['retrieval', 'R@1', 'R@5', 'R@10'],
    recallRow('caption → image', textToImage),
    recallRow('image → caption', imageToText),
    recallRow(pictures === captions ? 'chance' : 'chance, caption → image', chance),
  ]);
  const head = `${pictures} pictures, ${captions} captions, on ${device}; ties count against the model`;
  return [head, recalls, ...(zeroShot === null ? [] : [zeroShotText(zeroShot)])].join('\n\n');
}

/** Every option of the command. */
export const EVALUATE_OPTIONS = {
  model: { kind: 'text', label: 'DIR', help: 'CLIP folder' },
  adapter: {
    kind: 'text',
    label: 'DIR',
    help: 'PEFT adapter, folder of an edit, or run folder, of which the edit in force',
  },
  ...READ_OPTIONS,
  templates: {
    ...READ_OPTIONS.templates,
    help: 'what a class is called, {} for its name; several with | between, their embeddings are averaged',
  },
  seed: { kind: 'number', whole: true, least: 0, most: 2 ** 32 - 1, default: 0, help: 'of --limit' },
  'cache-mb': { kind: 'number', least: 0, default: 2048, help: 'memory for pictures' },
} as const satisfies OptionSpecs;

/** What a CLIP folder does on a dataset. */
export async function runEvaluation(
  data: string,
  { model, adapter, 'cache-mb': megabytes, ...settings }: OptionValues<typeof EVALUATE_OPTIONS>,
  device: Device,
  progress: Progress,
): Promise<Evaluation & { readonly dropped: readonly string[] }> {
  if (model === undefined) throw new UsageError('evaluate: no model; give --model DIR');
  const prompts = settings.templates.split('|');
  const { dataset, dropped } = await openPairs({ ...settings, templates: prompts[0], data }, progress);
  const embedder = await openEmbedder(model, adapter === undefined ? undefined : adapterFolder(adapter), device);
  const pairs = await readyPairs(embedder, dataset, megabytes * 2 ** 20);
  return { ...(await evaluatePairs(embedder, pairs, prompts, progress)), dropped };
}

export const evaluate = defineCommand({
  name: 'evaluate',
  summary: 'measure a CLIP folder on a dataset: retrieval in both directions, zero-shot accuracy',
  example: 'ecif evaluate pairs.csv --model clip-vit-base-patch32 --adapter run',
  options: EVALUATE_OPTIONS,
  operands: {
    label: 'DATA',
    help: DATA_HELP,
    least: 1,
    most: 1,
  },
  run: (values, { device: kind, operands: [data], progress }) =>
    withDevice(kind, async (device) => {
      const json = await runEvaluation(data, values, device, progress);
      return { json, text: describe(json), ok: true };
    }),
});
