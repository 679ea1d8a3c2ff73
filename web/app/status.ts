// The line below a figure: where it was computed and why there, what it is doing, what went wrong.

import type { DeviceInfo } from '../maths/protocol.ts';
import { type CallOptions, type Computed, type Engine, Outdated } from './engine.ts';
import { h } from './dom.ts';
import type { FunctionName, Functions } from '../maths/protocol.ts';

/** Milliseconds before work is mentioned: what is quicker would only flicker. */
const PATIENCE = 250;

/** The line below a figure. */
export class Status {
  readonly el = h('p', { class: 'status', role: 'status' });
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Where something was computed. */
  done({ kind, name, reason }: DeviceInfo): void {
    clearTimeout(this.#timer);
    this.el.dataset.device = kind;
    this.el.dataset.state = 'done';
    this.el.textContent = `Computed on ${name}: ${reason}.`;
  }

  /** What it is doing; said at once where it has a share. */
  busy(text = 'computing…', at = PATIENCE): void {
    clearTimeout(this.#timer);
    this.el.dataset.state = 'busy';
    const tell = (): void => {
      this.el.textContent = text;
    };
    if (at === 0) tell();
    else this.#timer = setTimeout(tell, at);
  }

  /** Nothing is asked. */
  idle(): void {
    clearTimeout(this.#timer);
    delete this.el.dataset.state;
    delete this.el.dataset.device;
    this.el.textContent = '';
  }

  failed(message: string): void {
    clearTimeout(this.#timer);
    this.el.dataset.state = 'failed';
    this.el.textContent = message;
  }
}

/**
 * Asks the engine and shows the answer; of questions that were overtaken nothing is shown.
 * @param show draws what was computed
 */
export async function ask<N extends FunctionName>(
  engine: Engine,
  status: Status,
  line: string,
  name: N,
  argument: Functions[N]['argument'],
  show: (value: Functions[N]['result']) => void,
  options: CallOptions = {},
): Promise<void> {
  status.busy();
  const onProgress = (text: string, share: number | null): void => {
    status.busy(share === null ? text : `${text} ${Math.round(100 * share)} %`, 0);
    options.onProgress?.(text, share);
  };
  let computed: Computed<Functions[N]['result']>;
  try {
    computed = await engine.call(line, name, argument, { ...options, onProgress });
  } catch (error) {
    if (!(error instanceof Outdated)) status.failed(error instanceof Error ? error.message : String(error));
    return;
  }
  show(computed.value);
  status.done(computed.device);
}
