// Records of a run as the commands of the workflow would write them, made up from a seed.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRng } from '../../src/array/rng.ts';
import type { Findings, Scored, TrainedRun } from '../../src/report/findings.ts';
import type {
  DetectRecord,
  ExplainedPair,
  MadeBy,
  ModelMeasures,
  PairName,
  PredictedActual,
  RemovalCurve,
  RemovalRecord,
  TracedSource,
  TraceRecord,
} from '../../src/report/records.ts';

/** Captions by id. */
export const CAPTIONS: Readonly<Record<string, string>> = {
  '1f34e': 'red apple',
  '1f436': 'dog face',
  '1f431': 'cat face',
  '26bd': 'soccer ball',
  '1f3c0': 'basketball',
  '1f697': 'automobile',
  '1f68c': 'bus',
  '1f333': 'deciduous tree',
  '1f339': 'rose',
  '1f419': 'octopus',
  '1f41f': 'fish',
  '1f986': 'duck',
  '1f984': 'unicorn face',
  '1f34b': 'lemon',
  '1f34c': 'banana',
  '1f352': 'cherries',
  '1f3b8': 'guitar',
  '1f3bb': 'violin',
  '1f680': 'rocket',
  '2708': 'airplane',
  '1f319': 'crescent moon',
  '2b50': 'star',
  '2764': 'red heart',
  '1f499': 'blue heart',
};

const IDS = Object.keys(CAPTIONS);
const rng = createRng(7);
const nameOf = (i: number): PairName => ({ id: IDS[i % IDS.length], caption: CAPTIONS[IDS[(i * 5 + 3) % IDS.length]] });
const between = (low: number, high: number): number => low + (high - low) * rng.uniform();

const madeBy = (command: string, seconds: number): MadeBy => ({
  command,
  options: { run: 'run', validation: 'held-out.csv', top: 24, solver: 'cg', damping: 0, quick: true, truth: null },
  device: 'webgpu (float32, llvmpipe)',
  version: '0.1.0',
  seconds,
});

const RUN: TrainedRun = {
  status: 'done',
  options: { data: 'pairs.csv', model: 'models/small-clip', out: 'run', epochs: 20, l2: 30, 'to-stationarity': 0.01 },
  dataset: { pairs: 1200, sha256: '5d41402abc4b2a76b9719d911017c592', dropped: null },
  device: 'webgpu (float32, llvmpipe)',
  versions: { ecif: '0.1.0', node: 'v20.0.0', webgpu: '0.6.2', sharp: null },
  steps: 380,
  parameters: 18_432,
  norms: {
    ...{ objective: 1234.56, gradientNorm: 0.0091, partitions: 20 },
    stationarity: { reached: true, tolerance: 0.01 },
  },
  seconds: { steps: 118.2, end: 341.5 },
};

function explained(rank: number): ExplainedPair {
  const name = nameOf(rank);
  const loss = 6.2 - 0.17 * rank + between(0, 0.1);
  return {
    ...name,
    ...{
      rank,
      suspicion: 4.1 - 0.12 * rank,
      probability: 0.98 / (1 + (rank / 18) ** 3),
      loss,
      fit: -loss,
      match: 0.12 * rank - 4.1,
    },
    ...{ score: -0.02 / rank, positive: -0.03 / rank, negative: 0.01 / rank, t2i: -0.012 / rank, i2t: -0.008 / rank },
    ...{ self: -between(0.1, 0.9), clipscore: between(-0.1, 0.25) },
    hardest: [1, 2, 3, 4].flatMap((k) =>
      (['caption', 'picture'] as const).map((side) => ({
        ...nameOf(rank + k),
        ...{ side, cosine: 0.9 - 0.15 * k, share: 0.52 / k ** 1.3 },
      })),
    ),
    otherCaption: { ...nameOf(rank + 7), loss: loss * 0.06 },
    otherPicture: { ...nameOf(rank + 9), loss: loss * 0.55 },
    belongs: rank % 7 === 0 ? null : { ...nameOf(rank + 11), probability: 1 / (1 + rank / 6) },
    wrong: (['caption', 'caption', 'picture', 'both', 'neither'] as const)[rank % 5],
    swapped: rank < 18 || rank % 3 === 0,
  };
}

