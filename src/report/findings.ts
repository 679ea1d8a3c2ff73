// Everything a run folder holds, as the report of the workflow takes it.

import type { DetectRecord, PairName, PredictedActual, RemovalCurve, RemovalRecord, TraceRecord } from './records.ts';

/** Options of a command by name. */
export type Options = Readonly<Record<string, unknown>>;

/** The part of `run.json` that is shown; null where training has not come so far. */
export interface TrainedRun {
  readonly status: string;
  readonly options: Options;
  readonly dataset: {
    readonly pairs: number;
    readonly sha256: string;
    /** Ids of pairs left out because their pictures are bad. */
    readonly dropped: readonly string[] | null;
  };
  readonly device: string;
  readonly versions: Options | null;
  readonly steps: number | null;
  readonly parameters: number | null;
  readonly norms: {
    readonly objective: number;
    readonly gradientNorm: number;
    readonly partitions: number;
    readonly stationarity: { readonly reached: boolean; readonly tolerance: number } | null;
  } | null;
  readonly seconds: { readonly steps: number; readonly end: number } | null;
}

/** What follows the steps of training, in words. */
export const afterSteps = ({ stationarity }: { readonly stationarity: object | null }): string =>
  stationarity === null ? 'to measure the gradient' : 'toward stationarity';

/** A line of `log.jsonl`. */
export interface LoggedStep {
  readonly step: number;
  readonly loss: number;
}

/** A pair at one end of the scores. */
export interface ScoredPair extends PairName {
  readonly score: number;
  readonly flag: string | null;
}

/** The part of `scores.parquet.json` that is shown. */
export interface Scored {
  readonly options: Options;
  readonly device: string;
  readonly version: string;
  readonly pairs: number;
  readonly partitions: number;
  readonly targets: readonly { readonly name: string; readonly pairs: number; readonly loss: number }[];
  readonly curvature: {
    readonly method: string;
    readonly curvature: string;
    readonly l2: number;
    readonly damping: number;
  };
  /** ‖∇L(θ̂)‖ */
  readonly gradientNorm: number;
  readonly seconds: { readonly solve: number; readonly sweep: number };
  readonly ends: readonly {
    readonly target: string;
    readonly harmful: readonly ScoredPair[];
    readonly valuable: readonly ScoredPair[];
  }[];
}

/** What became of a removal: in force, its pairs held by a later one in force, taken back, or never in force. */
export type RemovalState = 'in force' | 'held by a later edit' | 'undone' | 'dry run' | 'not in force';

/** A removal with the name of its folder. */
export interface NamedRemoval {
  readonly name: string;
  readonly state: RemovalState;
  readonly record: RemovalRecord;
}

/** What a run folder holds; null for what is not there, an empty list where there is no removal. */
export interface Findings {
  /** Name of the folder. */
  readonly name: string;
  readonly run: TrainedRun;
  readonly log: readonly LoggedStep[] | null;
  readonly scores: Scored | null;
  readonly detect: DetectRecord | null;
  readonly trace: TraceRecord | null;
  readonly removals: readonly NamedRemoval[];
  readonly curves: readonly RemovalCurve[] | null;
  readonly predicted: readonly PredictedActual[] | null;
  /** Command lines that make the run again, in their order. */
  readonly commands: readonly string[];
}
