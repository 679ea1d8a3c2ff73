// Batched matrix products in three forms, with a second product, a summand and an activation in the same kernel.

import { ShapeError } from '../../array/errors.ts';
import { formatShape, sameShape, type Shape, sizeOf } from '../../array/shape.ts';
import type { MatmulAct, MatmulForm } from '../../device/webgpu/matmul-plan.ts';
import { bind } from '../bind.ts';
import {
  type CpuCall,
  expectDtypes,
  expectRank,
  type Fused,
  type InputDomain,
  type Primitive,
  type Sample,
  type Tangent,
} from '../op.ts';
import type { Spec, Tensor } from '../tensor.ts';
import { reshape } from './layout.ts';
import { gpuMatmul } from './matmul-gpu.ts';
import { type MatmulParams, productSizes } from './matmul-params.ts';
import { gelu, quickGelu, relu, sigmoid, tanh } from './unary.ts';
import { logistic, normalCdf, QUICK } from './special.ts';

/** The batch axes of a product: of whichever operand has some; both must agree if both do. */
function batchOf(op: string, a: Shape, b: Shape): Shape {
  const [p, q] = [a.slice(0, -2), b.slice(0, -2)];
  if (p.length > 0 && q.length > 0 && !sameShape(p, q)) {
    throw new ShapeError(
      `${op}: batch axes differ, ${formatShape(a)} × ${formatShape(b)}; broadcastTo one side, or drop its batch axes`,
    );
  }
  return p.length > 0 ? p : q;
}

function productShape(op: string, form: MatmulForm, a: Spec, b: Spec): Shape {
  expectRank(op, a, 2, 'reshape vectors to matrices');
  expectRank(op, b, 2, 'reshape vectors to matrices');
  const { m, n, k, kb } = productSizes(form, a.shape, b.shape);
  if (k !== kb) {
    const hint = {
      nn: 'transpose one side, or use form nt or tn',
      nt: 'form nt wants equal columns',
      tn: 'form tn wants equal rows',
    }[form];
    throw new ShapeError(`${op}: inner dimensions differ, ${formatShape(a.shape)} × ${formatShape(b.shape)}; ${hint}`);
  }
  return [...batchOf(op, a.shape, b.shape), m, n];
}

const shapeRule =
  (name: string): Primitive<MatmulParams>['shape'] =>
  (inputs, { form, alpha2, addend }) => {
    expectDtypes(name, inputs);
    const shape = productShape(name, form, inputs[0], inputs[1]);
    if (alpha2 !== null) {
      const second = productShape(name, form, inputs[2], inputs[3]);
      if (!sameShape(shape, second))
        throw new ShapeError(
          `${name}: products of shapes ${formatShape(shape)} and ${formatShape(second)}; they must agree`,
        );
    }
    const c = inputs[alpha2 === null ? 2 : 4];
    if (addend && !sameShape(c.shape, shape) && !sameShape(c.shape, shape.slice(-1))) {
      throw new ShapeError(
        `${name}: summand ${formatShape(c.shape)} for a product ${formatShape(shape)}; give that shape, or one row`,
      );
    }
    return { shape, dtype: 'real' };
  };

/** y += alpha·A·B for one matrix of a batch. */
function cpuProduct(
  form: MatmulForm,
  alpha: number,
  a: Float64Array,
  b: Float64Array,
  y: Float64Array,
  { m, n, k }: { m: number; n: number; k: number },
): void {
  if (form === 'nt') {
    for (let i = 0; i < m; i++) {
      for (let j = 0; j < n; j++) {
        let total = 0;
        for (let p = 0, r = i * k, c = j * k; p < k; p++) total += a[r + p] * b[c + p];
        y[i * n + j] += alpha * total;
      }
    }
    return;
  }
  const [rowStep, innerStep] = form === 'nn' ? [k, 1] : [1, m];
  for (let i = 0; i < m; i++) {
    for (let p = 0; p < k; p++) {
      const factor = alpha * a[i * rowStep + p * innerStep];
      for (let j = 0, r = i * n, c = p * n; j < n; j++) y[r + j] += factor * b[c + j];
    }
  }
}

const ACTIVATIONS: Record<MatmulAct, (x: number) => number> = {
  none: (x) => x,
  gelu: (x) => x * normalCdf(x),
  quickGelu: (x) => x * logistic(QUICK * x),
  tanh: Math.tanh,
  relu: (x) => Math.max(x, 0),
  sigmoid: logistic,
};

