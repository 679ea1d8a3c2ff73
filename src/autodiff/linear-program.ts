// A recorded linear map: the ops that tangents went through, with everything they were multiplied by kept.

import { EcifError } from '../array/errors.ts';
import type { Shape } from '../array/shape.ts';
import type { Dtype } from '../device/device.ts';
import type { Device } from '../device/open.ts';
import { bind } from './bind.ts';
import type { Op } from './op.ts';
import { type Concrete, type Interpreter, own, scope, type Spec, Tensor } from './tensor.ts';

/** A tangent that is not known yet. */
class Unknown extends Tensor {
  readonly interpreter: LinearRecorder;
  readonly shape: Shape;
  readonly dtype: Dtype;
  readonly device: Device;
  readonly index: number;

  constructor(interpreter: LinearRecorder, spec: Spec, device: Device, index: number) {
    super();
    this.interpreter = interpreter;
    this.shape = spec.shape;
    this.dtype = spec.dtype;
    this.device = device;
    this.index = index;
  }

  parts(): Concrete[] {
    return [];
  }

  retain(): Tensor {
    return this;
  }
}

/** An input of a recorded op: a kept constant, or the number of an unknown. */
type Slot = Tensor | number;

interface Equation {
  readonly op: Op<unknown>;
  readonly params: unknown;
  readonly slots: readonly Slot[];
  readonly target: number;
}

/** Records every op that an unknown goes through. */
export class LinearRecorder implements Interpreter {
  readonly level: number;
  readonly #equations: Equation[] = [];
  #count = 0;
  #inputs = 0;
  #open = true;

  constructor(level: number) {
    this.level = level;
  }

  input(like: Tensor): Tensor {
    this.#inputs++;
    return new Unknown(this, like, like.device, this.#count++);
  }

  process<P>(op: Op<P>, inputs: readonly Tensor[], params: P): Tensor {
    if (!this.#open)
      throw new EcifError(`${op.name}: a value of a finished linearize was used; return it from the function`);
    const slots = inputs.map((x) => (this.#isMine(x) ? x.index : x.retain()));
    const y = new Unknown(this, op.shape(inputs, params), inputs[0].device, this.#count++);
    this.#equations.push({ op: op as Op<unknown>, params, slots, target: y.index });
    return y;
  }

  /** Closes the recording; equations that no output depends on are dropped with their constants. */
  finish(outputs: readonly (Tensor | null)[]): LinearProgram {
    this.#open = false;
    const results = outputs.map((y) => (y === null ? null : this.#isMine(y) ? y.index : y.retain()));
    const live = new Set(results.filter((r) => typeof r === 'number'));
    const used: Equation[] = [];
    for (const equation of this.#equations.toReversed()) {
      const needed = live.has(equation.target);
      if (needed) used.push(equation);
      for (const slot of equation.slots) {
        if (typeof slot !== 'number') {
          if (!needed) slot.release();
        } else if (needed) live.add(slot);
      }
    }
    return new LinearProgram(used.reverse(), this.#inputs, results);
  }

  /** Lets go of everything recorded. */
  dispose(): void {
    this.finish([]).dispose();
  }

  #isMine(x: Tensor): x is Unknown {
    return x instanceof Unknown && x.interpreter === this;
  }
}

/** A linear map that can be applied many times. */
export class LinearProgram {
  readonly #equations: readonly Equation[];
  readonly #inputs: number;
  readonly #results: readonly (Slot | null)[];
  readonly #lastUse = new Map<number, number>();
  #disposed = false;

  constructor(equations: readonly Equation[], inputs: number, results: readonly (Slot | null)[]) {
    this.#equations = equations;
    this.#inputs = inputs;
    this.#results = results;
    equations.forEach((e, i) => {
      for (const slot of e.slots) if (typeof slot === 'number') this.#lastUse.set(slot, i);
    });
    for (const r of results) if (typeof r === 'number') this.#lastUse.set(r, Infinity);
  }

  /** Number of ops one application runs. */
  get length(): number {
    return this.#equations.length;
  }

  /** Applies the map; a null result is zero. */
  apply(inputs: readonly Tensor[]): (Tensor | null)[] {
    if (this.#disposed) throw new EcifError('linearize: the linear map was disposed; linearise again');
    if (inputs.length !== this.#inputs)
      throw new EcifError(`linearize: ${inputs.length} tangents for ${this.#inputs} inputs; give one each`);
    const values = new Map<number, Tensor>(inputs.map((x, i) => [i, x.retain()]));
    try {
      this.#equations.forEach((e, i) => {
        const x = e.slots.map((slot) => (typeof slot === 'number' ? (values.get(slot) as Tensor) : slot));
        values.set(
          e.target,
          scope(() => bind(e.op, x, e.params).retain()),
        );
        this.#drop(values, e.slots, i);
      });
      return this.#results.map((r) =>
        typeof r === 'number' ? own((values.get(r) as Tensor).retain()) : r && own(r.retain()),
      );
    } finally {
      for (const v of values.values()) v.release();
    }
  }

  /** Lets go of the constants. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    for (const e of this.#equations) for (const slot of e.slots) if (typeof slot !== 'number') slot.release();
    for (const r of this.#results) if (r !== null && typeof r !== 'number') r.release();
  }

  #drop(values: Map<number, Tensor>, slots: readonly Slot[], at: number): void {
    for (const slot of slots) {
      if (typeof slot !== 'number' || this.#lastUse.get(slot) !== at) continue;
      values.get(slot)?.release();
      values.delete(slot);
    }
  }
}
