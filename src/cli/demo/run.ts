// The demo's story: train on swapped captions, score, detect, trace a mistake, remove what is harmful, train again.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseCsv } from '../../data/csv.ts';
import type { Device } from '../../device/open.ts';
import type { Findings } from '../../report/findings.ts';
import type { CurvesRecord, ModelMeasures, RemovalRecord, TracedQuery } from '../../report/records.ts';
import { type OptionSpecs, type OptionValue, withDefaults } from '../args.ts';
import { CURVES_OPTIONS, type CurvesSettings } from '../curves/options.ts';
import { runCurves } from '../curves/run.ts';
import { choosePairs, drawDemo } from './data.ts';
import { openDemo } from './folder.ts';
import { type DemoSettings, endingCommands, findingCommands, placesIn, RUNGS_SHOWN } from './settings.ts';
import { DETECT_OPTIONS, type DetectSettings } from '../detect/options.ts';
import { runDetection } from '../detect/run.ts';
import { readEdit } from '../remove/edits.ts';
import type { Evaluation } from '../evaluate/run.ts';
import { EVALUATE_OPTIONS, runEvaluation } from '../evaluate/command.ts';
import { readText, writeText } from '../files.ts';
import { recallOf } from '../evaluate/measures.ts';
import type { Progress } from '../progress.ts';
import { REMOVE_OPTIONS, type RemoveSettings } from '../remove/options.ts';
import { runRemoval } from '../remove/run.ts';
import { commandLine, readFindings } from '../report/run.ts';
import { writeReport } from '../report/command.ts';
import { curvesRecordPath, readRun, runFile } from '../runs/run-folder.ts';
import { SCORE_OPTIONS, type ScoreSettings } from '../score/options.ts';
import { runScoring } from '../score/run.ts';
import { TRACE_OPTIONS, type TraceSettings } from '../trace/options.ts';
import { runTrace } from '../trace/run.ts';
import { TRAIN_OPTIONS, type TrainSettings } from '../train/options.ts';
import { runTraining } from '../train/run.ts';

/** A demo that is asked for. */
export interface DemoAsked {
  /** Folder to write, or to go on in. */
  readonly out: string;
  /** CLIP folder. */
  readonly model: string;
  readonly seed: number;
  readonly settings: DemoSettings;
  readonly fresh: boolean;
}

/** An edit beside training again. */
export interface DemoEdit {
  readonly rung: string;
  readonly seconds: number;
  /** Seconds of training again over those of the edit. */
  readonly speedup: number;
  readonly measures: ModelMeasures;
  /** ‖edited − retrained‖/‖θ̂ − retrained‖: 0 exact, 1 nothing gained. */
  readonly error: number;
}

/** What the demo found. */
export interface DemoResult {
  readonly out: string;
  readonly seed: number;
  readonly device: string;
  readonly settings: DemoSettings;
  /** Command lines that do the same: evaluate, train, score, detect, trace, a removal by its rung, curves, report. */
  readonly commands: Readonly<Record<string, string>>;
  readonly trained: {
    readonly pairs: number;
    readonly swapped: number;
    readonly parameters: number;
    readonly seconds: number;
    /** ‖∇L(θ̂)‖ */
    readonly gradient: number;
  };
  readonly detected: {
    readonly by: string;
    readonly flagged: number;
    readonly expectedPrecision: number;
    /** Share of the flagged pairs that are swapped; null where none is flagged. */
    readonly precision: number | null;
    readonly scores: readonly { readonly name: string; readonly auroc: number; readonly auprc: number }[];
  };
  readonly traced: { readonly asked: number; readonly mistaken: number; readonly query: TracedQuery | null };
  readonly removed: {
    readonly pairs: number;
    /** How many of them are swapped. */
    readonly swapped: number;
    /** Recall of the model that training started from. */
    readonly start: Pick<ModelMeasures, 'r1' | 'r5'>;
    /** The model trained on all pairs. */
    readonly before: ModelMeasures;
    readonly edits: readonly DemoEdit[];
    readonly again: {
      readonly seconds: number;
      readonly gradient: number;
      readonly measures: ModelMeasures;
      /** Seconds of training on from θ̂ instead of from the start. */
      readonly onward: number | null;
    };
  };
  /** Training again without more and more pairs. */
  readonly curves: Pick<CurvesRecord, 'before' | 'groups' | 'correlations'>;
  /** The page. */
  readonly report: string;
}

