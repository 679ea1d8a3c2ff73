// The CPU device: float64 typed arrays, the reference every other device is compared with.

import { DeviceError } from '../array/errors.ts';
import type { DeviceBase, Dtype, HostArray, MemoryUse, Storage } from './device.ts';

/** Storage on the CPU is the array itself. */
export interface CpuStorage extends Storage {
  readonly array: Float64Array | Int32Array;
}

/** Runs every op by its float64 reference, at once. */
export class CpuDevice implements DeviceBase<CpuStorage> {
  readonly kind = 'cpu';
  readonly name = 'cpu (float64)';
  readonly reason: string;
  readonly epsilon = 2 ** -53;
  checkFinite: boolean;
  #live = 0;
  #peak = 0;
  #buffers = 0;
  #destroyed = false;

  constructor({ checkFinite = false, reason = 'the CPU was asked for' } = {}) {
    this.checkFinite = checkFinite;
    this.reason = reason;
  }

  alloc(size: number, dtype: Dtype): CpuStorage {
    return this.#adopt(dtype === 'real' ? new Float64Array(size) : new Int32Array(size), dtype);
  }

  upload(data: ArrayLike<number>, dtype: Dtype): CpuStorage {
    return this.#adopt(dtype === 'real' ? Float64Array.from(data) : Int32Array.from(data), dtype);
  }

  read(storage: CpuStorage): Promise<HostArray> {
    return Promise.resolve(storage.array.slice());
  }

  free(storage: CpuStorage): void {
    this.#live -= storage.array.byteLength;
    this.#buffers--;
  }

  tick(): Promise<void> {
    return Promise.resolve();
  }

  sync(): Promise<void> {
    return Promise.resolve();
  }

  memory(): MemoryUse {
    return { live: this.#live, pooled: 0, peak: this.#peak, buffers: this.#buffers };
  }

  destroy(): void {
    this.#destroyed = true;
  }

  #adopt(array: Float64Array | Int32Array, dtype: Dtype): CpuStorage {
    if (this.#destroyed) throw new DeviceError('cpu: the device was destroyed; open a new one');
    this.#live += array.byteLength;
    this.#peak = Math.max(this.#peak, this.#live);
    this.#buffers++;
    return { dtype, size: array.length, refs: 1, array };
  }
}
