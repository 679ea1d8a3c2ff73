// What a model does on evaluation pairs: loss, recall in both directions, zero-shot accuracy.

import { disposeTree, itemOf } from '../../autodiff/tensor.ts';
import type { Adapter } from '../../models/clip/lora.ts';
import { batchLoss } from '../../models/model.ts';
import type { ModelMeasures } from '../../report/records.ts';
import { evaluatePairs, type Evaluation } from './run.ts';
import type { Progress } from '../progress.ts';
import type { EvaluationPairs, OpenedRun } from '../runs/opened-run.ts';

/** Mean loss of the pairs as anchors of their batches, in both directions. */
export async function meanLoss(
  { loss: { model, partitions, batch } }: EvaluationPairs,
  theta: Adapter,
): Promise<number> {
  let [sum, count] = [0, 0];
  for (const rows of partitions.flat()) {
    const pairs = await batch(rows);
    sum += await itemOf(() => batchLoss(model, theta, pairs));
    count += rows.length;
    disposeTree(pairs);
  }
  return sum / count;
}

/** Recall of captions and pictures together. */
export function recallOf({ pictures, captions, retrieval }: Evaluation, at: 'r1' | 'r5'): number {
  const { textToImage, imageToText } = retrieval;
  return (captions * textToImage[at] + pictures * imageToText[at]) / (captions + pictures);
}

/** Measures the model of a run at any parameters. */
export async function measureAt(
  { model, settings }: OpenedRun,
  evaluation: EvaluationPairs,
  theta: Adapter,
  progress: Progress,
): Promise<ModelMeasures> {
  const found = await evaluatePairs(
    await model.embedder(theta),
    evaluation.pairs,
    settings.templates.split('|'),
    progress,
  );
  return {
    loss: await meanLoss(evaluation, theta),
    r1: recallOf(found, 'r1'),
    r5: recallOf(found, 'r5'),
    accuracy: found.zeroShot?.accuracy ?? null,
  };
}
