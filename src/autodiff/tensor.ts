// Tensors, the scopes that own their memory, and the seam by which an interpreter sees an op applied to them.

import { DeviceError, DisposedError, DtypeError, EcifError, ShapeError } from '../array/errors.ts';
import { checkShape, formatShape, type Shape, sizeOf } from '../array/shape.ts';
import { treeLeaves } from '../array/tree.ts';
import type { CpuStorage } from '../device/cpu.ts';
import type { Dtype, HostArray } from '../device/device.ts';
import type { Device } from '../device/open.ts';
import type { GpuStorage } from '../device/webgpu/pool.ts';
import type { Op } from './op.ts';

/** Shape and dtype of a tensor. */
export interface Spec {
  readonly shape: Shape;
  readonly dtype: Dtype;
}

/** Gives ops another meaning: dual numbers, a tape, a recorded program. Higher levels see an op first. */
export interface Interpreter {
  readonly level: number;
  process<P>(op: Op<P>, inputs: readonly Tensor[], params: P): Tensor;
}

/** An n-dimensional array: values on a device, or a value being differentiated. */
export abstract class Tensor implements Spec {
  abstract readonly shape: Shape;
  abstract readonly dtype: Dtype;
  abstract readonly device: Device;
  /** Who interprets ops on this tensor; null for plain values. */
  abstract readonly interpreter: Interpreter | null;
  /** The plain values this tensor is made of. */
  abstract parts(): Concrete[];
  /** A second handle on the same memory that no scope owns; {@link Tensor.release} it. */
  abstract retain(): Tensor;

  /** Gives back a handle from {@link Tensor.retain}. */
  release(): void {
    for (const part of this.parts()) part.dispose();
  }

  /** Number of elements. */
  get size(): number {
    return sizeOf(this.shape);
  }

  /**
   * Copies the values to the host, waiting for the device.
   * @throws EcifError for a value that is being differentiated
   */
  data(): Promise<HostArray> {
    throw new EcifError('data: this value is being differentiated; return it from the function and read it outside');
  }

  /** The value of a tensor with one element. */
  async item(): Promise<number> {
    if (this.size !== 1)
      throw new ShapeError(`item: shape ${formatShape(this.shape)} has ${this.size} elements; use data()`);
    return (await this.data())[0];
  }

  /** Gives the memory back now; using the tensor afterwards throws. */
  dispose(): void {
    this.release();
  }
}

/** A tensor with values on a device. */
export class Concrete extends Tensor {
  readonly shape: Shape;
  readonly device: Device;
  readonly interpreter = null;
  readonly #storage: CpuStorage | GpuStorage;
  #disposed = false;

  /** @param storage its reference is taken over */
  constructor(device: Device, storage: CpuStorage | GpuStorage, shape: Shape) {
    super();
    this.device = device;
    this.#storage = storage;
    this.shape = shape;
  }

  get dtype(): Dtype {
    return this.#storage.dtype;
  }

  get disposed(): boolean {
    return this.#disposed;
  }

  /** The memory, for running `op`. */
  storageFor(op: string): CpuStorage | GpuStorage {
    if (this.#disposed) {
      throw new DisposedError(
        `${op}: a tensor of shape ${formatShape(this.shape)} was disposed; keep() it, or return it from its scope`,
      );
    }
    return this.#storage;
  }

  /** A handle on the same memory under another shape. */
  alias(op: string, shape: Shape): Concrete {
    const storage = this.storageFor(op);
    storage.refs++;
    return new Concrete(this.device, storage, shape);
  }

  parts(): Concrete[] {
    return [this];
  }

  retain(): Concrete {
    return this.alias('retain', this.shape);
  }

  override async data(): Promise<HostArray> {
    return (await readAll([this]))[0];
  }

  override dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    if (--this.#storage.refs === 0) this.device.free(this.#storage as CpuStorage & GpuStorage);
  }
}

/** A tensor of which only the shape was kept. */
export class Ghost extends Tensor {
  readonly interpreter = null;
  readonly shape: Shape;
  readonly dtype: Dtype;
  readonly device: Device;

  constructor(of: Tensor) {
    super();
    this.shape = of.shape;
    this.dtype = of.dtype;
    this.device = of.device;
  }

  parts(): Concrete[] {
    return [];
  }

  retain(): Tensor {
    return this;
  }
}

/**
 * The number that `make` makes; everything it took is given back.
 * @example const loss = await itemOf(() => totalLoss(problem)(theta));
 */
export async function itemOf(make: () => Tensor): Promise<number> {
  const value = scope(make);
  try {
    return await value.item();
  } finally {
    value.dispose();
  }
}