/** Settings of a command from the options that its printed line has. */
const settingsFor = <T>(options: Readonly<Record<string, OptionValue>>, specs: OptionSpecs): T =>
  withDefaults(options, specs) as T;

/** Tells of a step and takes it, unless it is done. */
async function step(line: string, done: boolean, progress: Progress, take: () => Promise<unknown>): Promise<string> {
  progress.line(`${done ? 'done before' : '$'} ${line}`);
  if (!done) await take();
  return line;
}

/** The steps up to the trace. */
async function find(asked: DemoAsked, device: Device, progress: Progress): Promise<Record<string, string>> {
  const places = placesIn(asked.out, asked.model);
  const { run } = places;
  const { evaluate, train, score, detect, trace } = findingCommands(places, asked.settings, asked.seed);
  const there = (name: string): boolean => existsSync(join(run, name));
  const begun = existsSync(runFile(run, 'run'));
  const start = join(asked.out, 'start.json');
  return {
    evaluate: await step(commandLine('evaluate', evaluate), existsSync(start), progress, async () => {
      const found = await runEvaluation(evaluate.data, settingsFor(evaluate, EVALUATE_OPTIONS), device, progress);
      writeText(start, `${JSON.stringify(found, null, 2)}\n`);
    }),
    train: await step(commandLine('train', train), begun && readRun(run).status === 'done', progress, () =>
      runTraining(
        { ...settingsFor<TrainSettings>(train, TRAIN_OPTIONS), data: train.data, resume: begun },
        device,
        progress,
      ),
    ),
    score: await step(commandLine('score', score), there('scores.parquet.json'), progress, () =>
      runScoring(run, settingsFor<ScoreSettings>(score, SCORE_OPTIONS), device, progress),
    ),
    detect: await step(commandLine('detect', detect), there('detect.json'), progress, () =>
      runDetection(run, settingsFor<DetectSettings>(detect, DETECT_OPTIONS), device, progress),
    ),
    trace: await step(commandLine('trace', trace), there('trace.json'), progress, () =>
      runTrace(run, settingsFor<TraceSettings>(trace, TRACE_OPTIONS), device, progress),
    ),
  };
}

/** The steps after it. */
async function end(asked: DemoAsked, device: Device, progress: Progress): Promise<Record<string, string>> {
  const places = placesIn(asked.out, asked.model);
  const { run } = places;
  const flagged = readFindings(run).detect?.cutoff.flagged ?? 0;
  const commands = endingCommands(places, asked.settings, { flagged, seed: asked.seed });
  const lines: Record<string, string> = {};
  for (const rung of RUNGS_SHOWN) {
    const done = (readEdit(commands[rung].out)?.retrained ?? null) !== null;
    lines[rung] = await step(commandLine('remove', commands[rung]), done, progress, () =>
      runRemoval(run, settingsFor<RemoveSettings>(commands[rung], REMOVE_OPTIONS), device, progress),
    );
  }
  const { curves } = commands;
  lines.curves = await step(commandLine('curves', curves), existsSync(curvesRecordPath(run)), progress, () =>
    runCurves(run, settingsFor<CurvesSettings>(curves, CURVES_OPTIONS), device, progress),
  );
  const report = commandLine('report', commands.report);
  return { ...lines, report: await step(report, false, progress, () => writeReport(run, undefined, progress)) };
}

