// What a matrix product is asked to do, and its sizes.

import type { Shape } from '../../array/shape.ts';
import type { MatmulAct, MatmulForm } from '../../device/webgpu/matmul-plan.ts';

/** y = alpha·A·B (+ alpha2·A2·B2) (+ c); inputs in that order. */
export interface MatmulParams {
  readonly form: MatmulForm;
  readonly alpha: number;
  /** Factor of the second product, null without one. */
  readonly alpha2: number | null;
  readonly addend: boolean;
  readonly act: MatmulAct;
}

/** Rows, columns and inner size of a product of stored matrices. */
export function productSizes(form: MatmulForm, a: Shape, b: Shape): { m: number; n: number; k: number; kb: number } {
  const [a0, a1] = a.slice(-2);
  const [b0, b1] = b.slice(-2);
  return {
    m: form === 'tn' ? a1 : a0,
    k: form === 'tn' ? a0 : a1,
    n: form === 'nt' ? b0 : b1,
    kb: form === 'nt' ? b1 : b0,
  };
}
