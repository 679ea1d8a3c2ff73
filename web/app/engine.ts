// The page's side of the worker that computes: calls by name, the newest of a line first, what is outdated dropped.

import type { Answer, Asked, DeviceChoice, DeviceInfo, FunctionName, Functions } from '../maths/protocol.ts';

/** What a call gives, with the device it ran on. */
export interface Computed<R> {
  readonly value: R;
  readonly device: DeviceInfo;
}

/** Thrown to a call whose answer nobody waits for any more. */
export class Outdated extends Error {}

/** A call that waits or runs. */
interface Call {
  readonly asked: Asked;
  readonly line: string;
  readonly transfer: readonly Transferable[];
  resolve(computed: Computed<unknown>): void;
  reject(error: Error): void;
  onProgress: ((text: string, share: number | null) => void) | undefined;
}

/** Settings of a call. */
export interface CallOptions {
  /** Told how far the work has come. */
  onProgress?: (text: string, share: number | null) => void;
  readonly transfer?: readonly Transferable[];
}

/**
 * A worker and the calls to it. Calls of one line (a figure, or a part of one) follow each other: of those that wait only
 * the last is made, the others end with {@link Outdated}.
 */
export class Engine {
  readonly #worker: Worker;
  readonly #waiting = new Map<string, Call>();
  readonly #running = new Map<number, Call>();
  #next = 0;
  /** Why the worker answers no more. */
  #broken: string | null = null;
  #device: DeviceChoice = 'auto';

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.addEventListener('message', ({ data }: MessageEvent<Answer>) => this.#answered(data));
    worker.addEventListener('error', (event) => this.#failed(event.message || 'the worker could not be started'));
  }

  /** Which device the calls from now on ask for. */
  choose(device: DeviceChoice): void {
    this.#device = device;
  }

  /** Calls a function of `web/maths`. */
  call<N extends FunctionName>(
    line: string,
    name: N,
    argument: Functions[N]['argument'],
    { onProgress, transfer = [] }: CallOptions = {},
  ): Promise<Computed<Functions[N]['result']>> {
    if (this.#broken !== null) return Promise.reject(new Error(this.#broken));
    const asked: Asked = { id: this.#next++, name, argument, device: this.#device };
    this.#waiting.get(line)?.reject(new Outdated());
    return new Promise((resolve, reject) => {
      const made = { asked, line, transfer, resolve, reject, onProgress };
      this.#waiting.set(line, made as Call);
      this.#send(line);
    });
  }

  /** Sends what waits in a line, unless one of it runs. */
  #send(line: string): void {
    const call = this.#waiting.get(line);
    if (call === undefined || [...this.#running.values()].some((one) => one.line === line)) return;
    this.#waiting.delete(line);
    this.#running.set(call.asked.id, call);
    try {
      this.#worker.postMessage(call.asked, [...call.transfer]);
    } catch (error) {
      this.#running.delete(call.asked.id);
      call.reject(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #answered(answer: Answer): void {
    const call = this.#running.get(answer.id);
    if (call === undefined) return;
    if (answer.kind === 'progress') {
      call.onProgress?.(answer.text, answer.share);
      return;
    }
    this.#running.delete(answer.id);
    if (answer.kind === 'done') call.resolve({ value: answer.value, device: answer.device });
    else call.reject(new Error(answer.message));
    this.#send(call.line);
  }

  #failed(message: string): void {
    this.#broken = `${message}; load the page again`;
    const calls = [...this.#running.values(), ...this.#waiting.values()];
    this.#running.clear();
    this.#waiting.clear();
    calls.forEach(({ reject }) => reject(new Error(this.#broken ?? message)));
  }
}
