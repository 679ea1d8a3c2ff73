// Chapter 1: one batch in the plane, its similarities, softmax, loss, and what pulls and pushes every point.

import * as ecif from '../../src/index.ts';
import { computation } from './computation.ts';

/** Points of a batch. */
export interface BatchAsked {
  /** x, y of each caption, then of the next. */
  readonly texts: readonly number[];
  /** x, y of each picture. */
  readonly images: readonly number[];
  readonly temperature: number;
}

/** What comes of them; matrices row by row, captions in rows. */
export interface BatchFound {
  /** S_ij = ⟨u_i, v_j⟩/τ */
  readonly similarities: readonly number[];
  /** Softmax of each row, a caption over pictures. */
  readonly rows: readonly number[];
  /** Softmax of each column, a picture over captions. */
  readonly columns: readonly number[];
  readonly loss: number;
  /** Loss of each pair as anchor, in both directions. */
  readonly losses: { readonly t2i: readonly number[]; readonly i2t: readonly number[] };
  /** −∂L/∂u and −∂L/∂v: where a step of training moves every point. */
  readonly forces: { readonly texts: readonly number[]; readonly images: readonly number[] };
}

export const batchFound = computation<BatchAsked, BatchFound>({
  wants: 'any',
  run: async (device, { texts, images, temperature }) => {
    const points = (xy: readonly number[]): ecif.Tensor =>
      ecif.tensor(device, Float64Array.from(xy), [xy.length / 2, 2]);
    const theta = { u: points(texts), v: points(images) };
    const matrix = ({ u, v }: typeof theta): ecif.Tensor => ecif.matmul(u, v, { form: 'nt', alpha: 1 / temperature });
    const made = ecif.scope(() => {
      const s = matrix(theta);
      const { value, grad } = ecif.valueAndGrad((t: typeof theta) => ecif.contrastive(matrix(t)))(theta);
      const { t2i, i2t } = ecif.anchorLosses(s);
      const columns = ecif.permute(ecif.softmax(ecif.permute(s)));
      return [s, ecif.softmax(s), columns, value, t2i, i2t, ecif.neg(grad.u), ecif.neg(grad.v)];
    });
    const [similarities, rows, columns, [loss], t2i, i2t, u, v] = (await ecif.readAll(made)).map((x) => Array.from(x));
    ecif.disposeTree([made, theta]);
    return { similarities, rows, columns, loss, losses: { t2i, i2t }, forces: { texts: u, images: v } };
  },
});
