// What a device is: typed storage that can be written, read and given back, and a place where ops run.

/** `real` is float64 on the CPU and float32 on WebGPU; `int` is int32 on both. */
export type Dtype = 'real' | 'int';

/** Numbers as they come back from a device. */
export type HostArray = Float64Array | Float32Array | Int32Array;

/** Device memory of one tensor; tensors that alias it count references. */
export interface Storage {
  readonly dtype: Dtype;
  readonly size: number;
  refs: number;
}

/** Bytes on a device: in use, kept for reuse, and the most that was ever allocated at once. */
export interface MemoryUse {
  readonly live: number;
  readonly pooled: number;
  readonly peak: number;
  readonly buffers: number;
}

/** The part of a device that is common to all kinds. */
export interface DeviceBase<S extends Storage> {
  /** One line for people: kind, adapter, precision. */
  readonly name: string;
  /** Why it is this device. */
  readonly reason: string;
  /** Unit roundoff of `real`. */
  readonly epsilon: number;
  /** Throw, naming the op, when an op gives a NaN or an infinity. */
  checkFinite: boolean;
  alloc(size: number, dtype: Dtype, op: string): S;
  upload(data: ArrayLike<number>, dtype: Dtype): S;
  read(storage: S): Promise<HostArray>;
  free(storage: S): void;
  /** Waits until at most a bounded amount of submitted work is outstanding; loops await it once per step. */
  tick(): Promise<void>;
  /** Waits until all work is done, and throws what went wrong in it. */
  sync(): Promise<void>;
  memory(): MemoryUse;
  destroy(): void;
}