/** Ids that a column of a table of the run says yes to. */
function idsWith(run: string, file: string, column: string): Set<string> {
  const path = join(run, file);
  const [head, ...rows] = parseCsv(path, readFileSync(path, 'utf8'), ',');
  const [id, at] = ['id', column].map((name) => head.fields.indexOf(name));
  return new Set(rows.filter(({ fields }) => fields[at] === 'yes').map(({ fields }) => fields[id]));
}

/** A removal that was verified. */
type Verified = RemovalRecord & {
  readonly measures: NonNullable<RemovalRecord['measures']>;
  readonly retrained: NonNullable<RemovalRecord['retrained']> & { readonly measures: ModelMeasures };
};

/** What the removals did. */
function removedIn(asked: DemoAsked, { removals }: Findings, swapped: ReadonlySet<string>): DemoResult['removed'] {
  const shown = RUNGS_SHOWN.map((rung) => removals.find(({ name }) => name === rung)?.record as Verified);
  const [{ removed, measures, retrained }] = shown;
  const start = JSON.parse(readText(join(asked.out, 'start.json'))) as Evaluation;
  return {
    pairs: removed.length,
    swapped: removed.filter(({ id }) => swapped.has(id)).length,
    start: { r1: recallOf(start, 'r1'), r5: recallOf(start, 'r5') },
    before: measures.before,
    edits: shown.map(({ rung, editSeconds: seconds, measures: { edited }, retrained: { speedup, error } }) => ({
      ...{ rung, seconds, speedup, measures: edited, error },
    })),
    again: {
      ...{ seconds: retrained.seconds, gradient: retrained.gradient, measures: retrained.measures },
      onward: retrained.onward?.seconds ?? null,
    },
  };
}

/** What the folder says, once all is done. */
function resultOf(asked: DemoAsked, commands: DemoResult['commands']): DemoResult {
  const { run } = placesIn(asked.out, asked.model);
  const findings = readFindings(run);
  const { detect, trace } = findings as Findings & { detect: NonNullable<Findings['detect']> };
  const { dataset, parameters, seconds, norms, device } = findings.run;
  const [swapped, flagged] = [idsWith(run, 'truth.csv', 'swapped'), idsWith(run, 'detect.csv', 'flagged')];
  const { cutoff, method: by, truth } = detect;
  const { before, groups, correlations } = JSON.parse(readText(curvesRecordPath(run))) as CurvesRecord;
  return {
    ...{ out: asked.out, seed: asked.seed, device, settings: asked.settings, commands },
    trained: {
      ...{ pairs: dataset.pairs, swapped: swapped.size, parameters: parameters ?? 0 },
      ...{ seconds: (seconds?.steps ?? 0) + (seconds?.end ?? 0), gradient: norms?.gradientNorm ?? 0 },
    },
    detected: {
      ...{ by, flagged: cutoff.flagged, expectedPrecision: cutoff.expectedPrecision },
      precision: flagged.size === 0 ? null : [...flagged].filter((id) => swapped.has(id)).length / flagged.size,
      scores: (truth?.measures ?? []).map(({ name, auroc, auprc }) => ({ name, auroc, auprc })),
    },
    traced: { asked: trace?.asked ?? 0, mistaken: trace?.mistaken ?? 0, query: trace?.queries[0] ?? null },
    removed: removedIn(asked, findings, swapped),
    curves: { before, groups, correlations },
    report: join(run, 'report.html'),
  };
}

/**
 * Runs the demo, or goes on with one that was killed; of one that is done only the page is written again.
 * @returns what the files of its folder say
 */
export async function runDemo(asked: DemoAsked, device: Device, progress: Progress): Promise<DemoResult> {
  const { out, model, seed, settings, fresh } = asked;
  const chosen = await choosePairs(settings, seed);
  openDemo(out, { seed, device: device.kind, settings }, fresh);
  await drawDemo(placesIn(out, model), chosen);
  const found = await find(asked, device, progress);
  return resultOf(asked, { ...found, ...(await end(asked, device, progress)) });
}
