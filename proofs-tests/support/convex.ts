// Random convex problems, trained to the end, with a set to remove.

import * as ecif from '../../src/index.ts';

/** Sizes and constants of a random problem. */
export interface ConvexSetting {
  readonly seed: number;
  readonly pairs?: number;
  readonly batches?: number;
  readonly text?: number;
  readonly image?: number;
  readonly temperature?: number;
  readonly decay?: number;
  readonly remove?: number;
}

/** A trained problem and the removal of a random set from it. */
export interface Trained {
  readonly problem: ecif.Problem<ecif.Bilinear, ecif.PairBatch>;
  readonly theta: ecif.Bilinear;
  readonly h: ecif.CurvatureSolver<ecif.Bilinear>;
  readonly seg: ecif.Seg;
  readonly removal: ecif.ModelRemoval<ecif.Bilinear>;
}

/** Unit rows from a seeded normal. */
function unitRows(rng: ecif.Rng, count: number, width: number): number[][] {
  return Array.from({ length: count }, () => {
    const v = Array.from({ length: width }, () => rng.normal());
    return v.map((x) => x / Math.hypot(...v));
  });
}

export async function trainedConvex(device: ecif.Device, setting: ConvexSetting): Promise<Trained> {
  const {
    seed,
    pairs = 12,
    batches: count = 2,
    text = 4,
    image = 3,
    temperature = 0.5,
    decay = 1,
    remove = 1,
  } = setting;
  const rng = ecif.createRng(seed);
  const [x, y] = [unitRows(rng, pairs, text), unitRows(rng, pairs, image)];
  const order = [...rng.permutation(pairs)];
  const size = pairs / count;
  const ids = Array.from({ length: count }, (_, m) => order.slice(m * size, (m + 1) * size));
  const rows = (m: number[][], of: number[]): ecif.Tensor =>
    ecif.tensor(
      device,
      of.map((i) => m[i]),
    );
  const batches = ids.map((of) => ({ text: rows(x, of), image: rows(y, of) }));
  const problem = { model: ecif.bilinear(temperature), batches, decay };
  const { theta } = await ecif.minimise(ecif.totalLoss(problem), { w: ecif.zeros(device, [text, image]) });
  const h = await ecif.curvatureAt(ecif.totalLoss(problem), theta);
  const seg = ecif.segOf(ids, [...rng.permutation(pairs)].slice(0, remove));
  return { problem, theta, h, seg, removal: ecif.removalOf(problem, theta, seg, h) };
}
