// ecif train: an adapter on a CLIP folder, or a small CLIP from scratch, trained so that influence can be computed.

import { existsSync } from 'node:fs';
import { oneLine } from '../../array/messages.ts';
import { afterSteps } from '../../report/findings.ts';
import { UsageError } from '../args.ts';
import { defineCommand } from '../command.ts';
import { DATA_HELP } from '../runs/data-options.ts';
import { onDevice } from '../devices.ts';
import { columns } from '../format.ts';
import { readRun, runFile, type RunRecord } from '../runs/run-folder.ts';
import { settingsIn } from '../runs/run-paths.ts';
import { secondsIn } from './clock.ts';
import { describeGrowth, describeMeasured, describeStationarity, type FinalNorms } from './end.ts';
import { requireConsistent, requireOfUse, settingsOfRun, TRAIN_OPTIONS, type TrainSettings } from './options.ts';
import { runTraining } from './run.ts';

/** The settings of a run that is to go on; options that say otherwise are refused. */
function resumed(given: TrainSettings, names: ReadonlySet<string>): TrainSettings {
  if (given.out === undefined) throw new UsageError('train: no run to resume; give --out DIR');
  if (!existsSync(runFile(given.out, 'run'))) {
    throw new UsageError(`${given.out}: no run to resume; leave out --resume to begin one`);
  }
  const record = readRun(given.out);
  const recorded = settingsOfRun(record.options, runFile(given.out, 'run'));
  for (const name of Object.keys(given) as (keyof TrainSettings)[]) {
    const said = name === 'data' ? given.data !== '' : names.has(name);
    if (name === 'out' || name === 'resume' || !said || given[name] === recorded[name]) continue;
    throw new UsageError(`--${name}: the run was begun with ${JSON.stringify(recorded[name])}; leave it out to resume`);
  }
  return { ...settingsIn(given.out, record), out: given.out, resume: true };
}

function describe({ options, dataset, norms, seconds, parameters, steps }: RunRecord): string {
  const { objective, gradientNorm, stationarity } = norms as FinalNorms;
  const time = secondsIn(seconds);
  const growth = describeGrowth(norms as FinalNorms);
  const over = describeMeasured(norms as FinalNorms);
  return columns([
    ['run', oneLine(String(options.out))],
    [
      'trained',
      `${String(parameters)} parameters on ${dataset.pairs} pairs, ${String(steps)} steps in ${time.steps.toFixed(1)} s, then ${time.end.toFixed(1)} s ${afterSteps(norms as FinalNorms)}`,
    ],
    ['objective', `${objective.toPrecision(8)} ${over}`],
    ['gradient', `${gradientNorm.toExponential(2)} ${over}`],
    ...(growth === null ? [] : ([['warning', growth]] as [string, string][])),
    ...(stationarity === null
      ? []
      : ([['stationary', describeStationarity(norms as FinalNorms)]] as [string, string][])),
  ]);
}

export const train = defineCommand({
  name: 'train',
  summary: 'train an adapter on a CLIP folder, or a CLIP from scratch, and keep what influence needs',
  example: 'ecif train pairs.csv --model clip-vit-base-patch32 --out run --epochs 5 --to-stationarity 1e-6',
  options: TRAIN_OPTIONS,
  operands: {
    label: 'DATA',
    help: DATA_HELP,
    least: 0,
    most: 1,
  },
  run: (values, context) => {
    const { operands, given: names, progress } = context;
    const given = { ...values, data: operands[0] ?? '' };
    const settings = given.resume ? resumed(given, names) : given;
    requireConsistent(settings);
    if (!given.resume) requireOfUse(settings, names);
    return onDevice(context, async (device) => {
      const record = await runTraining(settings, device, progress, given.resume ? new Set() : names);
      const { stationarity } = record.norms as FinalNorms;
      return { json: record, text: describe(record), ok: stationarity?.reached ?? true };
    });
  },
});
