// A small convex problem on any device: contrastive loss of S = X·W·Yᵀ with weight decay, as tree and as dense matrix.

import * as ecif from '../../src/index.ts';
import { readFlat } from './random-graph.ts';

/** The one parameter, in a tree. */
export interface Theta {
  w: ecif.Tensor;
}

/** The problem at a point. */
export interface Bilinear {
  readonly loss: (theta: Theta) => ecif.Tensor;
  readonly theta: Theta;
  readonly rhs: Theta;
}

const [PAIRS, TEXT, IMAGE, DECAY] = [12, 5, 4, 0.5];

export function bilinear(device: ecif.Device): Bilinear {
  const rng = ecif.createRng(11);
  const normal = (...shape: number[]): ecif.Tensor =>
    ecif.tensor(
      device,
      Float64Array.from({ length: shape[0] * shape[1] }, () => rng.normal()),
      shape,
    );
  const [x, y] = [normal(PAIRS, TEXT), normal(PAIRS, IMAGE)];
  const loss = ({ w }: Theta): ecif.Tensor =>
    ecif.add(
      ecif.contrastive(ecif.matmul(ecif.matmul(x, w), y, { form: 'nt' })),
      ecif.affine(ecif.sum(ecif.square(w)), DECAY / 2, 0),
    );
  return { loss, theta: { w: ecif.mul(normal(TEXT, IMAGE), 0.2) }, rhs: { w: normal(TEXT, IMAGE) } };
}

/** H⁻¹·rhs by Cholesky of the dense Hessian. */
export async function denseSolution({ loss, theta, rhs }: Bilinear): Promise<Float64Array> {
  const { size, matrix } = await ecif.hessian(loss, theta);
  return ecif.choleskySolve(ecif.cholesky(matrix, size), await readFlat([rhs.w]));
}
