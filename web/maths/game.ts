// Chapter 5: trains on the cards of a round, wrong captions and all, and asks every detector which of them do not fit.

import * as ecif from '../../src/index.ts';
import { computation } from './computation.ts';
import { type Round, roundOf, type RoundAsked } from './game-round.ts';
import { placePairs } from './pairs.ts';

/** A round and how the model is trained. */
export interface GameAsked extends RoundAsked {
  /** Pairs of a batch. */
  readonly batch: number;
  readonly temperature: number;
  /** δ */
  readonly decay: number;
}

/** Detectors, in the order in which they are shown. */
export const DETECTORS = ['ecif', 'self', 'clipscore', 'loss', 'match', 'combined'] as const;
export type Detector = (typeof DETECTORS)[number];

/** What a detector says. */
export interface Detection {
  readonly detector: Detector;
  /** A number for each card, low for one that does not fit. */
  readonly values: readonly number[];
  /** Cards, the most suspicious first. */
  readonly order: readonly number[];
  readonly auroc: number;
  /** Wrong captions among as many first cards as there are wrong captions. */
  readonly found: number;
  /** (share of right captions called wrong, share of wrong captions found), from (0, 0). */
  readonly roc: readonly (readonly [number, number])[];
}

/** What the machine makes of a round. */
export interface GameFound {
  readonly detections: readonly Detection[];
}

type Values = Readonly<Record<Detector, Float64Array>>;

/** Embeddings of all cards, not scaled to length one, so that their products are the similarities times τ. */
async function embeddings(
  { model, batches }: ecif.Problem<ecif.Bilinear, ecif.PairBatch>,
  theta: ecif.Bilinear,
): Promise<{ width: number; u: Float64Array; v: Float64Array }> {
  const made = ecif.scope(() => {
    const each = batches.map((batch) => model.embed(theta, batch));
    return [ecif.concat(each.map(({ u }) => u)), ecif.concat(each.map(({ v }) => v))];
  });
  const [u, v] = (await ecif.readAll(made)).map((x) => Float64Array.from(x));
  const width = made[0].shape[1];
  ecif.disposeTree(made);
  return { width, u, v };
}

/** Cosine and loss of every card. */
async function fits(
  { model, batches }: ecif.Problem<ecif.Bilinear, ecif.PairBatch>,
  theta: ecif.Bilinear,
): Promise<{ cosine: Float64Array; loss: Float64Array }> {
  const made = ecif.scope(() => {
    const losses = batches.map((batch) => {
      const { t2i, i2t } = ecif.anchorLosses(ecif.similarities(model, theta, batch));
      return ecif.add(t2i, i2t);
    });
    return [ecif.concat(batches.map((batch) => ecif.cosines(model, theta, batch))), ecif.concat(losses)];
  });
  const [cosine, loss] = (await ecif.readAll(made)).map((x) => Float64Array.from(x));
  ecif.disposeTree(made);
  return { cosine, loss };
}

/** Influences of every card: on the validation loss, and on its own 1 − cos. */
async function influences(
  problem: ecif.Problem<ecif.Bilinear, ecif.PairBatch>,
  theta: ecif.Bilinear,
  validation: ecif.PairBatch,
): Promise<{ task: Float64Array; self: Float64Array }> {
  const h = await ecif.curvatureAt(ecif.totalLoss(problem), theta);
  const gradient = ecif.scope(() =>
    ecif.grad((t: ecif.Bilinear) => ecif.batchLoss(problem.model, t, validation))(theta),
  );
  const w = await h.solve(gradient);
  const task = (await ecif.pairScores(problem, theta, w, 'corrected')).map(({ score }) => score);
  const self = (await ecif.selfScores(problem, theta, h)).map(({ value }) => value);
  h.dispose();
  ecif.disposeTree([gradient, w]);
  return { task: Float64Array.from(task), self: Float64Array.from(self) };
}

/** What every detector says of every card; low is suspicious. */
async function valuesOf(device: ecif.Device, asked: GameAsked, round: Round): Promise<Values> {
  const { pictures: pairs, captions, validation } = round;
  const { batch, temperature, decay } = asked;
  const placed = placePairs({ pairs, captions, validation, batch, temperature, decay }, device);
  const { problem, start } = placed;
  const { theta } = await ecif.minimise(ecif.totalLoss(problem), start);
  const { cosine, loss } = await fits(problem, theta);
  const { task, self } = await influences(problem, theta, placed.validation);
  const rows = await embeddings(problem, theta);
  const { odds } = ecif.matchPairs(rows, { scale: 1 / temperature, captions: captions.map(String) });
  ecif.disposeTree([problem.batches, start, placed.validation, theta]);
  // The cosine of a card had it not been trained on: the model was bent towards a wrong caption by that card alone.
  const leftOut = cosine.map((x, i) => x - self[i]);
  const signals = [
    { name: 'match', values: odds },
    { name: 'score', values: task },
    { name: 'left-out', values: leftOut },
  ];
  return {
    ...{ ecif: task, self: self.map((x) => -x), clipscore: cosine, loss: loss.map((x) => -x), match: odds },
    combined: ecif.suspicionOf(signals).values.map((x) => -x),
  };
}

export const gameFound = computation<GameAsked, GameFound>({
  wants: 'any',
  run: async (device, asked) => {
    const round = roundOf(asked);
    const values = await valuesOf(device, asked, round);
    const wrong = round.wrong.filter(Boolean).length;
    const detections = DETECTORS.map((detector) => {
      const v = values[detector];
      const curve = ecif.detectionCurve(v, round.wrong, 'lowest');
      return {
        detector,
        values: Array.from(v),
        order: Array.from(ecif.orderBy(v, 'lowest')),
        auroc: ecif.auroc(v, round.wrong, 'lowest'),
        found: ecif.inspect(v, round.wrong, 'lowest', { pairs: wrong }).found,
        roc: [[0, 0] as const, ...curve.map(({ falsePositives, recall }) => [falsePositives, recall] as const)],
      };
    });
    return { detections };
  },
});
