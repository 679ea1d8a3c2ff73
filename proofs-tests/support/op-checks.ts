// What every op must satisfy, computed from its record alone; each check returns a relative error.

import { createRng, type Rng } from '../../src/array/rng.ts';
import { sizeOf } from '../../src/array/shape.ts';
import { bind } from '../../src/autodiff/bind.ts';
import type { InputDomain, Op, Sample } from '../../src/autodiff/op.ts';
import { add, mul } from '../../src/autodiff/ops/binary.ts';
import { sum } from '../../src/autodiff/ops/reduce.ts';
import { affine, square } from '../../src/autodiff/ops/unary.ts';
import { scope, type Tensor, tensor } from '../../src/autodiff/tensor.ts';
import { hvp } from '../../src/autodiff/curvature.ts';
import { grad, jvp, vjp } from '../../src/autodiff/transforms.ts';
import type { Device } from '../../src/device/open.ts';

type Vector = Float64Array;

/** Largest relative error allowed, one row per dtype. */
export const TOLERANCE = {
  cpu: { forward: 0, adjoint: 1e-12, jvp: 1e-7, hvp: 1e-6, symmetry: 1e-11, tangent: 0, gradient: 0, product: 0 },
  webgpu: {
    forward: 2e-6,
    adjoint: 2e-5,
    jvp: 1e-2,
    hvp: 1e-2,
    symmetry: 5e-5,
    tangent: 1e-5,
    gradient: 1e-5,
    product: 5e-5,
  },
} as const;

function draw(domain: InputDomain, rng: Rng): Vector {
  const one = (): number => {
    if (typeof domain.draw === 'object') return rng.int(domain.draw.below);
    const kinds = {
      normal: () => rng.normal(),
      positive: () => 0.5 + Math.abs(rng.normal()),
      eighths: () => (rng.int(33) - 16) / 8,
      between: () => (rng.int(32) - 16) / 8 + 1 / 16,
      mask: () => rng.int(2),
    };
    return kinds[domain.draw]();
  };
  const clear = (): number => {
    for (;;) {
      const v = one();
      if (domain.gap === undefined || domain.gap.from.every((p) => Math.abs(v - p) > (domain.gap?.by ?? 0))) return v;
    }
  };
  return Float64Array.from({ length: sizeOf(domain.shape) }, clear);
}

/** One op at one random point: its inputs on the host, and which of them are differentiated. */
export class Case {
  readonly op: Op<unknown>;
  readonly params: unknown;
  readonly domains: readonly InputDomain[];
  readonly values: readonly Vector[];
  readonly free: readonly number[];
  readonly #rng: Rng;

