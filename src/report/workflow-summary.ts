// The head of the report of a run: what was run, the numbers that matter most, how to make it again, what is missing.

import { afterSteps, type Findings, type NamedRemoval } from './findings.ts';
import { escapeHtml } from './html.ts';
import { counted, formatNumber, formatPercent, formatSeconds } from './numbers.ts';
import { given, quoted, type Section } from './pieces.ts';
import type { DetectRecord, TraceRecord } from './records.ts';

/** A number with what it is; the second text is HTML. */
type Headline = readonly [value: string, about: string];

const detectHeadlines = ({ cutoff, truth, method }: DetectRecord): Headline[] => [
  cutoff.flagged === 0
    ? ['0', 'suspected mismatches: no cut-off is proposed']
    : [
        String(cutoff.flagged),
        `suspected mismatches, ${formatPercent(cutoff.expectedPrecision)} of them expected to be true`,
      ],
  ...(truth?.measures.filter(({ name }) => name === method) ?? []).map(({ auroc, top10 }): Headline => [
    formatNumber(auroc),
    `AUROC of suspicion on ${truth?.swapped ?? 0} swapped pairs, ${top10} of the first ten right`,
  ]),
];

const traceHeadline = ({ asked, mistaken, queries }: TraceRecord): Headline => [
  `${mistaken}<span class="minor"> of ${asked}</span>`,
  `queries mistaken; ${queries.length} traced to training pairs`,
];

/** Of the removals that were compared with retraining the one in force, else the one that gains the most time. */
function removalHeadlines(removals: readonly NamedRemoval[]): Headline[] {
  const compared = removals.flatMap(({ state, record: { rung, retrained } }) =>
    retrained === null ? [] : [{ state, rung, ...retrained }],
  );
  if (compared.length === 0) return [];
  const fastest = compared.reduce((best, one) => (one.speedup > best.speedup ? one : best));
  const { rung, speedup, error } = compared.find(({ state }) => state === 'in force') ?? fastest;
  return [
    [
      `${formatNumber(speedup)}×`,
      `as fast as retraining by ${given(rung, 60)}, with ${formatNumber(error)} of its change left to make`,
    ],
  ];
}

/** The numbers that matter most. */
function headlines({ run, detect, trace, removals }: Findings): string {
  const all: Headline[] = [
    [String(run.dataset.pairs), 'training pairs'],
    ...(detect === null ? [] : detectHeadlines(detect)),
    ...(trace === null ? [] : [traceHeadline(trace)]),
    ...removalHeadlines(removals),
    ...(run.norms === null
      ? []
      : ([[formatNumber(run.norms.gradientNorm), 'gradient norm at the end of training']] as const)),
  ];
  return `<ul class="counts">${all.map(([value, about]) => `<li><strong>${value}</strong>${about}</li>`).join('\n')}</ul>`;
}

/** An option as text, where it was given. */
const option = (options: Findings['run']['options'], name: string): string | null => {
  const value = options[name];
  return typeof value === 'string' && value !== '' ? value : null;
};

function facts({ name, run, commands }: Findings): string {
  const { options, parameters, steps, seconds, norms, versions } = run;
  const model = option(options, 'model') ?? option(options, 'from-scratch');
  const trained = [
    ...(parameters === null ? [] : [counted(parameters, 'parameter')]),
    ...(steps === null
      ? []
      : [`${counted(steps, 'step')}${seconds === null ? '' : ` in ${formatSeconds(seconds.steps)}`}`]),
    ...(seconds === null || norms === null ? [] : [`then ${formatSeconds(seconds.end)} ${afterSteps(norms)}`]),
  ];
  const settled =
    norms === null || norms.stationarity === null
      ? ''
      : `, ${norms.stationarity.reached ? 'stationary' : 'NOT stationary'} to ${formatNumber(norms.stationarity.tolerance)}`;
  const rows: (readonly [string, string | null])[] = [
    ['Run', given(name)],
    ['Pairs', option(options, 'data') === null ? null : given(option(options, 'data') as string)],
    ['Model', model === null ? null : given(model)],
    ['Device', given(run.device)],
    ['Trained', trained.length === 0 ? null : trained.join(', ')],
    [
      'Objective',
      norms === null
        ? null
        : `${formatNumber(norms.objective)}, gradient ${formatNumber(norms.gradientNorm)}${settled}`,
    ],
    ['Versions', versions === null ? null : versionsText(versions)],
    ['Again', `<pre tabindex="0"><code>${commands.map(escapeHtml).join('\n')}</code></pre>`],
  ];
  return `<dl class="facts">${rows.map(([term, html]) => (html === null ? '' : `<dt>${term}</dt><dd>${html}</dd>`)).join('\n')}</dl>`;
}

const versionsText = (versions: Readonly<Record<string, unknown>>): string =>
  given(
    Object.entries(versions)
      .map(([name, version]) => `${name} ${typeof version === 'string' ? version : 'none'}`)
      .join(', '),
  );

/** What a section needs, and what makes it. */
export interface Missing {
  readonly what: string;
  readonly file: string;
  readonly command: string;
}

/** The parts that a run folder does not hold. */
export function missingOf({ log, scores, detect, trace, removals, curves, predicted }: Findings): Missing[] {
  const parts: (readonly [boolean, Missing])[] = [
    [log === null, { what: 'training curve', file: 'log.jsonl', command: 'ecif train' }],
    [scores === null, { what: 'influence', file: 'scores.parquet.json', command: 'ecif score' }],
    [detect === null, { what: 'suspects', file: 'detect.json', command: 'ecif detect' }],
    [trace === null, { what: 'traced predictions', file: 'trace.json', command: 'ecif trace' }],
    [removals.length === 0, { what: 'removals', file: 'removals/*/removal.json', command: 'ecif remove' }],
    [
      curves === null && predicted === null,
      { what: 'removal curves and predictions beside retraining', file: 'curves.json', command: 'ecif curves' },
    ],
  ];
  return parts.flatMap(([absent, part]) => (absent ? [part] : []));
}

const missingList = (missing: readonly Missing[]): string =>
  missing.length === 0
    ? ''
    : `<ul class="missing">${missing
        .map(
          ({ what, file, command }) =>
            `<li>Not here: ${what}. <code>${command}</code> makes <code>${escapeHtml(file)}</code>.</li>`,
        )
        .join('')}</ul>`;

/** The head of the page. */
export function header(findings: Findings): string {
  const { run, detect } = findings;
  const state =
    run.status === 'done' ? '' : ` <strong>The training run is not finished: ${given(run.status, 40)}.</strong>`;
  const first = detect?.suspects[0];
  const suspect = first === undefined ? '' : ` The most suspicious is ${quoted(first.caption, 80)}.`;
  return `<header>
<p class="eyebrow">ecif report</p>
<h1>What each pair did to the model</h1>
<p class="lead">${counted(run.dataset.pairs, 'image–text pair')}, and how each of them shaped the model that was trained on them.${suspect}${state}</p>
</header>`;
}

/** What was run and what was found. */
export const summarySection = (findings: Findings): Section => ({
  id: 'summary',
  title: 'Summary',
  html: `${headlines(findings)}\n${facts(findings)}\n${missingList(missingOf(findings))}`,
});
