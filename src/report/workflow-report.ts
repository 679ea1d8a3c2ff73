// The report of a run: suspects, the batch of the first, detection, influence, traced predictions, removals, training.

import { batchSection, detectionSection } from './detection.ts';
import { figureBlock } from './figure.ts';
import type { Findings } from './findings.ts';
import { page, pageScript } from './html.ts';
import { ENDS, influenceSection } from './influence-ends.ts';
import { isInline, navigation, type PictureOf, type Pictures, type Section, sectionHtml } from './pieces.ts';
import { LISTED_PAIRS, removalsSection } from './removals.ts';
import { settingsSection } from './settings.ts';
import { SORT_SCRIPT } from './sort-script.ts';
import { CARDS, negativesOf, suspectsSection } from './suspects.ts';
import { QUERIES, SOURCES, traceSection } from './trace-panels.ts';
import { curvesFigure, lossFigure, predictedFigure } from './workflow-figures.ts';
import { WORKFLOW_STYLE } from './workflow-style.ts';
import { header, summarySection } from './workflow-summary.ts';

/** Pictures of a page at most, and letters of the address of each. */
const MOST_PICTURES = 600;
const MOST_LETTERS = 32_768;

/** Gives the small picture of a pair as a data: address, null where there is none. */
export type ThumbnailOf = (id: string, of: PictureOf) => Promise<string | null>;

/** Ids of the pairs whose pictures are shown, the most important first. */
function shownIds({ detect, trace, scores, removals }: Findings): Record<PictureOf, string[]> {
  const suspects = detect?.suspects ?? [];
  const cards = suspects.slice(0, CARDS);
  const queries = trace?.queries.slice(0, QUERIES) ?? [];
  const training = [
    ...cards,
    ...queries.flatMap((query) => [...query.against.slice(0, SOURCES), ...query.for.slice(0, SOURCES)]),
    ...cards.flatMap((pair) => [pair.otherPicture, ...negativesOf(pair, 'caption')]),
    ...(scores?.ends ?? []).flatMap(({ harmful, valuable }) => [...harmful.slice(0, ENDS), ...valuable.slice(0, ENDS)]),
    ...removals.flatMap(({ record }) => record.removed.slice(0, LISTED_PAIRS)),
    ...(detect?.batch?.pairs ?? []),
    ...suspects,
  ];
  return { query: queries.map(({ id }) => id), training: training.map(({ id }) => id) };
}

/** The pictures of a page, as many as it may hold. */
async function picturesOf(findings: Findings, thumbnail: ThumbnailOf): Promise<Pictures> {
  const wanted = shownIds(findings);
  const read = async (of: PictureOf): Promise<ReadonlyMap<string, string>> => {
    const found = new Map<string, string>();
    for (const id of [...new Set(wanted[of])].slice(0, MOST_PICTURES)) {
      const address = await thumbnail(id, of);
      if (address !== null && address.length <= MOST_LETTERS && isInline(address)) found.set(id, address);
    }
    return found;
  };
  return { query: await read('query'), training: await read('training') };
}

/** The figures of retraining, removal and training, those that there are. */
function figuresSection({ predicted, curves, log }: Findings): Section | null {
  const figures = [
    ...(predicted === null ? [] : [predictedFigure(predicted)]),
    ...(curves === null ? [] : [curvesFigure(curves)]),
    ...(log === null || log.length === 0 ? [] : [lossFigure(log)]),
  ];
  if (figures.length === 0) return null;
  const title = figures.length === 1 && figures[0].id === 'loss' ? 'Training' : 'Figures';
  const blocks = figures.map((figure) => figureBlock(figure));
  return { id: 'figures', title, html: `<div class="figures">\n${blocks.join('\n')}\n</div>` };
}

/**
 * The report of a run as one HTML document that needs nothing else: no network, and no script but the one that sorts
 * its tables.
 * @example writeFileSync('report.html', await workflowReport(findings, async () => null));
 */
export async function workflowReport(findings: Findings, thumbnail: ThumbnailOf): Promise<string> {
  const { detect, trace, scores, removals } = findings;
  const pictures = await picturesOf(findings, thumbnail);
  const sections = [
    summarySection(findings),
    ...(detect === null
      ? []
      : [suspectsSection(detect, pictures), batchSection(detect, pictures), detectionSection(detect)]),
    scores === null ? null : influenceSection(scores, pictures),
    trace === null ? null : traceSection(trace, pictures),
    removals.length === 0 ? null : removalsSection(removals, pictures),
    figuresSection(findings),
    settingsSection(findings),
  ].filter((found) => found !== null);
  return page({
    title: `${findings.name} – ecif report`,
    style: WORKFLOW_STYLE,
    script: await pageScript(SORT_SCRIPT),
    body: `<a class="skip" href="#main">Skip to the report</a>
${header(findings)}
${navigation(sections)}
<main id="main" tabindex="-1">
${sections.map(sectionHtml).join('\n')}
</main>
<footer>Made by ecif. The page is complete in itself: it loads nothing, and its one script sorts the tables.</footer>`,
  });
}