/** Reads several plain tensors with one wait. */
export async function readAll(tensors: readonly Tensor[]): Promise<HostArray[]> {
  const concrete = tensors.map((t) => {
    if (!(t instanceof Concrete))
      throw new EcifError('data: a value is being differentiated; return it from the function and read it outside');
    return t;
  });
  const device = concrete[0]?.device;
  if (device === undefined) return [];
  if (concrete.some((t) => t.device !== device))
    throw new DeviceError('data: tensors of two devices; read each device by itself');
  const held = concrete.map((t) => t.alias('data', t.shape));
  try {
    const storages = held.map((t) => t.storageFor('data'));
    if (device.kind === 'webgpu') return await device.readMany(storages as GpuStorage[]);
    return await Promise.all(storages.map((s) => device.read(s as CpuStorage)));
  } finally {
    for (const handle of held) handle.dispose();
  }
}

// ---- scopes -------------------------------------------------------------------------------------------------------

const scopes: Set<Concrete>[] = [];

/** Puts a fresh handle under the care of the innermost scope. */
export function own<T extends Tensor>(tensor: T): T {
  const scope = scopes.at(-1);
  if (scope !== undefined) for (const part of tensor.parts()) scope.add(part);
  return tensor;
}

/**
 * Runs `f` and gives back the memory of every tensor made in it, except those in the tree that it returns (plain objects
 * and arrays; what a Map or a class instance holds is freed).
 * @param f a synchronous function; await outside of it
 * @returns what `f` returned
 * @example const loss = scope(() => sum(square(sub(x, y))));
 */
export function scope<T>(f: () => T): T {
  const own = new Set<Concrete>();
  scopes.push(own);
  let result: T;
  try {
    result = f();
    const promises = treeLeaves(result).filter((leaf) => leaf instanceof Promise);
    if (promises.length > 0) {
      for (const promise of promises) promise.catch(() => undefined); // the error below says what is wrong
      throw new EcifError('scope: the function is async; await outside, or scope each synchronous part');
    }
  } catch (error) {
    for (const handle of own) handle.dispose();
    throw error;
  } finally {
    scopes.pop();
  }
  if (own.size === 0) return result;
  const leaving = new Set(treeLeaves(result).flatMap((leaf) => (leaf instanceof Tensor ? leaf.parts() : [])));
  const parent = scopes.at(-1);
  for (const handle of own) {
    if (!leaving.has(handle)) handle.dispose();
    else parent?.add(handle);
  }
  return result;
}

/** Takes the tensors of a tree out of every scope: they live until {@link disposeTree}. */
export function keep<T>(tree: T): T {
  for (const leaf of treeLeaves(tree)) {
    if (leaf instanceof Tensor) for (const part of leaf.parts()) for (const s of scopes) s.delete(part);
  }
  return tree;
}

/** Gives back the memory of every tensor of a tree. */
export function disposeTree(tree: unknown): void {
  for (const leaf of treeLeaves(tree)) if (leaf instanceof Tensor) leaf.dispose();
}

// ---- making tensors -----------------------------------------------------------------------------------------------

type Nested = number | readonly Nested[];

function flatten(values: Nested, shape: number[], depth: number, out: number[]): void {
  if (typeof values === 'number') {
    if (depth !== shape.length) throw new ShapeError('tensor: ragged nested list; give rows of equal length');
    out.push(values);
    return;
  }
  if (shape.length === depth) {
    if (out.length > 0) throw new ShapeError('tensor: ragged nested list; give rows of equal length');
    shape.push(values.length);
  }
  if (values.length !== shape[depth]) throw new ShapeError('tensor: ragged nested list; give rows of equal length');
  for (const v of values) flatten(v, shape, depth + 1, out);
}

const isFlat = (x: unknown): x is ArrayLike<number> => ArrayBuffer.isView(x);

/**
 * Copies numbers to a device.
 * @param device where the tensor lives
 * @param values a number, nested lists, or a typed array with `shape`
 * @param shape needed for typed arrays, optional for lists
 * @param dtype `real` unless told
 * @throws ShapeError for ragged lists or a shape of another size; DtypeError for fractions as `int`
 * @example const x = tensor(device, [[1, 2], [3, 4]]);
 */
export function tensor(
  device: Device,
  values: Nested | ArrayLike<number>,
  shape?: Shape,
  dtype: Dtype = 'real',
): Tensor {
  const found: number[] = [];
  let flat: ArrayLike<number>;
  if (isFlat(values)) {
    flat = values;
    found.push(values.length);
  } else {
    const list: number[] = [];
    flatten(values, found, 0, list);
    flat = list;
  }
  const target = shape ?? found;
  checkShape('tensor', target);
  if (sizeOf(target) !== flat.length) {
    throw new ShapeError(
      `tensor: ${flat.length} values for shape ${formatShape(target)} of ${sizeOf(target)}; give as many values`,
    );
  }
  if (dtype === 'int') {
    for (let i = 0; i < flat.length; i++) {
      if ((flat[i] | 0) !== flat[i])
        throw new DtypeError(`tensor: ${flat[i]} is not an int32; round it, or use dtype real`);
    }
  }
  return own(new Concrete(device, device.upload(flat, dtype), target));
}
