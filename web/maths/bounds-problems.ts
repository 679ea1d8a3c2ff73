// Problems of chapter 4, pairs of emoji in few features and one with a single parameter, and the edits that are bounded.

import type { ConvexFile } from '../../src/ecif/convex-file.ts';
import * as ecif from '../../src/index.ts';
import { EMOJI } from '../data/emoji.gen.ts';
import { convexOf } from './pairs.ts';

/** Which problem is looked at. */
export type BoundsProblem = 'emoji' | 'line';

const NAMES = [
  ...['cat face', 'tulip', 'croissant', 'bicycle', 'kite', 'bell'],
  ...['fox', 'maple leaf', 'pear', 'rocket', 'party popper', 'telescope'],
];

/** Pairs of the emoji problem by their places in `EMOJI`, two batches of six. */
export const BOUNDS_PAIRS: readonly number[] = NAMES.map((name) => EMOJI.findIndex(({ caption }) => caption === name));
const BATCH = 6;

/** Rows of the pairs in the order in which they are removed: from one batch and the other by turns. */
export const BOUNDS_REMOVED: readonly number[] = [0, 6, 1, 7, 2, 8];

/** One feature each side, one batch; the third pair contradicts the first two. */
const LINE = {
  text: [[1], [-1], [1]],
  image: [[1], [-1], [-1]],
  batches: [[0, 1, 2]],
  validation: { text: [[1], [-1]], image: [[1], [-1]] },
};

/** What a problem is made from. */
export interface BoundsSetting {
  readonly problem: BoundsProblem;
  /** Features of each side, of the emoji. */
  readonly features: number;
  readonly temperature: number;
}

/** A problem, for a decay and a number of removed pairs. */
export function boundsFile(
  { problem, features, temperature }: BoundsSetting,
  decay: number,
  removed: number,
): ConvexFile {
  if (problem === 'line') return { name: 'line', temperature, delta: decay, remove: [2], ...LINE };
  const pairs = { pairs: BOUNDS_PAIRS, validation: BOUNDS_PAIRS.slice(0, 2), batch: BATCH, temperature, decay };
  const file = convexOf(pairs, BOUNDS_REMOVED.slice(0, removed));
  const cut = (rows: ConvexFile['text']): number[][] => rows.map((row) => row.slice(0, features));
  const { text, image } = file.validation;
  return {
    ...file,
    text: cut(file.text),
    image: cut(file.image),
    validation: { text: cut(text), image: cut(image) },
  };
}

/** How the model is edited: H⁻¹ of the corrected or of the exact lost gradient, or one Newton step with H₋. */
export type BoundedEstimator = 'corrected' | 'exact' | 'newton';

/** The edits. */
export const EDITS: Readonly<
  Record<BoundedEstimator, (removal: ecif.ModelRemoval<ecif.Bilinear>) => Promise<ecif.Bilinear>>
> = {
  corrected: (removal) => ecif.removeLinear(removal, 'corrected'),
  exact: (removal) => ecif.removeLinear(removal, 'exact'),
  newton: (removal) => ecif.removeByNewton(removal),
};
