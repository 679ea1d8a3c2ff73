// The WebGPU device (float32): pooled buffers, cached pipelines, batched dispatches, failures that cannot be overlooked.

import { DeviceError, DtypeError, NumericsError } from '../../array/errors.ts';
import { finiteCheck } from '../../shaders/kernels.gen.ts';
import type { DeviceBase, Dtype, HostArray, MemoryUse } from '../device.ts';
import type { Kernel } from '../kernel.ts';
import { type Binding, CommandQueue, PARAM_SLOT } from './commands.ts';
import { type Wait, wideAwake } from './naps.ts';
import { PipelineCache } from './pipelines.ts';
import { BufferPool, type GpuStorage, sizeClass } from './pool.ts';

/** Settings of {@link WebGpuDevice}. */
export interface WebGpuOptions {
  /** Bytes of freed buffers kept for reuse; 512 MiB unless told. */
  poolBytes?: number;
  /** Use only kernels without subgroup operations. */
  portable?: boolean;
  /** Largest range bound to a kernel at once, in bytes; lower than the adapter's limit only for tests. */
  maxBindingBytes?: number;
  /** Throw, naming the op, when an op gives a NaN or an infinity. */
  checkFinite?: boolean;
  /** How promises of the GPU are waited for; they are awaited unless told. */
  wait?: Wait;
}

/** A window of a storage, in elements; the offset must be a multiple of {@link WINDOW_STEP}. */
export interface View {
  readonly storage: GpuStorage;
  readonly offset: number;
  readonly size: number;
}

/** What a kernel call binds: all of a storage, a window of it, or nothing for a binding that the constants switch off. */
export type Operand = GpuStorage | View | null;

/** One kernel call. */
export interface Dispatch<B extends string, P extends string, C extends string> {
  readonly buffers: Readonly<Record<B, Operand>>;
  readonly params: Readonly<Record<P, number>>;
  readonly constants?: Readonly<Partial<Record<C, number>>>;
  readonly workgroups: readonly [number, number, number];
}

/** Window offsets are multiples of this many elements (256 bytes). */
export const WINDOW_STEP = 64;
/** The flag before any fault; as an unsigned number it is larger than every ordinal. */
const NO_FAULT = -1;
/** Larger buffers for reading back are not kept. */
const LARGEST_STAGING = 2 ** 24;

const isView = (x: GpuStorage | View): x is View => 'storage' in x;

/** Runs every op by its WGSL kernel, in float32. */
export class WebGpuDevice implements DeviceBase<GpuStorage> {
  readonly kind = 'webgpu';
  readonly name: string;
  readonly reason = 'a WebGPU adapter was found';
  readonly epsilon = 2 ** -24;
  readonly gpu: GPUDevice;
  /** Fixed subgroup size of the adapter, 0 where it varies, is absent, or portable kernels were asked for. */
  readonly subgroupSize: number;
  readonly maxBindingBytes: number;
  checkFinite: boolean;
  readonly #pool: BufferPool;
  readonly #pipelines: PipelineCache;
  readonly #queue: CommandQueue;
  readonly #empty: GpuStorage;
  readonly #wait: Wait;
  readonly #staging = new Map<number, GPUBuffer[]>();
  readonly #scratch = new DataView(new ArrayBuffer(PARAM_SLOT));
  #failure: DeviceError | null = null;
  #faultFlag: GpuStorage | null = null;
  #faultOps: string[] = [];
  /** Settles when every check that was read back so far is known to be clean. */
  #faults: Promise<void> = Promise.resolve();

