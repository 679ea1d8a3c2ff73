// What the commands of the workflow find, as they write it into a run folder and as the report shows it.

/** What every record says of how it was made. */
export interface MadeBy {
  /** Name of the command, such as `detect`, or its whole line. */
  readonly command: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly device: string;
  readonly version: string;
  readonly seconds: number;
}

/** A pair as people know it. */
export interface PairName {
  readonly id: string;
  readonly caption: string;
}

/** The scores that suspicion is made of, or is judged beside. */
export interface PairScores {
  /** Task influence with its parts; null without a validation set. */
  readonly score: number | null;
  readonly positive: number | null;
  readonly negative: number | null;
  readonly t2i: number | null;
  readonly i2t: number | null;
  /** Predicted rise of the pair's own 1 − cos if it is removed; null where it was not asked for. */
  readonly self: number | null;
  /** Log odds of belonging together, by a matching of all pairs. */
  readonly match: number;
  /** −(loss of the pair among all pairs, in both directions). */
  readonly fit: number;
  /** Cosine of picture and caption. */
  readonly clipscore: number;
}

/** A pair that another one pushes away: caption or picture of `pair` as a negative. */
export interface HardNegative extends PairName {
  /** Which half of the explained pair it competes for. */
  readonly side: 'caption' | 'picture';
  /** Cosine of the negative with that half. */
  readonly cosine: number;
  /** Share of the softmax that it takes. */
  readonly share: number;
}

/** What the pair's loss would be with one half replaced by the best one among the pairs that are not suspected. */
export interface Counterfactual extends PairName {
  readonly loss: number;
}

/** The caption that most likely belongs to the picture of a pair, by a matching of all pairs. */
export interface Belonging extends PairName {
  readonly probability: number;
}

/** A suspected pair, explained. */
export interface ExplainedPair extends PairName, PairScores {
  readonly rank: number;
  /** Higher is more suspicious. */
  readonly suspicion: number;
  /** Estimated probability of a mismatch. */
  readonly probability: number;
  readonly loss: number;
  readonly hardest: readonly HardNegative[];
  readonly otherCaption: Counterfactual;
  readonly otherPicture: Counterfactual;
  /** Null where all captions are equal. */
  readonly belongs: Belonging | null;
  /** Which half looks wrong: that whose replacement helps clearly more; both where either helps about as much. */
  readonly wrong: 'caption' | 'picture' | 'both' | 'neither';
  /** Known truth, where the run has one. */
  readonly swapped: boolean | null;
}

/** How well one score tells the pairs that are known to be swapped. */
export interface DetectionMeasures {
  readonly name: string;
  readonly auroc: number;
  readonly auprc: number;
  /** Swapped pairs among the ten most suspicious. */
  readonly top10: number;
  /** Points (false positive rate, true positive rate) and (recall, precision), at most 200 each. */
  readonly roc: readonly (readonly [number, number])[];
  readonly pr: readonly (readonly [number, number])[];
}

/** `detect.json`; every pair is a row of `detect.csv`. */
export interface DetectRecord extends MadeBy {
  readonly pairs: number;
  /** Name of the score that suspicion is, and what it is in one line. */
  readonly method: string;
  readonly about: string;
  readonly cutoff: {
    readonly suspicion: number;
    readonly flagged: number;
    readonly expectedPrecision: number;
    /** Estimated share of mismatched pairs among all. */
    readonly share: number;
  };
  readonly suspects: readonly ExplainedPair[];
  /** Histogram of suspicion: bounds (one more than counts), counts of all pairs, and of those known to be swapped. */
  readonly histogram: {
    readonly bounds: readonly number[];
    readonly all: readonly number[];
    readonly swapped: readonly number[] | null;
  };
  /** The batch of the first suspect. */
  readonly batch: {
    readonly pairs: readonly PairName[];
    /** Cosines, captions × pictures, row-major. */
    readonly cosines: readonly number[];
    /** Suspicion of each. */
    readonly suspicion: readonly number[];
    /** Position of the suspect. */
    readonly at: number;
  } | null;
  /** With a known truth: every single score beside the one that was used. */
  readonly truth: {
    readonly swapped: number;
    readonly measures: readonly DetectionMeasures[];
  } | null;
}

/** A training pair behind a prediction. */
export interface TracedSource extends PairName {
  /** Influence on the loss of the query, relative to how far the pair moves the model. */
  readonly relative: number;
  /** Predicted change of the loss of the query if the pair is removed. */
  readonly score: number;
  readonly label: string | null;
  /** Known truth, where the run has one. */
  readonly swapped: boolean | null;
}

