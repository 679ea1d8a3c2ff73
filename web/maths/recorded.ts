// A recorder below every transform of the engine: sees each op that runs, of the value, the gradient or the Hessian product.

import type { Device, Dtype, Shape } from '../../src/index.ts';
import { Tensor } from '../../src/index.ts';
import { bind } from '../../src/autodiff/bind.ts';
import type { Op } from '../../src/autodiff/op.ts';
import type { Concrete, Interpreter } from '../../src/autodiff/tensor.ts';

/** A value with a place in a recording. */
export class Recorded extends Tensor {
  readonly interpreter: Recorder;
  readonly value: Tensor;
  readonly index: number;

  constructor(interpreter: Recorder, value: Tensor, index: number) {
    super();
    this.interpreter = interpreter;
    this.value = value;
    this.index = index;
  }

  get shape(): Shape {
    return this.value.shape;
  }

  get dtype(): Dtype {
    return this.value.dtype;
  }

  get device(): Device {
    return this.value.device;
  }

  parts(): Concrete[] {
    return this.value.parts();
  }

  retain(): Recorded {
    return new Recorded(this.interpreter, this.value.retain(), this.index);
  }
}

/** An op that ran, an input, or a constant. */
export interface Step {
  /** Name of the op; null for what no op made. */
  readonly op: string | null;
  /** Name of an input. */
  readonly name: string | null;
  readonly params: unknown;
  /** Places of its inputs. */
  readonly inputs: readonly number[];
  readonly shape: Shape;
  /** A handle of the recorder's. */
  readonly value: Tensor;
  /** What {@link Recorder.stage} was. */
  readonly stage: string;
}

/** Records every op on its inputs and what follows from them. Stands at the lowest level, so that it sees what runs. */
export class Recorder implements Interpreter {
  readonly level = 0;
  readonly steps: Step[] = [];
  /** Written beside the steps that follow. */
  stage = '';

  /** A value that the recording starts from. */
  input(name: string, value: Tensor): Recorded {
    return new Recorded(this, value, this.#add({ op: null, name, params: null, inputs: [], value }));
  }

  process<P>(op: Op<P>, inputs: readonly Tensor[], params: P): Tensor {
    const places = inputs.map((x) => this.#placeOf(x));
    const value = bind(
      op,
      inputs.map((x) => (x instanceof Recorded ? x.value : x)),
      params,
    );
    return new Recorded(this, value, this.#add({ op: op.name, name: null, params, inputs: places, value }));
  }

  /** The place of a value; what was not recorded becomes a constant. */
  #placeOf(x: Tensor): number {
    return x instanceof Recorded ? x.index : this.#add({ op: null, name: null, params: null, inputs: [], value: x });
  }

  #add(step: Omit<Step, 'shape' | 'stage'>): number {
    this.steps.push({ ...step, shape: step.value.shape, value: step.value.retain(), stage: this.stage });
    return this.steps.length - 1;
  }

  /** Lets go of every value. */
  dispose(): void {
    for (const { value } of this.steps) value.release();
  }
}

/** The value without its place. */
export const lowered = (x: Tensor): Tensor => (x instanceof Recorded ? x.value : x);

/** Places that some places depend on, themselves among them. */
export function ancestors(steps: readonly Pick<Step, 'inputs'>[], of: readonly number[]): Set<number> {
  const found = new Set(of);
  for (let i = steps.length - 1; i >= 0; i--) if (found.has(i)) for (const input of steps[i].inputs) found.add(input);
  return found;
}
