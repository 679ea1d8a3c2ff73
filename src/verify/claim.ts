// What a claim of the paper is, and how it is judged.

import { distance, norm } from '../array/vector.ts';
import type { Device } from '../device/open.ts';
import type { ConvexFile } from '../ecif/convex-file.ts';
import type { Shape } from './instance.ts';
import type { Setting } from './setting.ts';

/** How a claim fares: as it is printed, or only in the corrected form, or not at all. */
export type Verdict = 'holds' | 'fails as printed' | 'holds as corrected';

/** What one instance says about a claim. Errors are relative; 0 is perfect. */
export interface Measurement {
  /** Error of the claim as printed. */
  readonly printed: number;
  /** Error of the corrected claim, where there is one. */
  readonly corrected?: number;
  /** Error of an answer that is wrong on purpose: a measure that cannot see it proves nothing. */
  readonly control?: number;
  /** The numbers in words, for a counterexample. */
  readonly note?: string;
}

/** A claim of the paper. */
export interface Claim {
  /** Also the name of its proof, proofs-tests/ID.test.ts. */
  readonly id: string;
  /** Where it stands in the paper. */
  readonly place: string;
  readonly symbol: string;
  /** What is claimed, as printed. */
  readonly statement: string;
  /** What holds instead. */
  readonly correction?: string;
  /** Number in docs/errata.md. */
  readonly erratum?: number;
  /** What is known of it. */
  readonly expected: Verdict;
  /** Largest error that counts as none; 1e-6 in float64 and 5e-3 in float32 unless told. */
  readonly tolerance?: { readonly float64: number; readonly float32: number };
  /** It is about the paper's own numbers: there is nothing to draw. */
  readonly recorded?: true;
  /** It speaks of most instances: judged by the median error instead of the worst. */
  readonly byMedian?: true;
  /** Instances it is measured on, and some that always are. */
  readonly shape?: Shape;
  readonly always?: readonly ConvexFile[];
  measure(setting: Setting, device: Device): Promise<Measurement>;
}

/** The largest error that counts as none on a device. */
export function toleranceOn(claim: Claim, device: Device): number {
  const { float64, float32 } = claim.tolerance ?? { float64: 1e-6, float32: 5e-3 };
  return device.kind === 'cpu' ? float64 : float32;
}

/** The verdict from the worst errors. */
export function verdictOf(tolerance: number, printed: number, corrected: number | null): Verdict {
  if (printed <= tolerance) return 'holds';
  return corrected !== null && corrected <= tolerance ? 'holds as corrected' : 'fails as printed';
}

/** Lengths below this count as it: a relative error of rounding noise says nothing. */
export const NOISE = 1e-8;

/** ‖a − b‖/‖b‖, infinite where a is not finite. */
export function apart(a: Float64Array, b: Float64Array): number {
  const error = distance(a, b) / Math.max(norm(b), NOISE);
  return Number.isNaN(error) ? Infinity : error;
}

/** |a − b|/|b|, infinite where a is not finite. */
export const off = (a: number, b: number): number => apart(Float64Array.of(a), Float64Array.of(b));

/** Numbers in a note. */
export const say = (x: number): string =>
  x !== 0 && (Math.abs(x) >= 1e4 || Math.abs(x) < 1e-3) ? x.toExponential(2) : x.toPrecision(4);
