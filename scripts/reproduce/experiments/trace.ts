// Experiment 4: mistakes traced to training pairs, counted against chance and against the nearest pictures.

import { withDefaults } from '../../../src/cli/args.ts';
import { readText } from '../../../src/cli/files.ts';
import { runFile } from '../../../src/cli/runs/run-folder.ts';
import { TRACE_OPTIONS, type TraceSettings } from '../../../src/cli/trace/options.ts';
import { runTrace } from '../../../src/cli/trace/run.ts';
import { parseCsv } from '../../../src/data/csv.ts';
import type { TracedQuery } from '../../../src/report/records.ts';
import { type Bench, swapped } from '../bench.ts';
import type { RunAbout } from '../runs.ts';
import { SWAPPED } from '../settings.ts';
import type { Subject } from '../subject.ts';
import type { Experiment } from './experiment.ts';

/** Training pairs that are looked at for each mistake. */
const TOP = 10;
/** Mistakes that are listed with their sources. */
const LISTED = 4;

/** What share of some training pairs is of one kind. */
export interface Shares {
  /** Has a caption of the class, or group, that the picture was taken for. */
  readonly predicted: number;
  /** Has a picture of the true class of the query. */
  readonly truth: number;
  /** Has a wrong caption. */
  readonly planted: number;
}

/** Ways to find the pairs behind a mistake. */
export const SOURCES = ['relative', 'score', 'neighbours', 'chance'] as const;

/** A mistake with its first sources, for a picture. */
export interface TracedMistake {
  readonly id: string;
  readonly caption: string;
  readonly said: string;
  readonly sources: readonly { readonly id: string; readonly caption: string; readonly swapped: boolean }[];
}

/** What the experiment finds. */
export interface Traced {
  readonly base: RunAbout;
  readonly asked: number;
  readonly mistaken: number;
  readonly traced: number;
  readonly shares: Readonly<Record<(typeof SOURCES)[number], Shares>>;
  readonly mistakes: readonly TracedMistake[];
}

/** A training pair as shares count it: class or group of its caption and of its picture. */
interface Counted {
  readonly caption: string;
  readonly picture: string;
  readonly swapped: boolean;
}

/** The training pairs by id. */
function countedOf(subject: Subject): Map<string, Counted> {
  const { rows } = subject.run.dataset;
  const original = originalsOf(subject);
  const groupOfCaption = new Map(rows.map(({ id, label }) => [original.get(id)?.caption, subject.groupOf(id, label)]));
  const grouped = subject.posed.parts.groups !== null;
  return new Map(
    rows.map(({ id, caption, label }, row) => [
      id,
      {
        caption: grouped ? (groupOfCaption.get(caption) ?? '') : (label ?? ''),
        picture: subject.groupOf(id, original.get(id)?.label ?? label),
        swapped: subject.bad?.[row] ?? false,
      },
    ]),
  );
}

/** Caption and label of every pair before any was made wrong. */
function originalsOf({ trained: { folder } }: Subject): Map<string, { caption: string; label: string | null }> {
  const path = runFile(folder, 'truth');
  const [head, ...records] = parseCsv(path, readText(path), ',');
  const [id, caption, label] = ['id', 'original_caption', 'original_label'].map((name) => head.fields.indexOf(name));
  return new Map(
    records.map(({ fields }) => [
      fields[id],
      { caption: fields[caption], label: fields[label] === '' ? null : fields[label] },
    ]),
  );
}

/** Mean shares over lists of pairs, each of one mistake. */
function sharesOf(
  lists: readonly (readonly Counted[])[],
  asked: readonly { predicted: string; truth: string }[],
): Shares {
  const share = (is: (pair: Counted, q: number) => boolean): number =>
    lists.reduce((sum, list, q) => sum + list.filter((pair) => is(pair, q)).length / Math.max(1, list.length), 0) /
    Math.max(1, lists.length);
  return {
    predicted: share(({ caption }, q) => caption === asked[q].predicted),
    truth: share(({ picture }, q) => picture === asked[q].truth),
    planted: share(({ swapped: wrong }) => wrong),
  };
}

/** Mistakes of a model with the pairs against the truth. */
async function traceBy(bench: Bench, subject: Subject, by: TraceSettings['by']) {
  const { device, progress, sizes } = bench;
  const asked = {
    queries: subject.posed.parts.test,
    most: sizes.queries,
    top: TOP,
    by,
    rung: 'none',
    probes: 8,
    ...{ preconditioner: 'none', tolerance: 1e-2 },
  };
  const settings = withDefaults(asked, TRACE_OPTIONS) as unknown as TraceSettings;
  return runTrace(subject.trained.folder, settings, device, progress);
}

export const trace: Experiment<Traced> = {
  number: 4,
  name: 'trace',
  about: 'mistakes traced to training pairs, against chance and the nearest pictures',
  run: async (bench, subjectOf) => {
    const subject = await subjectOf(swapped(SWAPPED));
    const counted = countedOf(subject);
    const all = [...counted.values()];
    const [relative, score] = [await traceBy(bench, subject, 'relative'), await traceBy(bench, subject, 'score')];
    const { queries } = relative;
    const groupOfTest = subject.testGroups();
    const asked = queries.map(({ predictions, caption }) => ({
      predicted: groupOfTest.get(predictions[0].caption) ?? '',
      truth: groupOfTest.get(caption) ?? '',
    }));
    const pairsOf = (ids: readonly string[]): Counted[] => ids.map((id) => counted.get(id) as Counted);
    const sourcesIn = (traced: readonly TracedQuery[]): Counted[][] =>
      traced.map(({ against }) => pairsOf(against.map(({ id }) => id)));
    const near = await subject.nearest(
      queries.map(({ id }) => id),
      TOP,
    );
    return {
      ...{ base: subject.trained.about, asked: relative.asked, mistaken: relative.mistaken, traced: queries.length },
      shares: {
        relative: sharesOf(sourcesIn(queries), asked),
        score: sharesOf(sourcesIn(score.queries), asked),
        neighbours: sharesOf(near.map(pairsOf), asked),
        chance: sharesOf(
          queries.map(() => all),
          asked,
        ),
      },
      mistakes: queries.slice(0, LISTED).map(({ id, caption, predictions, against }) => ({
        ...{ id, caption, said: predictions[0].caption },
        sources: against.map((source) => ({
          id: source.id,
          caption: source.caption,
          swapped: source.swapped ?? false,
        })),
      })),
    };
  },
};
