// What `ecif verify` finds: a line for each claim, and the data of the report's figures.

import type { Verdict } from './claim.ts';

/** One claim, judged. */
export interface ClaimResult {
  readonly id: string;
  readonly place: string;
  readonly symbol: string;
  readonly statement: string;
  readonly correction: string | null;
  readonly erratum: number | null;
  readonly verdict: Verdict;
  readonly expected: Verdict;
  /** The verdict is the expected one and the control was caught. */
  readonly agrees: boolean;
  readonly instances: number;
  readonly tolerance: number;
  /** The errors below are medians over the instances, not the worst. */
  readonly byMedian: boolean;
  /** Worst errors over the instances; null where there is no such form. */
  readonly worst: { readonly printed: number; readonly corrected: number | null; readonly control: number | null };
  /** The smallest instance found on which the printed form fails. */
  readonly counterexample: string | null;
}

/** A curve or a cloud of points. */
export interface Series {
  readonly name: string;
  readonly points: readonly (readonly [number, number])[];
  /** How sure the values are: x with the ends of a band around them. */
  readonly band?: readonly (readonly [x: number, low: number, high: number])[];
}

/** One figure of the report. */
export interface Figure {
  readonly id: string;
  readonly title: string;
  readonly caption: string;
  readonly x: { readonly label: string; readonly log: boolean };
  readonly y: { readonly label: string; readonly log: boolean };
  readonly kind: 'lines' | 'points';
  /** Draw y = x. */
  readonly diagonal: boolean;
  readonly series: readonly Series[];
}

/** A whole run. */
export interface VerifyResult {
  readonly device: string;
  readonly seed: number;
  readonly instances: number;
  readonly claims: readonly ClaimResult[];
  readonly figures: readonly Figure[];
}
