// docs/results.md, made of the cells and of notes that people write.

import { EcifError } from '../../src/array/errors.ts';
import { EXPERIMENTS } from './experiments/index.ts';
import { PAPER_SAYS } from './paper.ts';
import type { Results } from './results.ts';
import {
  baselinesSection,
  curvesSection,
  detectionSection,
  humanSection,
  modelsSection,
  severalSection,
  traceSection,
  utilitySection,
} from './sections.ts';
import { tableOf } from './markdown.ts';

const TITLES: readonly (readonly [title: string, section: (results: Results) => string])[] = [
  ['Utility and efficiency: a tenth removed', utilitySection],
  ['Valuable and harmful pairs left out', curvesSection],
  ['Misaligned pairs found', detectionSection],
  ['Mistakes traced', traceSection],
  ['Methods: the least valuable tenth left out', baselinesSection],
  ['Several pairs removed', severalSection],
  ['Labels that people gave', humanSection],
];

/** Words of people by the name of their section: `intro`, `models`, `1` to `7`. */
function notesIn(text: string): Map<string, string> {
  const parts = text.split(/^<!-- (\w+) -->$/m);
  return new Map(Array.from({ length: (parts.length - 1) / 2 }, (_, i) => [parts[2 * i + 1], parts[2 * i + 2].trim()]));
}

/** Where the numbers come from. */
function madeSection({ version, device, settings, cells }: Results): string {
  const minutes = (some: readonly { seconds: number }[]): string =>
    (some.reduce((sum, { seconds }) => sum + seconds, 0) / 60).toFixed(1);
  const rows = EXPERIMENTS.flatMap(({ number, about }) => {
    const of = cells.filter(({ experiment }) => experiment === number);
    return of.length === 0 ? [] : [[`${number}. ${about}`, String(of.length), minutes(of)]];
  });
  return [
    `Version ${version}, on ${device}; ${minutes(cells)} minutes in all. Standard deviations are over seeds; time is that of one process.`,
    tableOf(['experiment', 'cells', 'minutes'], rows),
    ...Object.entries(settings).map(([name, { recipe }]) => {
      const told = Object.entries(recipe as Record<string, unknown>).map(([key, value]) => `${key} ${String(value)}`);
      return `${name}: \`${told.join(', ')}\``;
    }),
    'Every number is in [`results/cells.json`](results/cells.json), where each trained model has the path of its run folder and the SHA-256 of its `run.json`; `npm run reproduce -- --page` makes this page of it.',
  ].join('\n\n');
}

/**
 * The page.
 * @param notes text of `docs/results/notes.md`
 * @param panels names of pictures of traced mistakes
 * @throws EcifError for notes without an introduction
 */
export function pageOf(results: Results, notes: string, panels: readonly string[]): string {
  const said = notesIn(notes);
  const intro = said.get('intro');
  if (intro === undefined) throw new EcifError('docs/results/notes.md: no <!-- intro -->; write one');
  const note = (name: string): string[] => [said.get(name) ?? ''].filter((text) => text !== '');
  const sections = TITLES.flatMap(([title, section], i) => {
    const number = i + 1;
    const body = section(results);
    if (body === '') return [];
    const pictures = number === 4 ? panels.map((name) => `![Mistakes and the pairs behind them](results/${name})`) : [];
    const paper = PAPER_SAYS[number];
    return [
      `## ${number}. ${title}`,
      ...note(String(number)),
      body,
      ...pictures,
      ...(paper === undefined ? [] : [paper]),
    ];
  });
  return `${['# The experiments of the paper, in miniature', intro, '## The models', modelsSection(results), ...note('models'), ...sections, '## How it was made', madeSection(results)].join('\n\n')}\n`;
}
