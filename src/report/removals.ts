// Removals: what the model does before, after the edit, and after training again without the pairs.

import type { NamedRemoval } from './findings.ts';
import { counted, formatNumber, formatPercent, formatSeconds } from './numbers.ts';
import { badge, given, pairLine, type Pictures, scrolled, type Section } from './pieces.ts';
import type { ModelMeasures, RemovalRecord } from './records.ts';

/** Removed pairs that are listed. */
export const LISTED_PAIRS = 12;

/** An edit and retraining often differ in the fourth. */
const LOSS_DIGITS = 5;

interface Line {
  readonly name: string;
  readonly measures: ModelMeasures | null;
  readonly gradient: number | null;
  readonly seconds: number | null;
}

const linesOf = ({ measures, gradient, editSeconds: seconds, retrained }: RemovalRecord): Line[] => [
  { name: 'before', measures: measures?.before ?? null, gradient: gradient.before, seconds: null },
  { name: 'edited', measures: measures?.edited ?? null, gradient: gradient.after, seconds },
  ...(retrained?.onward == null ? [] : [{ name: 'trained on from before', measures: null, ...retrained.onward }]),
  ...(retrained === null
    ? []
    : [{ name: 'retrained', measures: retrained.measures, gradient: retrained.gradient, seconds: retrained.seconds }]),
];

function row({ name, measures, gradient, seconds }: Line): string {
  const cells = [
    formatNumber(measures?.loss ?? null, LOSS_DIGITS),
    formatPercent(measures?.r1 ?? null),
    formatPercent(measures?.r5 ?? null),
    formatPercent(measures?.accuracy ?? null),
    formatNumber(gradient),
    seconds === null ? '–' : formatSeconds(seconds),
  ];
  return `<tr><th scope="row">${name}</th>${cells.map((text) => `<td class="number">${text}</td>`).join('')}</tr>`;
}

/** What the edit is worth, in words. */
function verdict({ measures, moved, retrained }: RemovalRecord): string {
  const first =
    measures === null ? '' : ` To first order the loss would be ${formatNumber(measures.predictedLoss, LOSS_DIGITS)}.`;
  const against =
    retrained === null
      ? ' Not compared with retraining: <code>ecif remove --verify</code> does that.'
      : ` The edit is <strong>${formatNumber(retrained.speedup)}</strong> times as fast as retraining, and <strong>${formatNumber(retrained.error)}</strong> of the way
from retraining to the model before (0 is exact, 1 nothing gained).`;
  return `<p class="outcome">The edit moves the parameters by ${formatNumber(moved)}.${first}${against}</p>`;
}

function removalBlock({ name, record, state }: NamedRemoval, pictures: Pictures): string {
  const { removed, rung, curvature, tolerance } = record;
  const solved = tolerance === null ? '' : `, solved to ${formatNumber(tolerance)}`;
  const listed = removed.slice(0, LISTED_PAIRS);
  const more =
    removed.length > listed.length ? `<p class="minor">The first ${listed.length} of ${removed.length}.</p>` : '';
  const heads = ['', 'Loss', 'R@1', 'R@5', 'Accuracy', '‖∇L‖ after removal', 'Time'];
  const head = heads.map((text, i) => (i === 0 ? '<td></td>' : `<th scope="col" class="number">${text}</th>`)).join('');
  return `<article class="removal" aria-label="removal">
<h3>${given(name, 60)}: ${counted(removed.length, 'pair')} removed</h3>
<p class="badges">${badge(state === 'in force' ? 'good' : 'plain', state)}</p>
<p class="minor">${given(rung, 60)} with ${given(curvature, 120)}${solved}</p>
${scrolled('Before, edited and retrained', `<table class="list measures"><thead><tr>${head}</tr></thead><tbody>${linesOf(record).map(row).join('')}</tbody></table>`)}
${verdict(record)}
<details><summary>Removed pairs</summary><ul class="removed">${listed.map((pair) => `<li>${pairLine(pictures, pair)}</li>`).join('')}</ul>${more}</details>
</article>`;
}

/** Every removal of a run. */
export const removalsSection = (removals: readonly NamedRemoval[], pictures: Pictures): Section => ({
  id: 'removals',
  title: 'Removals',
  html: removals.map((one) => removalBlock(one, pictures)).join('\n'),
});
