// The most harmful and the most valuable pairs by their scores.

import type { Scored, ScoredPair } from './findings.ts';
import { counted, formatNumber, formatSeconds } from './numbers.ts';
import { bar, given, pairLine, type Pictures, type Section } from './pieces.ts';

/** Targets whose ends are shown, and pairs at either end. */
const TARGETS = 6;
export const ENDS = 10;

/** One end, its bars as long as the scores beside the largest of either end. */
function endList(pictures: Pictures, pairs: readonly ScoredPair[], tone: 'bad' | 'good', largest: number): string {
  const lines = pairs.slice(0, ENDS).map(
    (pair) => `<li>${pairLine(pictures, pair)}
<span class="measured">${bar(Math.abs(pair.score) / largest, tone)}<span>${formatNumber(pair.score)}</span></span>${
      pair.flag === null ? '' : ` <span class="minor">${given(pair.flag, 40)}</span>`
    }</li>`,
  );
  return `<ol class="sources">${lines.join('')}</ol>`;
}

function targetBlock(pictures: Pictures, { target, harmful, valuable }: Scored['ends'][number]): string {
  const largest = Math.max(...[...harmful, ...valuable].map(({ score }) => Math.abs(score)), 0) || 1;
  return `<h3>On the loss of ${given(target, 60)}</h3>
<div class="behind"><div><h4>Most harmful</h4>${endList(pictures, harmful, 'bad', largest)}</div>
<div><h4>Most valuable</h4>${endList(pictures, valuable, 'good', largest)}</div></div>`;
}

/** The ends of every target, and how the scores were made. */
export function influenceSection(scores: Scored, pictures: Pictures): Section {
  const { curvature, gradientNorm, partitions, seconds, targets, ends } = scores;
  const more = ends.length > TARGETS ? `<p class="minor">The first ${TARGETS} of ${ends.length} targets.</p>` : '';
  const damped = curvature.damping > 0 ? ` + ${formatNumber(curvature.damping)}` : '';
  return {
    id: 'influence',
    title: 'Influence',
    html: `<p class="intro">The predicted change of the evaluation loss if a pair is removed: positive, it is valuable; negative, harmful.
By ${given(curvature.method, 40)} on the ${given(curvature.curvature, 40)}, δ ${formatNumber(curvature.l2)}${damped}, over ${counted(partitions, 'partition')} and ${counted(targets.length, 'target')}, at a gradient of ${formatNumber(gradientNorm)};
${formatSeconds(seconds.solve)} for the solves, ${formatSeconds(seconds.sweep)} for the sweep.</p>
${ends
  .slice(0, TARGETS)
  .map((end) => targetBlock(pictures, end))
  .join('\n')}${more}`,
  };
}