  constructor(gpu: GPUDevice, info: GPUAdapterInfo, options: WebGpuOptions = {}) {
    this.gpu = gpu;
    const fixed = gpu.features.has('subgroups') && info.subgroupMinSize === info.subgroupMaxSize;
    this.subgroupSize = fixed && options.portable !== true ? (info.subgroupMinSize ?? 0) : 0;
    this.name = `webgpu (float32, ${describeAdapter(info)})`;
    this.maxBindingBytes = Math.min(options.maxBindingBytes ?? Infinity, gpu.limits.maxStorageBufferBindingSize);
    this.checkFinite = options.checkFinite ?? false;
    this.#pool = new BufferPool(gpu, options.poolBytes ?? 2 ** 29, (bytes, op, create) =>
      this.#guardedCreate(bytes, op, create),
    );
    this.#pipelines = new PipelineCache(gpu);
    this.#wait = options.wait ?? wideAwake;
    this.#queue = new CommandQueue(gpu, this.#wait, (error) => this.#poison(error));
    this.#empty = this.#pool.take(WINDOW_STEP, 'real', 'empty');
    gpu.addEventListener('uncapturederror', (event) => {
      this.#poison(new DeviceError(`webgpu: ${event.error.message}`));
    });
    void gpu.lost.then((lost) =>
      this.#poison(new DeviceError(`webgpu: the device was lost (${lost.reason}), ${lost.message}; open a new one`)),
    );
  }

  /** Why the device can no longer be trusted, or null. */
  get failure(): DeviceError | null {
    return this.#failure;
  }

  /** Number of compiled kernel variants. */
  get pipelineCount(): number {
    return this.#pipelines.size;
  }

  alloc(size: number, dtype: Dtype, op: string): GpuStorage {
    this.#throwIfFailed();
    return this.#pool.take(size, dtype, op);
  }

  upload(data: ArrayLike<number>, dtype: Dtype): GpuStorage {
    this.#throwIfFailed();
    const storage = this.#pool.take(data.length, dtype, 'upload', this.#queue.submitted);
    const host = dtype === 'real' ? asFloat32(data) : asInt32(data);
    if (host.length > 0) this.gpu.queue.writeBuffer(storage.buffer, 0, host);
    return storage;
  }

  free(storage: GpuStorage): void {
    this.#pool.give(storage, this.#queue.submitted);
  }

  /** Records one kernel call; it runs with its batch. */
  dispatch<B extends string, P extends string, C extends string>(
    op: string,
    kernel: Kernel<B, P, C>,
    call: Dispatch<B, P, C>,
  ): void {
    this.#throwIfFailed();
    const [x, y, z] = call.workgroups;
    if (x * y * z === 0) return;
    if (Math.max(x, y, z) > 65535)
      throw new DeviceError(`${op}: ${x}×${y}×${z} workgroups, at most 65535 a side; split the op`);
    const next = this.#queue.recorded + 1;
    const bindings = kernel.bindings.map((b) => this.#bind(op, b.name, call.buffers[b.name], next));
    const pipeline = this.#pipelines.get(kernel, (call.constants ?? {}) as Record<string, number>);
    this.#queue.record(op, pipeline, bindings, this.#encodeParams(kernel, call.params), call.workgroups);
  }

  /** Splits `size` elements into windows that fit one binding; `unit` elements stay together where it must be cut. */
  windows(size: number, unit = WINDOW_STEP): { offset: number; size: number }[] {
    if (size * 4 <= this.maxBindingBytes) return [{ offset: 0, size }];
    const most = Math.floor(this.maxBindingBytes / 4 / unit) * unit;
    if (most === 0)
      throw new DeviceError(
        `webgpu: ${unit * 4} bytes that must stay together exceed one binding of ${this.maxBindingBytes}; split the tensor`,
      );
    const out = [];
    for (let offset = 0; offset < size; offset += most) out.push({ offset, size: Math.min(most, size - offset) });
    return out;
  }

  /** With {@link checkFinite} on, looks for NaN and infinities in `storage`; a later read reports the first op. */
  watchFinite(op: string, storage: GpuStorage): void {
    this.#faultFlag ??= this.upload([NO_FAULT], 'int');
    this.#faultOps.push(op);
    for (const w of this.windows(storage.size)) {
      this.dispatch(op, finiteCheck, {
        buffers: { x: { storage, ...w }, flag: this.#faultFlag },
        params: { n: w.size, ordinal: this.#faultOps.length - 1 },
        workgroups: grid(Math.ceil(w.size / 4), 64),
      });
    }
  }

  async read(storage: GpuStorage): Promise<HostArray> {
    return (await this.readMany([storage]))[0];
  }

  /** Reads several storages with one wait. */
  async readMany(storages: readonly GpuStorage[]): Promise<HostArray[]> {
    await this.#queue.flush();
    this.#throwIfFailed();
    const [flag, ops] = [this.#faultFlag, this.#faultOps];
    [this.#faultFlag, this.#faultOps] = [null, []];
    const read = this.#copyOut(flag === null ? storages : [...storages, flag]);
    if (flag !== null) {
      const before = this.#faults;
      this.#faults = read.then((out) => {
        this.free(flag);
        const op = ops[(out[storages.length] as Int32Array)[0]];
        if (op !== undefined) throw new NumericsError(`${op}: gave a NaN or an infinity; check its inputs`);
        return before;
      });
      this.#faults.catch(() => undefined); // every read that waits for it reports it
    }
    const faults = this.#faults;
    const out = await read;
    try {
      await faults;
    } finally {
      if (this.#faults === faults) this.#faults = Promise.resolve();
    }
    return out.slice(0, storages.length);
  }

  /** Copies storages to the host, after everything submitted so far. */
  async #copyOut(sources: readonly GpuStorage[]): Promise<HostArray[]> {
    const starts: number[] = [];
    let total = 0;
    for (const s of sources) {
      starts.push(total);
      total += Math.max(4, s.size * 4);
    }
    const staging = this.#takeStaging(total);
    const encoder = this.gpu.createCommandEncoder();
    sources.forEach((s, i) => {
      if (s.size > 0) encoder.copyBufferToBuffer(s.buffer, 0, staging, starts[i], s.size * 4);
    });
    this.#queue.submitAs('read', () => this.gpu.queue.submit([encoder.finish()]));
    try {
      await this.#wait(staging.mapAsync(GPUMapMode.READ, 0, total));
    } catch (error) {
      this.#poison(new DeviceError(`webgpu: reading failed, ${String(error)}`));
    }
    await this.#queue.settle();
    this.#throwIfFailed();
    const bytes = staging.getMappedRange(0, total);
    const out = sources.map((s, i) => {
      const part = bytes.slice(starts[i], starts[i] + s.size * 4);
      return s.dtype === 'real' ? new Float32Array(part) : new Int32Array(part);
    });
    staging.unmap();
    if (staging.size > LARGEST_STAGING) staging.destroy();
    else this.#staging.get(staging.size)?.push(staging);
    return out;
  }

  async tick(): Promise<void> {
    await this.#queue.tick();
    this.#throwIfFailed();
  }

  async sync(): Promise<void> {
    await this.#queue.flush();
    this.#throwIfFailed();
    await this.#wait(this.gpu.queue.onSubmittedWorkDone());
    await this.#queue.settle();
    this.#throwIfFailed();
  }

  memory(): MemoryUse {
    return this.#pool.memory();
  }

  /** Destroys the pooled buffers; their memory comes back with a submission, so an empty one is made. */
  async trim(): Promise<void> {
    await this.#queue.flush();
    this.#pool.trim(this.#queue.submitted, 0);
    this.gpu.queue.submit([]);
  }

  destroy(): void {
    this.#poison(new DeviceError('webgpu: the device was destroyed; open a new one'));
    this.gpu.destroy();
  }

  #bind(op: string, name: string, operand: Operand, command: number): Binding {
    const source = operand ?? this.#empty;
    const storage = isView(source) ? source.storage : source;
    const offset = isView(source) ? source.offset * 4 : 0;
    const size = isView(source) ? Math.max(16, Math.ceil(source.size / 4) * 16) : storage.bytes;
    storage.lastUse = command;
    if (size > this.maxBindingBytes && (isView(source) || storage.size * 4 > this.maxBindingBytes)) {
      throw new DeviceError(
        `${op}: operand ${name} of ${size} bytes exceeds one binding of ${this.maxBindingBytes}; split the op into smaller batches`,
      );
    }
    return { id: storage.id, buffer: storage.buffer, offset, size: Math.min(size, this.maxBindingBytes) };
  }

  #encodeParams(kernel: Kernel, params: Readonly<Record<string, number>>): Uint8Array {
    for (const { name, type, offset } of kernel.params) {
      const value = params[name];
      if (type === 'f32') this.#scratch.setFloat32(offset, value, true);
      else if (type === 'u32') this.#scratch.setUint32(offset, value, true);
      else this.#scratch.setInt32(offset, value, true);
    }
    return new Uint8Array(this.#scratch.buffer, 0, kernel.paramBytes);
  }

  #guardedCreate(bytes: number, op: string, create: () => GPUBuffer): GPUBuffer {
    this.gpu.pushErrorScope('out-of-memory');
    const buffer = create();
    void this.gpu.popErrorScope().then(
      (error) => {
        if (error !== null)
          this.#poison(new DeviceError(`${op}: out of device memory allocating ${bytes} bytes, ${error.message}`));
      },
      () => undefined, // the device was lost; its own handler says why
    );
    return buffer;
  }

  #takeStaging(bytes: number): GPUBuffer {
    const size = sizeClass(bytes);
    const list = this.#staging.get(size) ?? [];
    this.#staging.set(size, list);
    const usage = GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST;
    return list.pop() ?? this.#guardedCreate(size, 'read', () => this.gpu.createBuffer({ size, usage, label: 'read' }));
  }

  #poison(error: DeviceError): void {
    this.#failure ??= error;
  }

  #throwIfFailed(): void {
    if (this.#failure !== null) throw this.#failure;
  }
}

