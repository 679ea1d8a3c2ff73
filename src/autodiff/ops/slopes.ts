// Derivatives of activations applied to a tangent in one pass: k(x)·t, linear in t.

import { addTangents, mul } from './binary.ts';
import { applyBinary, binary } from './broadcast.ts';
import { logistic, normalCdf, normalPdf, QUICK } from './special.ts';
import { affine, geluCurvature, quickGeluCurvature } from './unary.ts';
import type { Primitive } from '../op.ts';
import type { Tensor } from '../tensor.ts';

interface Slope {
  readonly name: string;
  /** Case of binary.part.wgsl. */
  readonly code: number;
  readonly value: (x: number, t: number) => number;
  readonly apply: (x: Tensor, t: Tensor) => Tensor;
  /** k′(x)·t. */
  readonly curvature: (x: Tensor, t: Tensor) => Tensor;
}

function slope({ name, code, value, apply, curvature }: Slope): Primitive<null> {
  return binary({
    name,
    code,
    value,
    jvp:
      ([x, t]) =>
      ([dx, dt]) =>
        addTangents(dt && apply(x, dt), dx && mul(curvature(x, t), dx)),
    vjp: (ct, [x, t], _y, _params, needs) => [
      needs[0] ? mul(curvature(x, t), ct) : null,
      needs[1] ? apply(x, ct) : null,
    ],
    keeps: 'inputs',
    samples: [
      {
        inputs: [
          { shape: [3, 5], draw: 'normal' },
          { shape: [3, 5], draw: 'normal' },
        ],
        params: null,
      },
    ],
  });
}

/** (1 − y²)·t. */
const tanhGradOp = slope({
  name: 'tanhGrad',
  code: 8,
  value: (y, t) => (1 - y * y) * t,
  apply: (y, t) => tanhGrad(y, t),
  curvature: (y, t) => affine(mul(y, t), -2, 0),
});

/** y(1 − y)·t. */
const sigmoidGradOp = slope({
  name: 'sigmoidGrad',
  code: 9,
  value: (y, t) => y * (1 - y) * t,
  apply: (y, t) => sigmoidGrad(y, t),
  curvature: (y, t) => mul(affine(y, -2, 1), t),
});

/** (Φ(x) + x·φ(x))·t. */
const geluGradOp = slope({
  name: 'geluGrad',
  code: 10,
  value: (x, t) => (normalCdf(x) + x * normalPdf(x)) * t,
  apply: (x, t) => geluGrad(x, t),
  curvature: (x, t) => mul(geluCurvature(x), t),
});

/** (σ + a·x·σ(1 − σ))·t with σ = σ(a·x), a = 1.702. */
const quickGeluGradOp = slope({
  name: 'quickGeluGrad',
  code: 11,
  value: (x, t) => {
    const s = logistic(QUICK * x);
    return (s + QUICK * x * s * (1 - s)) * t;
  },
  apply: (x, t) => quickGeluGrad(x, t),
  curvature: (x, t) => mul(quickGeluCurvature(x), t),
});

export const tanhGrad = applyBinary(tanhGradOp);
export const sigmoidGrad = applyBinary(sigmoidGradOp);
export const geluGrad = applyBinary(geluGradOp);
export const quickGeluGrad = applyBinary(quickGeluGradOp);

export const slopeOps = [tanhGradOp, sigmoidGradOp, geluGradOp, quickGeluGradOp];
