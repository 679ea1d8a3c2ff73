// Removals on trials: estimates on a device beside the truth in plain float64.

import { addScaled } from '../array/vector.ts';
import { Flat } from '../autodiff/flat.ts';
import { disposeTree } from '../autodiff/tensor.ts';
import type { Device } from '../device/open.ts';
import { type ModelRemoval, type Removal, removalOf } from '../ecif/removal.ts';
import { type Seg, segOf } from '../ecif/seg.ts';
import type { Bilinear } from '../models/bilinear.ts';
import { randomInstance, type Shape } from './instance.ts';
import { plainProblem, type Setting, withSetting } from './setting.ts';

type Vector = Float64Array;

/** An estimator of a removal. */
export type Run = (removal: Removal<Bilinear>) => Promise<Bilinear>;

/** One removal: its estimates on the device, its truth in plain float64. */
export interface Trial {
  readonly seg: Seg;
  readonly removal: ModelRemoval<Bilinear>;
  /** θ* of retraining. */
  readonly retrained: Vector;
  /** θ* − θ̂. */
  readonly change: Vector;
  /** θ̃ by a rung. */
  edited(run: Run): Promise<Vector>;
}

/** The removal of a set from a trained instance. */
export function trialOf(setting: Setting, remove: readonly number[] = setting.file.remove): Trial {
  const { file, problem, theta, h, optimum } = setting;
  const seg = segOf(file.batches, remove);
  const removal = removalOf(problem, theta, seg, h);
  const retrained = setting.minimum(plainProblem({ ...file, remove }).removal(1));
  const edited = async (run: Run): Promise<Vector> => {
    const tree = await run(removal);
    const vector = await new Flat(theta).toVector(tree);
    if (tree !== theta) disposeTree(tree);
    return vector;
  };
  return { seg, removal, retrained, change: addScaled(retrained, -1, optimum), edited };
}

/** Uses random instances of these shapes, one after the other. */
export async function overInstances<R>(
  device: Device,
  first: number,
  shapes: readonly Shape[],
  use: (setting: Setting) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  for (const [i, shape] of shapes.entries()) {
    results.push(await withSetting(randomInstance(first + i, shape), device, use));
  }
  return results;
}