/** A curve from (0, 0) to (1, 1) of a given bend, and its precision. */
function measured(name: string, auroc: number): NonNullable<DetectRecord['truth']>['measures'][number] {
  const bend = auroc / (1 - auroc);
  const xs = Array.from({ length: 60 }, (_, i) => i / 59);
  return {
    ...{ name, auroc, auprc: auroc ** 3, top10: Math.round(10 * auroc ** 2) },
    roc: xs.map((x) => [x, x ** (1 / bend)]),
    pr: xs.map((x) => [x, Math.max(0.2, auroc ** (0.3 + 6 * x ** 2))]),
  };
}

function batchOf(n: number): NonNullable<DetectRecord['batch']> {
  const at = Math.min(5, n - 1);
  const cosines = Array.from({ length: n * n }, (_, k) => {
    const [i, j] = [Math.floor(k / n), k % n];
    return i === j && i !== at ? between(0.6, 0.9) : i === at && j === 2 ? 0.81 : between(-0.15, 0.4);
  });
  const suspicion = Array.from({ length: n }, (_, i) => (i === at ? 4.0 : between(-0.6, 1)));
  return { pairs: Array.from({ length: n }, (_, i) => nameOf(i + 1)), cosines, suspicion, at };
}

/** A detection with a batch of `n` pairs. */
export const detectionOf = (n = 16): DetectRecord => ({
  ...madeBy('detect', 42.5),
  ...{ pairs: 1200, method: 'blend', about: 'the mean rank of fit and task influence' },
  cutoff: { suspicion: 1.75, flagged: 231, expectedPrecision: 0.873, share: 0.19 },
  suspects: Array.from({ length: 30 }, (_, i) => explained(i + 1)),
  histogram: {
    bounds: Array.from({ length: 41 }, (_, i) => -4 + i * 0.2),
    all: Array.from({ length: 40 }, (_, i) =>
      Math.round(110 * Math.exp(-((i - 14) ** 2) / 40) + 16 * Math.exp(-((i - 33) ** 2) / 20)),
    ),
    swapped: Array.from({ length: 40 }, (_, i) => Math.round(15.5 * Math.exp(-((i - 33) ** 2) / 20))),
  },
  batch: batchOf(n),
  truth: {
    swapped: 240,
    measures: [
      ['blend', 0.961],
      ['fit', 0.953],
      ['task influence', 0.884],
      ['self-influence', 0.731],
      ['CLIPScore', 0.927],
    ].map(([name, auroc]) => measured(name as string, auroc as number)),
  },
});

const source = (i: number, sign: number): TracedSource => ({
  ...nameOf(i),
  ...{
    relative: (sign * 0.9) / (1 + i / 5),
    score: (sign * 0.0123) / (1 + i / 4),
    label: null,
    swapped: sign < 0 && i < 8,
  },
});

const TRACE: TraceRecord = {
  ...madeBy('trace', 31),
  ...{ asked: 120, mistaken: 37, cwd: null, places: null },
  queries: [0, 1, 2].map((q) => ({
    ...{ id: IDS[3 * q], caption: CAPTIONS[IDS[3 * q]], label: q === 0 ? 'food' : null, loss: 2.31 - 0.4 * q },
    ...{ mistaken: q < 2 },
    predictions: [1, 0, 5, 9].map((k, i) => ({
      ...{ caption: CAPTIONS[IDS[3 * q + (i === (q < 2 ? 1 : 0) ? 0 : k + 1)]], probability: 0.61 / (i + 1) ** 2 },
      right: i === (q < 2 ? 1 : 0),
    })),
    against: Array.from({ length: 5 }, (_, i) => source(4 + i + q, -1)),
    for: Array.from({ length: 5 }, (_, i) => source(11 + i + q, 1)),
    removal:
      q === 2
        ? null
        : {
            ...{ ids: [4, 5, 6, 7, 8].map((i) => IDS[i + q]), rung: 'Newton', predictedLoss: 1.71, editedLoss: 1.64 },
            ...{ probabilityBefore: 0.1525, probabilityAfter: 0.438 },
          },
  })),
};

const measuresOf = (loss: number, r1: number): ModelMeasures => ({
  loss,
  r1,
  r5: Math.min(1, 2.4 * r1),
  accuracy: r1 + 0.1,
});

