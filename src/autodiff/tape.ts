// Reverse mode: a tape of the ops applied to its variables, walked backwards once.

import { EcifError, NotDifferentiableError } from '../array/errors.ts';
import { broadcastAxes, sameShape, type Shape } from '../array/shape.ts';
import type { Dtype } from '../device/device.ts';
import type { Device } from '../device/open.ts';
import { bind } from './bind.ts';
import type { Op, Primitive } from './op.ts';
import { add } from './ops/binary.ts';
import { sumTo } from './ops/reduce.ts';
import { type Concrete, Ghost, type Interpreter, own, scope, Tensor } from './tensor.ts';

/** A value with a place on a tape. */
export class Variable extends Tensor {
  readonly interpreter: Tape;
  readonly value: Tensor;
  readonly index: number;

  constructor(interpreter: Tape, value: Tensor, index: number) {
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

  retain(): Variable {
    return new Variable(this.interpreter, this.value.retain(), this.index);
  }
}

interface Node {
  readonly op: Primitive<unknown>;
  readonly params: unknown;
  readonly inputs: readonly Tensor[];
  readonly output: Tensor;
  /** Tape index per input, −1 for constants. */
  readonly parents: readonly number[];
}

/** Sums a cotangent back to the shape its input had before broadcasting. */
function unbroadcast(ct: Tensor, shape: Shape): Tensor {
  return sameShape(ct.shape, shape) ? ct : sumTo(ct, broadcastAxes(shape, ct.shape), shape);
}

/** Records ops; holds only the values that their rules will read, and lets go of each as the walk passes it. */
export class Tape implements Interpreter {
  readonly level: number;
  open = true;
  readonly #nodes: (Node | null)[] = [];

  constructor(level: number) {
    this.level = level;
  }

  variable(value: Tensor): Variable {
    this.#nodes.push(null);
    return new Variable(this, value, this.#nodes.length - 1);
  }

  process<P>(op: Op<P>, inputs: readonly Tensor[], params: P): Tensor {
    if (!this.open)
      throw new EcifError(
        `${op.name}: a value of a finished grad was used; return it from the function instead of storing it`,
      );
    if ('define' in op) return op.define(inputs, params);
    const parents = inputs.map((x) => (x instanceof Variable && x.interpreter === this ? x.index : -1));
    const values = inputs.map((x, i) => (parents[i] >= 0 ? (x as Variable).value : x));
    if ('derivative' in op) {
      if (op.derivative === 'none')
        throw new NotDifferentiableError(`${op.name}: not differentiable, ${op.why}; apply stopGradient to its input`);
      return bind(op, values, params);
    }
    const y = bind(op, values, params);
    const { keeps = 'both' } = op;
    this.#nodes.push({
      op: op as Primitive<unknown>,
      params,
      parents,
      inputs: values.map((x) => (keeps === 'both' || keeps === 'inputs' ? x.retain() : new Ghost(x))),
      output: keeps === 'both' || keeps === 'output' ? y.retain() : new Ghost(y),
    });
    return new Variable(this, y, this.#nodes.length - 1);
  }

  /** This tape's value of `x`, or `x` itself. */
  lower(x: Tensor): Tensor {
    return x instanceof Variable && x.interpreter === this ? x.value : x;
  }

  /**
   * Walks backwards from `outputs` with the cotangents `cts`.
   * @param wanted variables whose cotangents are returned (null where they do not matter)
   * @param again keep the values, so that the tape can be walked again
   * @param view how a kept value is read (the primal of a dual, say)
   */
  backward(
    outputs: readonly Tensor[],
    cts: readonly Tensor[],
    wanted: readonly Variable[],
    { again = false, view = (x: Tensor): Tensor => x } = {},
  ): (Tensor | null)[] {
    const pending = new Map<number, Tensor>();
    const accumulate = (index: number, part: Tensor): void => {
      const before = pending.get(index);
      pending.set(index, (before === undefined ? part : add(before, part)).retain());
      before?.release();
    };
    try {
      scope(() => {
        outputs.forEach((y, i) => {
          if (y instanceof Variable && y.interpreter === this) accumulate(y.index, cts[i]);
        });
      });
      for (let i = this.#nodes.length - 1; i >= 0; i--) {
        const node = this.#nodes[i];
        if (node === null) continue;
        const ct = pending.get(i);
        if (ct !== undefined) {
          scope(() => this.#pull(node, ct, view, accumulate));
          pending.delete(i);
          ct.release();
        }
        if (!again) this.#forget(i);
      }
      return wanted.map((v) => {
        const ct = pending.get(v.index);
        pending.delete(v.index);
        return ct === undefined ? null : own(ct);
      });
    } finally {
      for (const ct of pending.values()) ct.release();
    }
  }

  /** Lets go of everything. */
  dispose(): void {
    this.open = false;
    for (let i = 0; i < this.#nodes.length; i++) this.#forget(i);
  }

  #pull(node: Node, ct: Tensor, view: (x: Tensor) => Tensor, accumulate: (index: number, part: Tensor) => void): void {
    const needs = node.parents.map((p) => p >= 0);
    const parts = node.op.vjp(ct, node.inputs.map(view), view(node.output), node.params, needs);
    node.parents.forEach((p, i) => {
      const part = parts[i];
      if (p >= 0 && part != null) accumulate(p, unbroadcast(part, node.inputs[i].shape));
    });
  }

  #forget(i: number): void {
    const node = this.#nodes[i];
    if (node === null) return;
    for (const x of node.inputs) x.release();
    node.output.release();
    this.#nodes[i] = null;
  }
}
