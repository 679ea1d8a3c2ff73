// Buffers for tensors: created, counted, kept for reuse up to a cap, destroyed beyond it.

import { DeviceError } from '../../array/errors.ts';
import type { Dtype, MemoryUse, Storage } from '../device.ts';

/** Storage on WebGPU: a buffer that may be longer than the tensor it holds. */
export interface GpuStorage extends Storage {
  readonly id: number;
  readonly buffer: GPUBuffer;
  readonly bytes: number;
  /** Number of the last recorded command that touches this buffer. */
  lastUse: number;
}

interface Block {
  readonly id: number;
  readonly buffer: GPUBuffer;
  readonly bytes: number;
  lastUse: number;
}

const SMALLEST = 256;
/** Most buffers kept for reuse; each costs a mapping of the process, of which there are not many. */
const MOST_POOLED = 4096;

/** Rounds a request up to one of four steps per power of two, so that near-equal sizes share buffers. */
export function sizeClass(bytes: number): number {
  if (bytes <= SMALLEST) return SMALLEST;
  const step = Math.max(SMALLEST, 2 ** (Math.floor(Math.log2(bytes - 1)) - 2));
  return Math.ceil(bytes / step) * step;
}

/**
 * A pool whose blocks are reused in submission order. A block may be handed to a later *dispatch* at once, because the
 * queue runs dispatches in order; it may be handed to a *host write* only when no recorded command that is still to be
 * submitted refers to it, because host writes overtake recorded commands. The oldest free block is taken first, so that work that is
 * done again gets the buffers it had before, and finds their bind groups made.
 */
export class BufferPool {
  /** By size, the oldest last. */
  readonly #free = new Map<number, Block[]>();
  readonly #gpu: GPUDevice;
  readonly #cap: number;
  readonly #onAllocation: (bytes: number, op: string, create: () => GPUBuffer) => GPUBuffer;
  #nextId = 1;
  #live = 0;
  #pooled = 0;
  #pooledCount = 0;
  #peak = 0;
  #buffers = 0;

  constructor(
    gpu: GPUDevice,
    cap: number,
    onAllocation: (bytes: number, op: string, create: () => GPUBuffer) => GPUBuffer,
  ) {
    this.#gpu = gpu;
    this.#cap = cap;
    this.#onAllocation = onAllocation;
  }

  /** @param submitted number of the last submitted command, given when the host is about to write */
  take(size: number, dtype: Dtype, op: string, submitted = Infinity): GpuStorage {
    const bytes = sizeClass(size * 4);
    if (bytes > this.#gpu.limits.maxBufferSize) {
      throw new DeviceError(
        `${op}: a tensor of ${size * 4} bytes exceeds maxBufferSize ${this.#gpu.limits.maxBufferSize}; split it`,
      );
    }
    const block = this.#reuse(bytes, submitted) ?? this.#create(bytes, op);
    this.#live += bytes;
    return { ...block, dtype, size, refs: 1 };
  }

  give(storage: GpuStorage, submitted: number): void {
    const { id, buffer, bytes, lastUse } = storage;
    this.#live -= bytes;
    this.#pooled += bytes;
    this.#pooledCount++;
    const list = this.#free.get(bytes) ?? [];
    if (list.length === 0) this.#free.set(bytes, list);
    let at = list.length;
    while (at > 0 && list[at - 1].id < id) at--;
    list.splice(at, 0, { id, buffer, bytes, lastUse });
    if (this.#pooled > this.#cap || this.#pooledCount > MOST_POOLED)
      this.trim(submitted, this.#cap / 2, MOST_POOLED / 2);
  }

  /** Destroys pooled blocks, largest first, until at most `target` bytes in `count` blocks are pooled. */
  trim(submitted: number, target: number, count = 0): void {
    for (const bytes of [...this.#free.keys()].sort((a, b) => b - a)) {
      const kept: Block[] = [];
      for (const block of this.#free.get(bytes) ?? []) {
        const enough = this.#pooled <= target && this.#pooledCount <= count;
        if (enough || block.lastUse > submitted) kept.push(block);
        else this.#destroy(block);
      }
      this.#free.set(bytes, kept);
    }
  }

  memory(): MemoryUse {
    return { live: this.#live, pooled: this.#pooled, peak: this.#peak, buffers: this.#buffers };
  }

  #reuse(bytes: number, submitted: number): Block | undefined {
    const list = this.#free.get(bytes);
    if (list === undefined) return undefined;
    const at = submitted === Infinity ? list.length - 1 : list.findLastIndex((b) => b.lastUse <= submitted);
    if (at < 0) return undefined;
    this.#pooled -= bytes;
    this.#pooledCount--;
    return list.splice(at, 1)[0];
  }

  #create(bytes: number, op: string): Block {
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    const buffer = this.#onAllocation(bytes, op, () => this.#gpu.createBuffer({ size: bytes, usage, label: op }));
    this.#buffers++;
    this.#peak = Math.max(this.#peak, this.#live + this.#pooled + bytes);
    return { id: this.#nextId++, buffer, bytes, lastUse: 0 };
  }

  #destroy(block: Block): void {
    block.buffer.destroy();
    this.#buffers--;
    this.#pooledCount--;
    this.#pooled -= block.bytes;
  }
}
