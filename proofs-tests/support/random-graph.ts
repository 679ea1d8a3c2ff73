// Random small graphs of random ops on 4×4 tensors, from a list of whole numbers.

import fc from 'fast-check';
import { createRng } from '../../src/array/rng.ts';
import * as ecif from '../../src/index.ts';

type Tensor = ecif.Tensor;
const SIDE = 4;

/** Keeps values of order one, so that finite differences stay accurate. */
const tame = (x: Tensor): Tensor => ecif.tanh(x);
const fixedIndex = (x: Tensor): Tensor => ecif.tensor(x.device, [2, 0, 3, 2], [SIDE], 'int');

/** Steps of a graph: each takes three earlier values and gives one more of the same shape. */
const STEPS: Record<string, (a: Tensor, b: Tensor, c: Tensor) => Tensor> = {
  add: (a, b) => ecif.add(a, b),
  sub: (a, b) => ecif.sub(a, b),
  mul: (a, b) => ecif.mul(a, b),
  div: (a, b) => ecif.div(a, ecif.add(ecif.square(b), 1)),
  exp: (a) => ecif.exp(tame(a)),
  expm1: (a) => ecif.expm1(tame(a)),
  log: (a) => ecif.log(ecif.add(ecif.square(a), 1)),
  log1p: (a) => ecif.log1p(ecif.square(a)),
  sqrt: (a) => ecif.sqrt(ecif.add(ecif.square(a), 1)),
  rsqrt: (a) => ecif.rsqrt(ecif.add(ecif.square(a), 1)),
  square: (a) => ecif.square(tame(a)),
  pow: (a) => ecif.pow(ecif.add(ecif.square(tame(a)), 1), 1.5),
  tanh: (a) => ecif.tanh(a),
  sigmoid: (a) => ecif.sigmoid(a),
  erf: (a) => ecif.erf(a),
  gelu: (a) => ecif.gelu(a),
  quickGelu: (a) => ecif.quickGelu(a),
  neg: (a) => ecif.neg(a),
  softmax: (a) => ecif.softmax(a),
  causalSoftmax: (a) => ecif.softmax(a, { causal: true }),
  logSoftmax: (a) => ecif.logSoftmax(tame(a)),
  layerNorm: (a, b) => ecif.layerNorm(a, ecif.sum(tame(b), 0), ecif.mean(b, 0), 0.1),
  l2Normalize: (a) => ecif.l2Normalize(a, 0.1),
  matmul: (a, b) => ecif.matmul(tame(a), tame(b)),
  matmulNT: (a, b) => ecif.matmul(tame(a), tame(b), { form: 'nt', alpha: 0.5 }),
  matmulTN: (a, b) => ecif.matmul(tame(a), tame(b), { form: 'tn' }),
  linear: (a, b, c) =>
    ecif.linear(tame(a), tame(b), {
      bias: ecif.mean(c, 1),
      act: 'gelu',
      lora: { a: ecif.slice(b, [0, 0], [2, SIDE]), b: ecif.slice(c, [0, 1], [SIDE, 2]), scale: 0.5 },
    }),
  attention: (a, b, c) => ecif.attention(a, tame(b), tame(c), { causal: true }),
  sumRows: (a) => ecif.broadcastTo(ecif.sum(a, 1, { keepDims: true }), [SIDE, SIDE]),
  meanColumns: (a, b) => ecif.add(ecif.mean(a, 0), b),
  logSumExp: (a, b) => ecif.mul(ecif.logSumExp(a, -1, { keepDims: true }), tame(b)),
  permute: (a) => ecif.permute(a),
  sliceConcat: (a, b) => ecif.concat([ecif.slice(a, [0, 0], [1, SIDE]), ecif.slice(b, [1, 0], [3, SIDE])], 0),
  stackMean: (a, b) => ecif.mean(ecif.stack([a, b], 1), 1),
  pad: (a, b) => ecif.add(ecif.pad(ecif.slice(a, [1, 1], [2, 3]), [0, 1], [SIDE, SIDE]), b),
  gather: (a) => ecif.gather(a, fixedIndex(a)),
  scatterAdd: (a) => ecif.scatterAdd(a, fixedIndex(a), SIDE),
  contrastive: (a, b) => ecif.mul(ecif.affine(ecif.contrastive(tame(a)), 0.1, 0), b),
};

const NAMES = Object.keys(STEPS);

/** One graph: what to do, and the seed of the point. */
export interface Graph {
  readonly steps: readonly { readonly op: string; readonly from: readonly [number, number, number] }[];
  readonly seed: number;
}

export const graphs: fc.Arbitrary<Graph> = fc.record({
  steps: fc.array(
    fc.record({
      op: fc.constantFrom(...NAMES),
      from: fc.tuple(fc.nat(99), fc.nat(99), fc.nat(99)),
    }),
    { minLength: 1, maxLength: 7 },
  ),
  seed: fc.nat(2 ** 31 - 1),
});

/** The scalar function a graph stands for, of two 4×4 inputs. */
export function graphFunction({ steps, seed }: Graph): (theta: readonly Tensor[]) => Tensor {
  return (theta) => {
    const weights = createRng(seed ^ 0x5bd1e995);
    const values = [...theta];
    for (const { op, from } of steps) {
      const [a, b, c] = from.map((i) => values[values.length - 1 - (i % values.length)]);
      values.push(STEPS[op](a, b, c));
    }
    const last = values[values.length - 1];
    const w = ecif.tensor(
      last.device,
      Float64Array.from({ length: last.size }, () => weights.normal()),
      last.shape,
    );
    return ecif.sum(ecif.mul(w, ecif.tanh(last)));
  };
}

/** Two inputs and two directions of a graph. */
export function graphPoint({ seed }: Graph): { at: Float64Array[]; along: Float64Array[] } {
  const rng = createRng(seed);
  const normals = (): Float64Array => Float64Array.from({ length: SIDE * SIDE }, () => rng.normal());
  return { at: [normals(), normals()], along: [normals(), normals()] };
}

/** Inputs on a device. */
export const place = (device: ecif.Device, values: readonly Float64Array[]): Tensor[] =>
  values.map((v) => ecif.tensor(device, v, [SIDE, SIDE]));

/** Leaves of a result, one after another. */
export async function readFlat(tensors: readonly Tensor[]): Promise<Float64Array> {
  return Float64Array.from((await ecif.readAll(tensors)).flatMap((part) => [...part]));
}

/** (∇f(x+hv) − ∇f(x−hv))/2h in float64, by Richardson's combination of two steps. */
export async function differencedGradient(graph: Graph, cpu: ecif.Device): Promise<Float64Array> {
  const { at, along } = graphPoint(graph);
  const f = graphFunction(graph);
  const moved = (h: number): Tensor[] =>
    place(
      cpu,
      at.map((x, i) => x.map((v, j) => v + h * along[i][j])),
    );
  const gradientAt = (h: number): Promise<Float64Array> => readFlat(ecif.grad(f)(moved(h)));
  const central = async (h: number): Promise<Float64Array> => {
    const [p, q] = [await gradientAt(h), await gradientAt(-h)];
    return p.map((v, i) => (v - q[i]) / (2 * h));
  };
  const [coarse, fine] = [await central(2e-4), await central(1e-4)];
  return fine.map((v, i) => (4 * v - coarse[i]) / 3);
}
