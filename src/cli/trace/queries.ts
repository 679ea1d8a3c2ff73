// Queries of a dataset: their pictures against its classes or captions, and which of them are to be traced.

import { captionOf, type Dataset } from '../../data/dataset.ts';
import type { Answer, Question } from '../../ecif/questions.ts';
import { UsageError } from '../args.ts';
import { rowsOfIds, splitIds } from '../runs/pair-ids.ts';
import type { TraceSettings } from './options.ts';

/** A dataset as questions. */
export interface QuerySet {
  /** The pairs, and after them a pair for each class where the candidates are classes. */
  readonly dataset: Dataset;
  /** Rows whose captions are the candidates. */
  readonly candidates: Uint32Array;
  /** One for each pair. */
  readonly questions: readonly Question[];
}

/** The first row of each value, and the number of the value of every row. */
function firsts(values: readonly string[]): { rows: number[]; numbers: number[] } {
  const known = new Map<string, number>();
  const rows: number[] = [];
  const numbers = values.map((value, row) => {
    if (!known.has(value)) known.set(value, rows.push(row) - 1);
    return known.get(value) as number;
  });
  return { rows, numbers };
}

/**
 * Pictures against the captions of a dataset, each counted once, or against its classes by a template.
 * @throws UsageError where there are no classes, or only one candidate
 */
export function querySet(dataset: Dataset, against: TraceSettings['against'], template: string): QuerySet {
  const { rows, source } = dataset;
  const labelled = rows.every(({ label }) => label !== null);
  if (against === 'classes' && !labelled) {
    throw new UsageError(`${source}: a pair without a label; add a column label, or give --against captions`);
  }
  const classes = labelled && against !== 'captions';
  const found = firsts(rows.map(({ label, caption }) => (classes ? (label as string) : caption)));
  if (found.rows.length < 2) {
    throw new UsageError(`${source}: one ${classes ? 'class' : 'caption'} to choose from; give two or more`);
  }
  const questions = found.numbers.map((truth, row) => ({ row, truth }));
  if (!classes) return { dataset, candidates: Uint32Array.from(found.rows), questions };
  const prompts = found.rows.map((row) => ({
    ...rows[row],
    caption: captionOf(template, rows[row].label as string),
  }));
  return {
    dataset: { ...dataset, rows: [...rows, ...prompts] },
    candidates: Uint32Array.from(prompts, (_, i) => rows.length + i),
    questions,
  };
}

/**
 * Which questions are traced: those that are named, the mistaken ones, or all; the largest loss first.
 * @throws UsageError for an id that is no query
 */
export function chooseQueries(
  dataset: Dataset,
  answers: readonly Answer[],
  { ids, all, most }: Pick<TraceSettings, 'ids' | 'all' | 'most'>,
): number[] {
  const among = ids === undefined ? [...answers.keys()] : rowsOfIds(splitIds(ids), dataset);
  if (among.length === 0) throw new UsageError('trace: no query is named; give --ids one or more');
  return among
    .filter((q) => all || ids !== undefined || answers[q].mistaken)
    .toSorted((a, b) => answers[b].loss - answers[a].loss || a - b)
    .slice(0, most);
}