/** A query, what the model makes of it, and the training pairs behind it. */
export interface TracedQuery extends PairName {
  readonly label: string | null;
  /** Loss of the query. */
  readonly loss: number;
  /** What the model takes the picture for, the likeliest first. */
  readonly predictions: readonly { readonly caption: string; readonly probability: number; readonly right: boolean }[];
  readonly mistaken: boolean;
  /** Pairs whose removal is predicted to lower the loss of the query, the most first. */
  readonly against: readonly TracedSource[];
  /** Pairs whose removal is predicted to raise it, the most first. */
  readonly for: readonly TracedSource[];
  /** What removing the pairs `against` together does. */
  readonly removal: {
    readonly ids: readonly string[];
    readonly rung: string;
    /** To first order, and as found with the edited model. */
    readonly predictedLoss: number;
    readonly editedLoss: number;
    readonly probabilityBefore: number;
    readonly probabilityAfter: number;
  } | null;
}

/** `trace.json` */
export interface TraceRecord extends MadeBy {
  /** The folder that paths were typed in, and where they are as seen from the run; not of older versions. */
  readonly cwd?: string | null;
  readonly places?: Readonly<Record<string, string>> | null;
  readonly queries: readonly TracedQuery[];
  /** Queries looked at, and how many of them were mistaken. */
  readonly asked: number;
  readonly mistaken: number;
}

/** What a model does on evaluation pairs. */
export interface ModelMeasures {
  readonly loss: number;
  /** Share of captions and pictures whose partner is first, and among the first five, in both directions. */
  readonly r1: number;
  readonly r5: number;
  /** Zero-shot accuracy; null without labels. */
  readonly accuracy: number | null;
}

/** `removal.json` in the folder of an edit, beside its adapter. */
export interface RemovalRecord extends MadeBy {
  readonly run: string;
  readonly removed: readonly PairName[];
  readonly rung: string;
  readonly curvature: string;
  /** Relative residual of its solves; null where they do not iterate, or it is not known. */
  readonly tolerance: number | null;
  /** ‖∇L‖ of the loss after removal: at θ̂ and at the edited model. */
  readonly gradient: { readonly before: number; readonly after: number };
  /** ‖edited − θ̂‖ */
  readonly moved: number;
  /** Seconds that the edit took, without reading the run and measuring. */
  readonly editSeconds: number;
  /** What is to be known of the edit, such as batches that are left with one pair. */
  readonly notes: readonly string[];
  /** Tells one edit of the run from another. */
  readonly signature: string;
  /** On the validation pairs; null without any. */
  readonly measures: {
    readonly before: ModelMeasures;
    /** The loss to first order: before plus the sum of scores. */
    readonly predictedLoss: number;
    readonly edited: ModelMeasures;
  } | null;
  /** With `--verify`: the same recipe run again without the pairs. */
  readonly retrained: {
    readonly seconds: number;
    readonly gradient: number;
    readonly measures: ModelMeasures | null;
    /** ‖edited − retrained‖/‖θ̂ − retrained‖: 0 exact, 1 nothing gained. */
    readonly error: number;
    /** Seconds of retraining over `editSeconds`. */
    readonly speedup: number;
    /** Training on from θ̂ without the pairs, as far as the run was to settle; null where it was not. */
    readonly onward?: { readonly seconds: number; readonly gradient: number } | null;
  } | null;
}

/** A measure as more pairs are removed; `curves.json` is a list of these. */
export interface RemovalCurve {
  readonly name: string;
  /** What is measured; null for accuracy. */
  readonly measure: string | null;
  readonly points: readonly { readonly share: number; readonly value: number; readonly error: number | null }[];
}

/** Predicted against true changes of the evaluation loss; `predicted.json` is a list of these. */
export interface PredictedActual {
  readonly name: string;
  readonly points: readonly { readonly id: string; readonly predicted: number; readonly actual: number }[];
}

/** Pairs that were left out together, and what came of it. */
export interface LeftOutGroup {
  readonly name: string;
  readonly end: 'harmful' | 'valuable' | 'random';
  /** The score that ordered the pairs; null for random ones. */
  readonly by: string | null;
  /** Share of all pairs that was asked for, and how many they are. */
  readonly share: number;
  readonly pairs: number;
  /** Changes of the validation loss: to first order, by an edit (null without one), and by training again. */
  readonly predicted: number;
  readonly edited: number | null;
  readonly actual: number;
  /** Of the model trained again. */
  readonly measures: ModelMeasures;
  /** Its folder as seen from the run, and how long it took to train. */
  readonly retrained: string;
  readonly seconds: number;
  /** Seconds of the edit. */
  readonly editSeconds: number | null;
}

/** `curves/curves.json`: what `curves.json` and `predicted.json` are made of. */
export interface CurvesRecord extends MadeBy {
  /** Training pairs of the run. */
  readonly pairs: number;
  /** Of the model trained on all of them. */
  readonly before: ModelMeasures;
  readonly groups: readonly LeftOutGroup[];
  /** How each kind of prediction goes with training again: Pearson and Spearman, null where either side is constant. */
  readonly correlations: readonly {
    readonly name: string;
    readonly linear: number | null;
    readonly ranks: number | null;
  }[];
  readonly notes: readonly string[];
}
