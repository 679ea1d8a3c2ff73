// The op record: everything the engine and its tests know of one op.

import { DtypeError, ShapeError } from '../array/errors.ts';
import { formatShape, type Shape } from '../array/shape.ts';
import type { WebGpuDevice } from '../device/webgpu/device.ts';
import type { GpuStorage } from '../device/webgpu/pool.ts';
import type { Spec, Tensor } from './tensor.ts';

/** What a CPU reference gets: inputs `x` (int inputs as Int32Array) and the output `y`, zero-filled. */
export interface CpuCall<P> {
  readonly x: readonly Float64Array[];
  readonly y: Float64Array;
  readonly shapes: readonly Shape[];
  readonly shape: Shape;
  readonly params: P;
}

/** What a WebGPU implementation gets. */
export interface GpuCall<P> {
  readonly op: string;
  readonly device: WebGpuDevice;
  readonly x: readonly GpuStorage[];
  readonly y: GpuStorage;
  readonly shapes: readonly Shape[];
  readonly shape: Shape;
  readonly params: P;
}

/**
 * How the tests draw one input: seeded normals; positives away from 0; eighths, or points midway between them, so that
 * two inputs never tie; constants 0 and 1; whole numbers below a bound. `gap` keeps values away from kinks.
 */
export interface InputDomain {
  readonly shape: Shape;
  readonly draw: 'normal' | 'positive' | 'eighths' | 'between' | 'mask' | { readonly below: number };
  readonly gap?: { readonly from: readonly number[]; readonly by: number };
}

/** One case on which the registry tests run an op. */
export interface Sample<P> {
  readonly inputs: readonly InputDomain[];
  readonly params: P;
}

/** A tangent or cotangent; null stands for zero and costs nothing. */
export type Tangent = Tensor | null;

/** Values that a tape holds for a rule. */
export type Keeps = 'both' | 'inputs' | 'output' | 'none';

interface OpBase<P> {
  readonly name: string;
  /** Shape rule; throws a ShapeError or DtypeError that says what to do. */
  readonly shape: (inputs: readonly Spec[], params: P) => Spec;
  /** Float64 reference. */
  readonly cpu: (call: CpuCall<P>) => void;
  /** WGSL implementation. */
  readonly gpu: (call: GpuCall<P>) => void;
  readonly samples: readonly Sample<P>[];
  /** The output is the input's memory under another shape; `cpu` and `gpu` are not called. */
  readonly alias?: true;
}

/**
 * An op with derivative rules, written in ops so that they differentiate again. A rule may give a tangent that only
 * broadcasts to the output, and a cotangent as wide as the output of an input that was broadcast: whoever applies the
 * rule repeats the one and sums the other.
 */
export interface Primitive<P> extends OpBase<P> {
  /** Linearises at `x`: work that needs only primals is done once, the returned map is linear in the tangents. */
  readonly jvp: (x: readonly Tensor[], y: Tensor, params: P) => (dx: readonly Tangent[]) => Tangent;
  /** Cotangents of the inputs; entries whose `needs` is false are ignored. */
  readonly vjp: (
    ct: Tensor,
    x: readonly Tensor[],
    y: Tensor,
    params: P,
    needs: readonly boolean[],
  ) => readonly Tangent[];
  /** Which values `vjp` reads; shapes are always there. Both unless told. */
  readonly keeps?: Keeps;
}

/** An op with a kernel of its own that is differentiated through its definition in other ops. */
export interface Fused<P> extends OpBase<P> {
  readonly define: (x: readonly Tensor[], params: P) => Tensor;
}

/** A piecewise constant op: its derivative is zero wherever it has one. */
export interface Constant<P> extends OpBase<P> {
  readonly derivative: 'zero';
}

/** An op without a derivative; differentiating through it throws, with the reason. */
export interface Discrete<P> extends OpBase<P> {
  readonly derivative: 'none';
  readonly why: string;
}

/** One record per op. */
export type Op<P> = Primitive<P> | Fused<P> | Constant<P> | Discrete<P>;

/** Checks the dtypes of an op's inputs. */
export function expectDtypes(op: string, inputs: readonly Spec[], ...dtypes: Spec['dtype'][]): void {
  inputs.forEach((x, i) => {
    const wanted = dtypes[i] ?? 'real';
    if (x.dtype !== wanted) {
      throw new DtypeError(
        `${op}: operand ${i} is ${x.dtype}, ${wanted} expected; convert it with tensor(…, '${wanted}')`,
      );
    }
  });
}

/** Checks that a tensor has at least `rank` axes. */
export function expectRank(op: string, x: Spec, rank: number, fix: string): void {
  if (x.shape.length < rank)
    throw new ShapeError(`${op}: shape ${formatShape(x.shape)} has fewer than ${rank} axes; ${fix}`);
}
