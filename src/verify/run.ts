// Running claims: every one on its own instances, judged by the worst, with a small counterexample where one fails.

import type { Device } from '../device/open.ts';
import type { ConvexFile } from '../ecif/convex-file.ts';
import { type Claim, type Measurement, toleranceOn, verdictOf } from './claim.ts';
import { describeInstance, randomInstance, tinyInstances } from './instance.ts';
import type { ClaimResult } from './result.ts';
import { withSetting } from './setting.ts';

/** Measures a claim on one instance. */
export const measureOn = (claim: Claim, file: ConvexFile, device: Device): Promise<Measurement> =>
  withSetting(file, device, (setting) => claim.measure(setting, device));

/** The worst of some errors, or their median; null for none. */
export function summary(values: readonly (number | undefined)[], byMedian: boolean): number | null {
  const known = values.filter((v) => v !== undefined).map((v) => (Number.isNaN(v) ? Infinity : v));
  if (known.length === 0) return null;
  const sorted = known.toSorted((a, b) => a - b);
  return byMedian ? sorted[sorted.length >> 1] : sorted[sorted.length - 1];
}

/** The first of the small instances, smallest first, on which the printed form fails; else the worst of those seen. */
async function counterexampleOf(
  claim: Claim,
  device: Device,
  seen: readonly { file: ConvexFile; measured: Measurement }[],
): Promise<string | null> {
  const tolerance = toleranceOn(claim, device);
  const limit = tolerance < 1e-3 ? 10 * tolerance : tolerance;
  if (claim.recorded === true) return seen[0].measured.note ?? null;
  const tell = (file: ConvexFile, note: string | undefined): string =>
    `${describeInstance(file)}${note === undefined ? '' : `: ${note}`}`;
  const small = (claim.shape?.text ?? 1) > 1 ? [] : tinyInstances(claim.shape);
  for (const file of claim.always ?? small) {
    const { printed, note } = await measureOn(claim, file, device);
    if (printed > limit) return tell(file, note);
  }
  const bySize = seen.filter(({ measured }) => measured.printed > limit);
  const size = ({ text, image }: ConvexFile): number => text.length * text[0].length * image[0].length;
  const [least] = bySize.toSorted((a, b) => size(a.file) - size(b.file));
  return least === undefined ? null : tell(least.file, least.measured.note);
}

/** Judges one claim on `count` random instances. */
export async function judge(claim: Claim, device: Device, seed: number, count: number): Promise<ClaimResult> {
  const drawn = claim.recorded === true ? 1 : count;
  const files = [
    ...(claim.always ?? []),
    ...Array.from({ length: drawn }, (_, i) => randomInstance(seed * 10_007 + i, claim.shape)),
  ];
  const seen: { file: ConvexFile; measured: Measurement }[] = [];
  for (const file of files) seen.push({ file, measured: await measureOn(claim, file, device) });
  const byMedian = claim.byMedian === true;
  const of = (key: 'printed' | 'corrected' | 'control'): number | null =>
    summary(
      seen.map((s) => s.measured[key]),
      byMedian,
    );
  const tolerance = toleranceOn(claim, device);
  const [printed, corrected, control] = [of('printed') ?? Infinity, of('corrected'), of('control')];
  const verdict = verdictOf(tolerance, printed, corrected);
  const { id, place, symbol, statement, correction = null, erratum = null, expected } = claim;
  return {
    ...{ id, place, symbol, statement, correction, erratum, verdict, expected, tolerance },
    agrees: verdict === expected && (control === null || control > tolerance),
    instances: files.length,
    byMedian,
    worst: { printed, corrected, control },
    counterexample: verdict === 'holds' ? null : await counterexampleOf(claim, device, seen),
  };
}
