// Forward mode: dual numbers with one primal and any number of tangents.

import { EcifError, NotDifferentiableError } from '../array/errors.ts';
import { sameShape, type Shape } from '../array/shape.ts';
import type { Dtype } from '../device/device.ts';
import type { Device } from '../device/open.ts';
import { bind } from './bind.ts';
import type { Op, Tangent } from './op.ts';
import { broadcastTo } from './ops/layout.ts';
import { type Concrete, type Interpreter, scope, Tensor } from './tensor.ts';

/** x + ε₁ẋ₁ + … + εᵣẋᵣ. */
export class Dual extends Tensor {
  readonly interpreter: Jvp;
  readonly primal: Tensor;
  readonly tangents: readonly Tangent[];

  constructor(interpreter: Jvp, primal: Tensor, tangents: readonly Tangent[]) {
    super();
    this.interpreter = interpreter;
    this.primal = primal;
    this.tangents = tangents;
  }

  get shape(): Shape {
    return this.primal.shape;
  }

  get dtype(): Dtype {
    return this.primal.dtype;
  }

  get device(): Device {
    return this.primal.device;
  }

  parts(): Concrete[] {
    return [...this.primal.parts(), ...this.tangents.flatMap((t) => t?.parts() ?? [])];
  }

  retain(): Dual {
    return new Dual(
      this.interpreter,
      this.primal.retain(),
      this.tangents.map((t) => t?.retain() ?? null),
    );
  }
}

/** Pushes tangents through ops: y = f(x), ẏᵢ = J ẋᵢ. */
export class Jvp implements Interpreter {
  readonly level: number;
  open = true;

  constructor(level: number) {
    this.level = level;
  }

  /** The primal and the tangents of a value; plain values have none. */
  split(x: Tensor, count: number): { primal: Tensor; tangents: readonly Tangent[] } {
    if (x instanceof Dual && x.interpreter === this) return x;
    return { primal: x, tangents: new Array<Tangent>(count).fill(null) };
  }

  process<P>(op: Op<P>, inputs: readonly Tensor[], params: P): Tensor {
    if (!this.open)
      throw new EcifError(
        `${op.name}: a value of a finished jvp was used; return it from the function instead of storing it`,
      );
    if ('define' in op) return op.define(inputs, params);
    const mine = inputs.map((x) => (x instanceof Dual && x.interpreter === this ? x : null));
    const primals = inputs.map((x, i) => mine[i]?.primal ?? x);
    if ('derivative' in op) {
      if (op.derivative === 'none')
        throw new NotDifferentiableError(`${op.name}: not differentiable, ${op.why}; apply stopGradient to its input`);
      return bind(op, primals, params);
    }
    const y = bind(op, primals, params);
    const count = mine.find((x) => x !== null)?.tangents.length ?? 0;
    const tangents = scope(() => {
      const push = op.jvp(primals, y, params);
      return Array.from({ length: count }, (_, i) => {
        const dx = mine.map((x) => x?.tangents[i] ?? null);
        const dy = dx.every((t) => t === null) ? null : push(dx);
        return dy === null || sameShape(dy.shape, y.shape) ? dy : broadcastTo(dy, y.shape);
      });
    });
    return tangents.every((t) => t === null) ? y : new Dual(this, y, tangents);
  }
}