function cpuMatmul({ x, y, shapes, shape, params: { form, alpha, alpha2, addend, act } }: CpuCall<MatmulParams>): void {
  const [m, n] = shape.slice(-2);
  const batch = sizeOf(shape.slice(0, -2));
  if (addend) {
    const c = x[x.length - 1];
    for (let i = 0; i < y.length; i++) y[i] = c[i % c.length];
  }
  const pairs = [{ at: 0, factor: alpha }, ...(alpha2 === null ? [] : [{ at: 2, factor: alpha2 }])];
  for (const { at, factor } of pairs) {
    const { k } = productSizes(form, shapes[at], shapes[at + 1]);
    for (let z = 0; z < batch; z++) {
      const part = (i: number): Float64Array => {
        const size = sizeOf(shapes[i].slice(-2));
        return shapes[i].length > 2 ? x[i].subarray(z * size, (z + 1) * size) : x[i];
      };
      cpuProduct(form, factor, part(at), part(at + 1), y.subarray(z * m * n, (z + 1) * m * n), { m, n, k });
    }
  }
  if (act !== 'none') for (let i = 0; i < y.length; i++) y[i] = ACTIVATIONS[act](y[i]);
}

interface Term {
  readonly a: Tensor;
  readonly b: Tensor;
  readonly alpha: number;
}

/** Σ alpha·A·B + c in as few kernels as two products each allow; null if there is nothing to add. */
function sumOfProducts(form: MatmulForm, terms: readonly Term[], c: Tangent): Tangent {
  let total: Tangent = c;
  for (let i = 0; i < terms.length; i += 2) {
    const [first, second] = [terms[i], terms.at(i + 1)];
    const inputs = [first.a, first.b, ...(second ? [second.a, second.b] : []), ...(total ? [total] : [])];
    const alpha2 = second?.alpha ?? null;
    total = bind(matmulOp, inputs, { form, alpha: first.alpha, alpha2, addend: total !== null, act: 'none' });
  }
  return total;
}

/** Cotangents of A and B in alpha·A·B, each again a product of one of the three forms. */
function productVjp(form: MatmulForm, ct: Tensor, { a, b, alpha }: Term, needs: readonly boolean[]): Tangent[] {
  const da = (): Tensor =>
    form === 'tn' ? product('nt', b, ct, alpha) : product(form === 'nn' ? 'nt' : 'nn', ct, b, alpha);
  const db = (): Tensor =>
    form === 'nt' ? product('tn', ct, a, alpha) : product(form === 'nn' ? 'tn' : 'nn', a, ct, alpha);
  return [needs[0] ? da() : null, needs[1] ? db() : null];
}

const product = (form: MatmulForm, a: Tensor, b: Tensor, alpha: number): Tensor =>
  bind(matmulOp, [a, b], { form, alpha, alpha2: null, addend: false, act: 'none' });

const termsOf = (x: readonly Tensor[], { alpha, alpha2 }: MatmulParams): Term[] => [
  { a: x[0], b: x[1], alpha },
  ...(alpha2 === null ? [] : [{ a: x[2], b: x[3], alpha: alpha2 }]),
];

const N = (shape: Shape): InputDomain => ({ shape, draw: 'normal' });
const plain = { alpha: 1, alpha2: null, addend: false, act: 'none' } as const;
const SAMPLES: Sample<MatmulParams>[] = [
  { inputs: [N([3, 5]), N([5, 4])], params: { ...plain, form: 'nn' } },
  { inputs: [N([3, 5]), N([4, 5])], params: { ...plain, form: 'nt', alpha: -0.5 } },
  { inputs: [N([5, 3]), N([5, 4])], params: { ...plain, form: 'tn' } },
  { inputs: [N([2, 3, 4]), N([2, 4, 5])], params: { ...plain, form: 'nn' } },
  { inputs: [N([2, 3, 8]), N([2, 7, 8])], params: { ...plain, form: 'nt' } },
  { inputs: [N([2, 4, 3]), N([2, 4, 5])], params: { ...plain, form: 'tn' } },
  { inputs: [N([3, 4]), N([2, 4, 5])], params: { ...plain, form: 'nn' } },
  { inputs: [N([2, 4, 3]), N([4, 5])], params: { ...plain, form: 'tn' } },
  {
    inputs: [N([6, 8]), N([4, 8]), N([6, 2]), N([4, 2]), N([4])],
    params: { form: 'nt', alpha: 1, alpha2: 0.25, addend: true, act: 'none' },
  },
  {
    inputs: [N([2, 4]), N([4, 3]), N([2, 5]), N([5, 3]), N([2, 3])],
    params: { form: 'nn', alpha: 2, alpha2: 1, addend: true, act: 'none' },
  },
];

