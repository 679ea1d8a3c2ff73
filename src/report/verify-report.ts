// The report of `ecif verify`: what was run, every claim with its verdict and errors, the figures.

import type { Verdict } from '../verify/claim.ts';
import type { ClaimResult, Figure, VerifyResult } from '../verify/result.ts';
import { figureBlock } from './figure.ts';
import { escapeHtml, page, slug } from './html.ts';
import { counted, formatNumber } from './numbers.ts';

/** How each verdict is shown and explained. */
const VERDICTS: Record<Verdict, { tone: 'good' | 'part' | 'bad'; mark: string; meaning: string }> = {
  holds: {
    tone: 'good',
    mark: '✓',
    meaning: 'The printed form is right on every instance: its worst error is within the tolerance.',
  },
  'holds as corrected': {
    tone: 'part',
    mark: '≈',
    meaning: 'The printed form is wrong on some instance; the corrected form is right on every one.',
  },
  'fails as printed': {
    tone: 'bad',
    mark: '✗',
    meaning: 'The printed form is wrong on some instance, and no corrected form is within the tolerance.',
  },
};

const ORDER: readonly Verdict[] = ['holds', 'holds as corrected', 'fails as printed'];

const badge = (verdict: Verdict): string =>
  `<span class="badge ${VERDICTS[verdict].tone}">${VERDICTS[verdict].mark} ${verdict}</span>`;

/** The command line that gives this report again. */
const commandOf = ({ device, seed, instances }: VerifyResult): string =>
  `ecif verify --device ${device.startsWith('webgpu') ? 'webgpu' : 'cpu'} --seed ${seed} --instances ${instances}`;

const TITLE = 'The paper’s claims, put to the test';

function header(result: VerifyResult, versions: Record<string, string>): string {
  const { claims, device, seed, instances } = result;
  const surprises = claims.filter((c) => !c.agrees).length;
  const list = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return `<header>
<p class="eyebrow">ecif verify</p>
<h1>${TITLE}</h1>
<p class="lead">Influence functions of contrastive models: ${counted(claims.length, 'claim')} computed as printed and as
corrected, on random instances, beside retraining and finite differences in float64.
${surprises === 0 ? 'Every verdict is the expected one.' : `<strong>${counted(surprises, 'verdict is', 'verdicts are')} not as expected.</strong>`}</p>
<dl class="facts">
<dt>Device</dt><dd>${escapeHtml(device)}</dd>
<dt>Seed</dt><dd>${seed}</dd>
<dt>Instances</dt><dd>${instances} for each claim</dd>
<dt>Versions</dt><dd>${escapeHtml(list.join(', ')) || '–'}</dd>
<dt>Again</dt><dd><pre><code>${escapeHtml(commandOf(result))}</code></pre></dd>
</dl>
</header>`;
}

function counts(claims: readonly ClaimResult[]): string {
  const items = ORDER.map((verdict) => {
    const n = claims.filter((c) => c.verdict === verdict).length;
    return `<li><strong>${n}</strong>${badge(verdict)}</li>`;
  });
  const agreeing = claims.filter((c) => c.agrees).length;
  return `<ul class="counts">
${items.join('\n')}
<li><strong>${agreeing}<span class="minor"> of ${claims.length}</span></strong>as expected</li>
</ul>`;
}

const READING = `<h2 id="reading">How to read this</h2>
<dl class="reading">
${ORDER.map((v) => `<div><dt>${badge(v)}</dt><dd>${VERDICTS[v].meaning}</dd></div>`).join('\n')}
<div><dt>Errors</dt><dd>Worst over all instances (the median where it says so), relative to the true value: 0 is exact, 1 as far off as doing nothing, ∞ not finite. The
truth is retraining or a derivative in float64.</dd></div>
<div><dt>Control</dt><dd>An answer that is wrong on purpose. A measure that does not see it proves nothing, so a claim whose control
is within the tolerance is not as expected.</dd></div>
<div><dt>Counterexample</dt><dd>The smallest instance found on which the printed form fails: texts x, images y, temperature τ, weight
decay δ and the pairs that are removed.</dd></div>
</dl>`;

/** Behind a click: the counterexample, and by what the errors were judged. */
function more({ counterexample, tolerance, worst: { control } }: ClaimResult): string {
  const judged = `Tolerance ${formatNumber(tolerance)}${control === null ? '' : `; the control is off by ${formatNumber(control)}`}.`;
  const text = counterexample === null ? '' : `<p>${escapeHtml(counterexample)}</p>`;
  const summary = counterexample === null ? 'Measure' : 'Counterexample';
  return `<details><summary>${summary}</summary>${text}<p class="minor">${judged}</p></details>`;
}

function row(claim: ClaimResult): string {
  const { id, place, symbol, statement, correction, erratum, verdict, expected, agrees, instances, tolerance, worst } =
    claim;
  const error = (label: string, value: number | null): string =>
    `<td class="number${value !== null && !(value <= tolerance) ? ' over' : ''}" data-label="${label}">${formatNumber(value)}</td>`;
  const surprise = verdict === expected ? 'the control was not seen' : `expected: ${expected}`;
  return `<tr id="${slug(id)}">
<td><p><a class="anchor" href="#${slug(id)}">${escapeHtml(id)}</a></p><p class="minor">${escapeHtml(place)}</p><p class="minor symbol">${escapeHtml(symbol)}</p></td>
<td><p>${escapeHtml(statement)}</p>${correction === null ? '' : `<p class="instead"><span class="minor">Instead:</span> ${escapeHtml(correction)}</p>`}${more(claim)}</td>
<td>${badge(verdict)}${erratum === null ? '' : `<p class="minor">erratum ${erratum}</p>`}${agrees ? '' : `<p class="surprise">${surprise}</p>`}</td>
${error('error, printed', worst.printed)}
${error('error, corrected', worst.corrected)}
<td class="number" data-label="instances">${instances}${claim.byMedian ? ', median' : ''}</td>
</tr>`;
}

const table = (claims: readonly ClaimResult[]): string => `<h2 id="claims">Claims</h2>
<table class="claims">
<colgroup><col class="id"><col><col class="verdict"><col class="error"><col class="error"><col class="count"></colgroup>
<thead><tr><th scope="col">Claim</th><th scope="col">Statement</th><th scope="col">Verdict</th>
<th scope="col" class="number">Error, printed</th><th scope="col" class="number">Error, corrected</th><th scope="col" class="number">Instances</th></tr></thead>
<tbody>
${claims.map(row).join('\n')}
</tbody>
</table>`;

const figures = (all: readonly Figure[]): string =>
  all.length === 0
    ? ''
    : `<h2 id="figures">Figures</h2>\n<div class="figures">\n${all.map((figure, i) => figureBlock(figure, `${i + 1}. `)).join('\n')}\n</div>`;

/**
 * The report of a run as one HTML document that needs nothing else: no script, no network.
 * @param versions names and versions of the programs that were used
 * @example writeFileSync('report.html', verifyReport(result, { ecif: '0.1.0' }));
 */
export const verifyReport = (result: VerifyResult, versions: Record<string, string>): string =>
  page({
    title: `${TITLE} – ecif verify`,
    body: `${header(result, versions)}
<main>
${counts(result.claims)}
${READING}
${table(result.claims)}
${figures(result.figures)}
</main>
<footer>Made by ecif on ${escapeHtml(result.device)}. The page is complete in itself: it loads nothing and runs no script.</footer>`,
  });
