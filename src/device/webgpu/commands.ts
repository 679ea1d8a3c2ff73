// Recorded dispatches: kept as data until their pipelines are compiled, then encoded and submitted in batches.

import { DeviceError } from '../../array/errors.ts';
import type { Wait } from './naps.ts';
import type { Pipeline } from './pipelines.ts';

/** A range of a buffer as bound to a kernel, in bytes. */
export interface Binding {
  readonly id: number;
  readonly buffer: GPUBuffer;
  readonly offset: number;
  readonly size: number;
}

interface Command {
  readonly op: string;
  readonly pipeline: Pipeline;
  readonly bindings: readonly Binding[];
  readonly workgroups: readonly [number, number, number];
}

/** Bytes of the uniform slot of one command: the largest alignment a dynamic offset can need. */
export const PARAM_SLOT = 256;
const BATCH = 256;
const EAGER = 64;
const BIND_GROUPS = 4096;
/** Bind groups made without a break; past it commands wait for the next flush, which takes breaks. */
const MADE_IN_A_ROW = 4096;
/** Host memory held with each bind group. The collector does not see device memory; this lets it know of the rest. */
const BALLAST = 2 ** 16;
const RUN_AHEAD = 8;

/** The queue of one device, from `record` to `submit`. */
export class CommandQueue {
  /** Commands recorded and submitted so far; a command's number is the value of `recorded` after it. */
  recorded = 0;
  submitted = 0;
  readonly #gpu: GPUDevice;
  readonly #uniform: GPUBuffer;
  readonly #wait: Wait;
  readonly #fail: (error: DeviceError) => void;
  #slots = new Uint8Array(EAGER * PARAM_SLOT);
  #pending: Command[] = [];
  /** How many of the pending commands are submitted already. */
  #sent = 0;
  /** Bind groups made since the event loop last ran: only then are dropped ones given back. */
  #madeInARow = 0;
  readonly #compiling = new Set<Pipeline>();
  readonly #bindGroups = new Map<GPUBindGroupLayout, Map<string, { group: GPUBindGroup; ballast: ArrayBuffer }>>();
  #bindGroupCount = 0;
  readonly #inFlight: Promise<void>[] = [];
  readonly #checks = new Set<Promise<void>>();

  constructor(gpu: GPUDevice, wait: Wait, fail: (error: DeviceError) => void) {
    this.#gpu = gpu;
    this.#wait = wait;
    this.#fail = fail;
    const usage = GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST;
    this.#uniform = gpu.createBuffer({ label: 'params', size: BATCH * PARAM_SLOT, usage });
  }