const removalOf = (verified: boolean): RemovalRecord => ({
  ...madeBy('remove', 11.8),
  ...{ run: 'run', removed: Array.from({ length: 15 }, (_, i) => nameOf(i + 1)), rung: 'Newton' },
  ...{ curvature: 'Hessian, cg with EK-FAC', gradient: { before: 3.21, after: 0.0412 }, moved: 0.377 },
  ...{ editSeconds: 11.8, notes: ['2 batches keep one pair, whose loss is 0'], signature: 'a1b2', tolerance: 0.3 },
  measures: { before: measuresOf(2.911, 0.311), predictedLoss: 2.72, edited: measuresOf(2.743, 0.347) },
  retrained: verified
    ? {
        ...{ seconds: 459.7, gradient: 0.0095, measures: measuresOf(2.739, 0.349) },
        ...{ error: 0.0713, speedup: 38.96, onward: { seconds: 210.2, gradient: 0.0098 } },
      }
    : null,
});

const SCORES: Scored = {
  options: { validation: 'held-out.csv', run: 'run', targets: 'all', solver: 'cg' },
  ...{ device: 'webgpu (float32, llvmpipe)', version: '0.1.0', pairs: 1200, partitions: 20 },
  targets: [{ name: 'validation', pairs: 300, loss: 2.911 }],
  curvature: { method: 'cg', curvature: 'hessian', l2: 30, damping: 0 },
  gradientNorm: 0.0091,
  seconds: { solve: 21.4, sweep: 9.7 },
  ends: [
    {
      target: 'validation',
      harmful: Array.from({ length: 5 }, (_, i) => ({ ...nameOf(i + 1), score: -0.031 / (i + 1), flag: null })),
      valuable: Array.from({ length: 5 }, (_, i) => ({ ...nameOf(i + 9), score: 0.024 / (i + 1), flag: 'sign' })),
    },
  ],
};

const CURVES: RemovalCurve[] = ['influence', 'random', 'CLIPScore'].map((name, s) => ({
  ...{ name, measure: null },
  points: [0, 0.05, 0.1, 0.2, 0.3].map((share) => ({
    ...{
      share,
      value: 0.41 + [0.5, -0.2, 0.3][s] * share - share ** 2,
      error: share === 0 ? null : 0.008 + 0.03 * share,
    },
  })),
}));

const PREDICTED: PredictedActual[] = ['corrected', 'published'].map((name, s) => ({
  name,
  points: Array.from({ length: 40 }, (_, i) => {
    const actual = 0.01 * rng.normal();
    return { id: IDS[i % IDS.length], predicted: actual * (s === 0 ? 1 : -0.3) + 0.001 * rng.normal(), actual };
  }),
}));

/** A run with everything in its folder. */
export const FINDINGS: Findings = {
  name: 'run',
  run: RUN,
  log: Array.from({ length: 1900 }, (_, i) => ({
    step: i + 1,
    loss: 3.9 * Math.exp(-i / 400) + 0.6 + 0.1 * rng.normal(),
  })),
  scores: SCORES,
  detect: detectionOf(),
  trace: TRACE,
  removals: [
    { name: 'suspects-15', state: 'in force', record: removalOf(true) },
    { name: 'unverified', state: 'not in force', record: removalOf(false) },
  ],
  curves: CURVES,
  predicted: PREDICTED,
  commands: ['ecif train pairs.csv --model models/small-clip --out run', 'ecif detect run', 'ecif report run'],
};

/** Writes the files that these findings would be read from. */
export function writeFindings(
  folder: string,
  { run, log, scores, detect, trace, removals, curves, predicted }: Findings,
): void {
  const write = (name: string, value: unknown): void => {
    if (value !== null) writeFileSync(join(folder, name), JSON.stringify(value));
  };
  write('run.json', run);
  if (log !== null) writeFileSync(join(folder, 'log.jsonl'), log.map((step) => `${JSON.stringify(step)}\n`).join(''));
  for (const [name, value] of Object.entries({ 'scores.parquet': scores, detect, trace, curves, predicted })) {
    write(`${name}.json`, value);
  }
  for (const { name, record } of removals) {
    mkdirSync(join(folder, 'removals', name), { recursive: true });
    write(`removals/${name}/removal.json`, record);
  }
  const applied = removals.filter(({ state }) => state === 'in force').map(({ name }) => `removals/${name}`);
  if (applied.length > 0) write('current.json', { applied, undone: [] });
}
