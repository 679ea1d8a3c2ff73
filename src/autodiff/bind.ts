// Applying an op: to the outermost interpreter if there is one, else to the device.

import { DeviceError, EcifError, NumericsError } from '../array/errors.ts';
import { sizeOf } from '../array/shape.ts';
import type { CpuStorage } from '../device/cpu.ts';
import type { GpuStorage } from '../device/webgpu/pool.ts';
import type { Op } from './op.ts';
import { Concrete, type Interpreter, own, Tensor } from './tensor.ts';

/** Applies an op to tensors. */
export function bind<P>(op: Op<P>, inputs: readonly Tensor[], params: NoInfer<P>): Tensor {
  let top: Interpreter | null = null;
  for (const [i, x] of inputs.entries()) {
    if (!(x instanceof Tensor)) throw new EcifError(`${op.name}: operand ${i} is not a tensor; make one with tensor()`);
    if (x.interpreter !== null && (top === null || x.interpreter.level > top.level)) top = x.interpreter;
  }
  return top === null ? evaluate(op, inputs as readonly Concrete[], params) : top.process(op, inputs, params);
}

/** Runs an op on the device its inputs live on. */
function evaluate<P>(op: Op<P>, inputs: readonly Concrete[], params: P): Concrete {
  const { device } = inputs[0];
  for (const x of inputs) {
    if (!(x instanceof Concrete))
      throw new EcifError(
        `${op.name}: the values of an operand were not kept; drop \`keeps\` from the op whose rule reads it`,
      );
    if (x.device !== device)
      throw new DeviceError(`${op.name}: operands live on ${device.name} and ${x.device.name}; move one`);
  }
  const { shape, dtype } = op.shape(inputs, params);
  if (op.alias === true) return own(inputs[0].alias(op.name, shape));
  const x = inputs.map((t) => t.storageFor(op.name));
  const shapes = inputs.map((t) => t.shape);
  const size = sizeOf(shape);
  const y = device.alloc(size, dtype, op.name);
  try {
    if (device.kind === 'cpu') {
      const arrays = (x as CpuStorage[]).map((s) => s.array as Float64Array);
      const { array } = y as CpuStorage;
      if (size > 0) op.cpu({ x: arrays, y: array as Float64Array, shapes, shape, params });
      if (device.checkFinite && !array.every(Number.isFinite)) {
        throw new NumericsError(`${op.name}: gave a NaN or an infinity; check its inputs`);
      }
    } else if (size > 0) {
      op.gpu({ op: op.name, device, x: x as GpuStorage[], y: y as GpuStorage, shapes, shape, params });
      if (device.checkFinite && dtype === 'real') device.watchFinite(op.name, y as GpuStorage);
    }
  } catch (error) {
    device.free(y as CpuStorage & GpuStorage);
    throw error;
  }
  return own(new Concrete(device, y, shape));
}