  /** Appends a dispatch; `params` are copied. Returns the command's number. */
  record(
    op: string,
    pipeline: Pipeline,
    bindings: readonly Binding[],
    params: Uint8Array,
    workgroups: readonly [number, number, number],
  ): number {
    const at = this.#pending.length * PARAM_SLOT;
    if (at >= this.#slots.length) {
      const grown = new Uint8Array(this.#slots.length * 2);
      grown.set(this.#slots);
      this.#slots = grown;
    }
    this.#slots.set(params, at);
    this.#pending.push({ op, pipeline, bindings, workgroups });
    if (pipeline.ready === null) this.#compiling.add(pipeline);
    this.recorded++;
    const due = this.#pending.length % EAGER === 0 && this.#madeInARow < MADE_IN_A_ROW;
    if (due && this.#compiled()) this.#submit(this.#pending.length);
    return this.recorded;
  }

  /** Submits everything recorded, waiting for pipelines that still compile. */
  async flush(): Promise<void> {
    while (this.#pending.length > 0) {
      if (!this.#compiled()) {
        const waiting = [...this.#compiling];
        const done = await Promise.allSettled(waiting.map((p) => p.promise));
        const failed = done.find((d) => d.status === 'rejected');
        if (failed !== undefined) {
          this.#drop(`pipeline did not compile, ${String(failed.reason)}`);
          return;
        }
        waiting.forEach((p) => this.#compiling.delete(p));
      }
      if (this.#compiled()) this.#submit(this.#sent + BATCH);
      if (this.#madeInARow >= MADE_IN_A_ROW) await this.#rest();
    }
  }

  /** Waits until few submissions are outstanding. */
  async tick(): Promise<void> {
    await this.flush();
    while (this.#inFlight.length > RUN_AHEAD) await this.#wait(this.#inFlight[0]);
  }

  /** Waits until the validity of every submission is known. */
  async settle(): Promise<void> {
    await Promise.all(this.#checks);
  }

  #compiled(): boolean {
    for (const p of this.#compiling) if (p.ready !== null) this.#compiling.delete(p);
    return this.#compiling.size === 0;
  }

  /** Lets the event loop run once, so that bind groups nobody holds are given back. */
  async #rest(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve));
    this.#madeInARow = 0;
  }

  /** Submits the pending commands before number `end`. */
  #submit(end: number): void {
    const stop = Math.min(end, this.#pending.length);
    for (let first = this.#sent; first < stop; first += BATCH) {
      this.#submitBatch(this.#pending.slice(first, Math.min(first + BATCH, stop)), first * PARAM_SLOT);
    }
    this.#sent = stop;
    this.submitted = this.recorded - (this.#pending.length - stop);
    if (stop === this.#pending.length) [this.#pending, this.#sent] = [[], 0];
  }

  /** Runs `submit`; an error in it is reported under the names in `ops`. */
  submitAs(ops: string, submit: () => void): void {
    this.#gpu.pushErrorScope('validation');
    submit();
    const check: Promise<void> = this.#gpu.popErrorScope().then(
      (error) => {
        this.#checks.delete(check);
        if (error !== null) this.#fail(new DeviceError(`${ops}: the device refused the work, ${error.message}`));
      },
      () => void this.#checks.delete(check), // the device was lost; its own handler says why
    );
    this.#checks.add(check);
    const forget = (): void => void this.#inFlight.splice(this.#inFlight.indexOf(done), 1);
    const done: Promise<void> = this.#gpu.queue.onSubmittedWorkDone().then(forget, forget);
    this.#inFlight.push(done);
  }

  #submitBatch(batch: readonly Command[], slot: number): void {
    const gpu = this.#gpu;
    this.submitAs(opsOf(batch), () => {
      gpu.queue.writeBuffer(this.#uniform, 0, this.#slots, slot, batch.length * PARAM_SLOT);
      const encoder = gpu.createCommandEncoder();
      const pass = encoder.beginComputePass();
      let current: Pipeline | null = null;
      for (let i = 0; i < batch.length; i++) {
        const { pipeline, bindings, workgroups } = batch[i];
        if (pipeline !== current) {
          pass.setPipeline(pipeline.ready as GPUComputePipeline);
          current = pipeline;
        }
        pass.setBindGroup(0, this.#bindGroup(pipeline.layout, bindings), [i * PARAM_SLOT]);
        pass.dispatchWorkgroups(...workgroups);
      }
      pass.end();
      gpu.queue.submit([encoder.finish()]);
    });
  }

  #bindGroup(layout: GPUBindGroupLayout, bindings: readonly Binding[]): GPUBindGroup {
    let key = '';
    for (const b of bindings) key += `${b.id}.${b.offset}.${b.size},`;
    if (this.#bindGroupCount > BIND_GROUPS) {
      this.#bindGroups.clear();
      this.#bindGroupCount = 0;
    }
    let groups = this.#bindGroups.get(layout);
    if (groups === undefined) this.#bindGroups.set(layout, (groups = new Map()));
    const known = groups.get(key);
    if (known !== undefined) return known.group;
    const entries: GPUBindGroupEntry[] = bindings.map(({ buffer, offset, size }, binding) => ({
      binding,
      resource: { buffer, offset, size },
    }));
    entries.push({ binding: bindings.length, resource: { buffer: this.#uniform, size: PARAM_SLOT } });
    const group = this.#gpu.createBindGroup({ layout, entries });
    groups.set(key, { group, ballast: new ArrayBuffer(BALLAST) });
    this.#bindGroupCount++;
    this.#madeInARow++;
    return group;
  }

  #drop(why: string): void {
    this.#fail(new DeviceError(`${opsOf(this.#pending.slice(this.#sent))}: ${why}`));
    [this.#pending, this.#sent] = [[], 0];
    this.#compiling.clear();
    this.submitted = this.recorded;
  }
}

const opsOf = (commands: readonly Command[]): string => {
  const names = [...new Set(commands.map((c) => c.op))];
  return names.length > 6 ? `${names.slice(0, 6).join(', ')} and ${names.length - 6} more ops` : names.join(', ');
};