export const matmulOp: Primitive<MatmulParams> = {
  name: 'matmul',
  shape: shapeRule('matmul'),
  cpu: cpuMatmul,
  gpu: gpuMatmul,
  jvp: (x, _y, params) => (dx) => {
    const terms = termsOf(x, params).flatMap(({ a, b, alpha }, i): Term[] => {
      const [da, db] = [dx[2 * i], dx[2 * i + 1]];
      return [...(da ? [{ a: da, b, alpha }] : []), ...(db ? [{ a, b: db, alpha }] : [])];
    });
    return sumOfProducts(params.form, terms, params.addend ? dx[dx.length - 1] : null);
  },
  vjp: (ct, x, _y, params, needs) => {
    const parts = termsOf(x, params).flatMap((term, i) =>
      productVjp(params.form, ct, term, needs.slice(2 * i, 2 * i + 2)),
    );
    return params.addend ? [...parts, ct] : parts;
  },
  keeps: 'inputs',
  samples: SAMPLES,
};

const APPLY: Record<MatmulAct, (x: Tensor) => Tensor> = { none: (x) => x, gelu, quickGelu, tanh, relu, sigmoid };

/** matmul followed by an activation, in one kernel. */
const activatedMatmulOp: Fused<MatmulParams> = {
  name: 'activatedMatmul',
  shape: shapeRule('activatedMatmul'),
  cpu: cpuMatmul,
  gpu: gpuMatmul,
  define: (x, params) => APPLY[params.act](bind(matmulOp, x, { ...params, act: 'none' })),
  samples: (['gelu', 'quickGelu', 'tanh', 'relu', 'sigmoid'] as const).map((act) => ({
    inputs: [N([6, 8]), N([4, 8]), N([4])],
    params: { form: 'nt', alpha: 1, alpha2: null, addend: true, act },
  })),
};

/** Options of {@link matmul}. */
export interface MatmulOptions {
  /** nn: A·B; nt: A·Bᵀ; tn: Aᵀ·B, for matrices as stored. */
  form?: MatmulForm;
  /** Factor of the product. */
  alpha?: number;
  /** A second product of the same form, added in the same kernel. */
  plus?: { a: Tensor; b: Tensor; alpha?: number };
  /** Added to the product: its shape, or one row. */
  addend?: Tensor | undefined;
  /** Applied to the sum. */
  act?: MatmulAct;
}

/**
 * alpha·A·B, batched over leading axes (one side may have none), with an optional second product, summand and activation.
 * @throws ShapeError when inner sizes or batch axes do not fit
 * @example matmul(x, w, { form: 'nt', addend: bias, act: 'gelu' });
 */
export function matmul(
  a: Tensor,
  b: Tensor,
  { form = 'nn', alpha = 1, plus, addend, act = 'none' }: MatmulOptions = {},
): Tensor {
  const flat =
    a.shape.length > 2 && b.shape.length === 2 && form !== 'tn' && (plus === undefined || plus.b.shape.length === 2);
  const rows = (t: Tensor): Tensor => (flat && t.shape.length > 2 ? reshape(t, [-1, t.shape[t.shape.length - 1]]) : t);
  const inputs = [rows(a), b];
  if (plus !== undefined) inputs.push(rows(plus.a), plus.b);
  if (addend !== undefined) inputs.push(rows(addend));
  const params = {
    form,
    alpha,
    alpha2: plus === undefined ? null : (plus.alpha ?? 1),
    addend: addend !== undefined,
    act,
  };
  const y = bind(act === 'none' ? matmulOp : activatedMatmulOp, inputs, params);
  return flat ? reshape(y, [...a.shape.slice(0, -1), y.shape[1]]) : y;
}

/** A low-rank update scale·B·A of a weight: A is rank × in, B is out × rank. */
export interface LowRank {
  readonly a: Tensor;
  readonly b: Tensor;
  readonly scale: number;
}

/**
 * act(x·Wᵀ + bias + scale·(x·Aᵀ)·Bᵀ), W stored out × in as in PyTorch.
 * @example linear(x, w, { bias, act: 'quickGelu', lora: { a, b, scale: 2 } });
 */
export function linear(
  x: Tensor,
  w: Tensor,
  { bias, act = 'none', lora }: { bias?: Tensor | undefined; act?: MatmulAct; lora?: LowRank | undefined } = {},
): Tensor {
  const plus = lora && { a: matmul(x, lora.a, { form: 'nt' }), b: lora.b, alpha: lora.scale };
  return matmul(x, w, { form: 'nt', act, addend: bias, ...(plus ? { plus } : {}) });
}

export const matmulOps = [matmulOp, activatedMatmulOp];