  /** @param only differentiate this one input, the others being constants */
  constructor(op: Op<unknown>, sample: Sample<unknown>, seed: number, only?: number) {
    this.#rng = createRng(seed);
    this.op = op;
    this.params = sample.params;
    this.domains = sample.inputs;
    this.values = sample.inputs.map((d) => draw(d, this.#rng));
    const free = [...sample.inputs.keys()].filter(
      (i) => typeof sample.inputs[i].draw === 'string' && sample.inputs[i].draw !== 'mask',
    );
    this.free = only === undefined ? free : free.filter((i) => i === only);
  }

  /** Standard normals in the shape of the differentiated inputs. */
  direction(): Vector[] {
    return this.free.map((i) => Float64Array.from(this.values[i], () => this.#rng.normal()));
  }

  normals(size: number): Vector {
    return Float64Array.from({ length: size }, () => this.#rng.normal());
  }

  /** The op as a function of the differentiated inputs. */
  on(device: Device): { f: (x: readonly Tensor[]) => Tensor; x: Tensor[]; put: (v: readonly Vector[]) => Tensor[] } {
    const input = (i: number, v: Vector): Tensor =>
      tensor(device, v, this.domains[i].shape, typeof this.domains[i].draw === 'object' ? 'int' : 'real');
    const fixed = this.values.map((v, i) => input(i, v));
    return {
      x: this.free.map((i) => fixed[i]),
      f: (x) =>
        bind(
          this.op,
          fixed.map((t, i) => (this.free.includes(i) ? x[this.free.indexOf(i)] : t)),
          this.params,
        ),
      put: (vs) => vs.map((v, j) => input(this.free[j], v)),
    };
  }

  shifted(by: readonly Vector[], h: number): Vector[] {
    return this.free.map((i, j) => this.values[i].map((x, k) => x + h * by[j][k]));
  }
}

const read = async (t: Tensor): Promise<Vector> => Float64Array.from(await t.data());
const readAll = async (ts: readonly Tensor[]): Promise<Vector> =>
  Float64Array.from((await Promise.all(ts.map(read))).flatMap((v) => [...v]));
const dot = (a: Vector, b: Vector): number => a.reduce((s, x, i) => s + x * b[i], 0);
const peak = (a: Vector): number => a.reduce((m, x) => Math.max(m, Math.abs(x)), 0);
const flat = (vs: readonly Vector[]): Vector => Float64Array.from(vs.flatMap((v) => [...v]));

/** Largest difference relative to the largest entry; NaN counts as infinitely wrong. */
export function relativeError(actual: Vector, expected: Vector): number {
  let worst = 0;
  for (let i = 0; i < expected.length; i++) {
    const error = Math.abs(actual[i] - expected[i]);
    if (Number.isNaN(error)) return Infinity;
    worst = Math.max(worst, error);
  }
  return actual.length === expected.length ? worst / Math.max(peak(expected), 1e-2) : Infinity;
}

/** φ(x) = ⟨c, op(x)⟩ + ½‖op(x)‖², so that second derivatives of linear ops show too. */
const potential =
  (f: (x: readonly Tensor[]) => Tensor, c: Tensor) =>
  (x: readonly Tensor[]): Tensor => {
    const y = f(x);
    return add(sum(mul(c, y)), affine(sum(square(y)), 0.5, 0));
  };

/** Whether finite differences say anything of an op: not where the record says that it has no derivative on purpose. */
export const hasRules = (op: Op<unknown>): boolean =>
  op.name !== 'stopGradient' && !('derivative' in op && op.derivative === 'none');

/** Whether they say anything of a case: not where every input is a constant. */
export const isSmooth = (kase: Case): boolean => hasRules(kase.op) && kase.free.length > 0;

/** What one case computes on one device. */
export interface Derived {
  readonly y: Vector;
  readonly tangent: Vector;
  readonly gradient: Vector;
  readonly product: Vector;
}

/** Directions fixed per case, so that devices can be compared. */
export interface Probe {
  readonly u: Vector[];
  readonly v: Vector[];
  readonly c: Vector;
}

export async function probeFor(kase: Case, device: Device): Promise<Probe> {
  const { f, x } = kase.on(device);
  return { u: kase.direction(), v: kase.direction(), c: kase.normals((await read(f(x))).length) };
}

/** Value, tangent along v, gradient of φ, and Hessian of φ times v. */
export async function derive(kase: Case, device: Device, { v, c }: Probe): Promise<Derived> {
  const { f, x, put } = kase.on(device);
  const y = f(x);
  const phi = potential(f, tensor(device, c, y.shape));
  return {
    y: await read(y),
    tangent: await read(scope(() => jvp(f, x as readonly Tensor[], put(v)).tangent)),
    gradient: await readAll(scope(() => grad(phi)(x as readonly Tensor[]))),
    product: await readAll(scope(() => hvp(phi, x as readonly Tensor[], put(v)))),
  };
}

/** Value of a discrete op. */
export async function valueOf(kase: Case, device: Device): Promise<Vector> {
  const { f, x } = kase.on(device);
  return read(f(x));
}

/** Relative errors of one case on one device: adjointness, finite differences of first and second order, symmetry. */
export async function checkRules(
  kase: Case,
  device: Device,
): Promise<{ adjoint: number; jvp: number; hvp: number; symmetry: number }> {
  const probe = await probeFor(kase, device);
  const { u, v, c } = probe;
  const { f, x, put } = kase.on(device);
  const h = Math.cbrt(device.epsilon);
  const { tangent, product } = await derive(kase, device, probe);
  const y = f(x);
  const phi = potential(f, tensor(device, c, y.shape));
  const pulled = scope(() => {
    const back = vjp((t: readonly Tensor[]) => f(t), x as readonly Tensor[]);
    const parts = back.pull(tensor(device, c, y.shape));
    back.dispose();
    return parts;
  });
  const at = (s: number): Tensor[] => put(kase.shifted(v, s * h));
  const [y1, y0] = [await read(f(at(1))), await read(f(at(-1)))];
  const gradAt = async (s: number): Promise<Vector> => readAll(scope(() => grad(phi)(at(s) as readonly Tensor[])));
  const [g1, g0] = [await gradAt(1), await gradAt(-1)];
  const central = (p: Vector, q: Vector): Vector => p.map((a, i) => (a - q[i]) / (2 * h));
  const other = await readAll(scope(() => hvp(phi, x as readonly Tensor[], put(u))));
  const left = dot(c, tangent);
  const right = dot(await readAll(pulled), flat(v));
  const sides = [dot(flat(u), product), dot(flat(v), other)];
  const size = Math.sqrt(dot(c, c) * dot(tangent, tangent)) + 1e-2;
  const curvature = Math.sqrt(dot(product, product) * dot(flat(u), flat(u))) + 1e-2;
  return {
    adjoint: Math.abs(left - right) / size,
    jvp: relativeError(tangent, central(y1, y0)),
    hvp: relativeError(product, central(g1, g0)),
    symmetry: Math.abs(sides[0] - sides[1]) / curvature,
  };
}
