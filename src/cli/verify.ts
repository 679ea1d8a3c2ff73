// ecif verify: every claim of the paper on random instances, with a verdict each and a report.

import { oneLine } from '../array/messages.ts';
import { figuresOf } from '../verify/figures.ts';
import { CLAIMS } from '../verify/claims/index.ts';
import type { Verdict } from '../verify/claim.ts';
import type { ClaimResult, VerifyResult } from '../verify/result.ts';
import { judge } from '../verify/run.ts';
import { verifyReport } from '../report/verify-report.ts';
import type { Device } from '../device/open.ts';
import { defineCommand } from './command.ts';
import { withDevice } from './devices.ts';
import { pageOf, requireOutput, writeText } from './files.ts';
import type { Progress } from './progress.ts';
import { ownVersion, packageVersion } from './versions.ts';

const VERDICTS: readonly Verdict[] = ['holds', 'holds as corrected', 'fails as printed'];

const error = (x: number): string => (Number.isFinite(x) ? x.toExponential(1) : '∞');

function line(claim: ClaimResult, width: number): string {
  const { id, place, verdict, agrees, instances, worst, byMedian, counterexample } = claim;
  const corrected = worst.corrected === null ? '' : `, corrected ${error(worst.corrected)}`;
  const numbers = verdict === 'holds' ? `worst ${error(worst.printed)}` : `printed ${error(worst.printed)}${corrected}`;
  const over = byMedian ? `median of ${instances}` : `over ${instances}`;
  const mark = agrees ? ' ' : '!';
  const first = `${mark} ${verdict.padEnd(18)}  ${id.padEnd(width)}  ${numbers} ${over}  (${place})`;
  return counterexample === null ? first : `${first}\n${' '.repeat(22)}${counterexample}`;
}

function describe({ claims, device, instances, seed }: VerifyResult): string {
  const width = Math.max(...claims.map((c) => c.id.length));
  const counts = VERDICTS.map((v) => `${claims.filter((c) => c.verdict === v).length} ${v}`);
  const odd = claims.filter((c) => !c.agrees);
  return [
    ...claims.map((claim) => line(claim, width)),
    '',
    `${claims.length} claims on ${device}, ${instances} instances each, seed ${seed}: ${counts.join(', ')}.`,
    'Errors are relative to what is true, found by finite differences, by training again, or in plain float64 loops.',
    odd.length === 0
      ? 'Every verdict is the one of docs/errata.md; the wrong answers measured beside them were told apart.'
      : `Not as in docs/errata.md: ${odd.map((c) => `${c.id} (expected: ${c.expected})`).join(', ')}.`,
  ].join('\n');
}

/** JSON has no infinity: an error without bound becomes the word. */
const infinityInWords = (result: VerifyResult): unknown =>
  JSON.parse(JSON.stringify(result, (_, value: unknown) => (value === Infinity ? 'Infinity' : value)));

async function judgeAll(device: Device, seed: number, instances: number, progress: Progress): Promise<ClaimResult[]> {
  const claims: ClaimResult[] = [];
  for (const claim of CLAIMS) {
    progress.status(`${claims.length + 1}/${CLAIMS.length} ${claim.id}`);
    claims.push(await judge(claim, device, seed, instances));
  }
  return claims;
}

export const verify = defineCommand({
  name: 'verify',
  summary: 'every claim of the paper on random instances: holds, fails as printed, or holds as corrected',
  example: 'ecif verify --report verify.html',
  options: {
    instances: { kind: 'number', help: 'random instances per claim', default: 16, whole: true, least: 1, most: 10_000 },
    seed: { kind: 'number', help: 'seed of the instances', default: 1, whole: true, least: 0, most: 1e9 },
    report: { kind: 'text', help: 'write a page, .html, with the table and figures', label: 'FILE' },
  },
  run: ({ instances, seed, report }, { device, progress }) => {
    if (report !== undefined) requireOutput(report, pageOf('verify'));
    // Claims are about exact equality: float64 unless float32 was asked for.
    return withDevice(device === 'auto' ? 'cpu' : device, async (opened) => {
      const claims = await judgeAll(opened, seed, instances, progress);
      const figures = report === undefined ? [] : await figuresOf(opened, seed, (text) => progress.status(text));
      const json: VerifyResult = { device: opened.name, seed, instances, claims, figures };
      if (report !== undefined) {
        const versions = { ecif: ownVersion(), node: process.version, webgpu: packageVersion('webgpu') ?? 'none' };
        writeText(report, verifyReport(json, versions));
        progress.line(`wrote ${oneLine(report)}`);
      }
      return { json: infinityInWords(json), text: describe(json), ok: claims.every((c) => c.agrees) };
    });
  },
});