/** The adapter's own description, or what else it says of itself. */
function describeAdapter({ description, vendor, architecture, device }: GPUAdapterInfo): string {
  return description || [vendor, architecture, device].filter((part) => part !== '').join(' ') || 'unnamed adapter';
}

/** Workgroup counts for `n` invocations in groups of `size`, folded into two dimensions where one is too short. */
export function grid(n: number, size: number): [number, number, number] {
  const groups = Math.ceil(n / size);
  if (groups <= 65535) return [groups, 1, 1];
  const rows = Math.ceil(groups / 65535);
  return [Math.ceil(groups / rows), rows, 1];
}

/** The least number of units of `size` elements that ends on a window boundary; a power of two. */
export const windowUnits = (size: number): number => WINDOW_STEP / gcd(size, WINDOW_STEP);

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));

const asFloat32 = (data: ArrayLike<number>): Float32Array<ArrayBuffer> =>
  data instanceof Float32Array && data.buffer instanceof ArrayBuffer
    ? (data as Float32Array<ArrayBuffer>)
    : Float32Array.from(data);

function asInt32(data: ArrayLike<number>): Int32Array<ArrayBuffer> {
  const out = Int32Array.from(data);
  for (let i = 0; i < out.length; i++) {
    if (out[i] !== data[i]) throw new DtypeError(`upload: ${data[i]} is not an int32; round it, or use dtype real`);
  }
  return out;
}
