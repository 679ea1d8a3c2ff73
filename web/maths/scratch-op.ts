// What stands behind one node of a graph: the kernel calls that its op makes, its rules as expressions, and its record.

import * as ecif from '../../src/index.ts';
import { bind } from '../../src/autodiff/bind.ts';
import type { Op } from '../../src/autodiff/op.ts';
import { registry } from '../../src/autodiff/ops/registry.ts';
import type { Kernel } from '../../src/device/kernel.ts';
import type { Dispatch, WebGpuDevice } from '../../src/device/webgpu/device.ts';
import type { GpuStorage } from '../../src/device/webgpu/pool.ts';
import { computation } from './computation.ts';
import { printed } from './printed.ts';
import { Recorded, Recorder } from './recorded.ts';

/** An op with what it was applied to. */
export interface OpAsked {
  readonly op: string;
  readonly params: unknown;
  readonly inputs: readonly (readonly number[])[];
  readonly shape: readonly number[];
}

/** One call of a kernel. */
export interface KernelCall {
  readonly kernel: string;
  readonly constants: Readonly<Record<string, number>>;
  readonly params: Readonly<Record<string, number>>;
  readonly workgroups: readonly number[];
}

/** What is known of an op. */
export interface OpFound {
  /** Calls that it makes on WebGPU; none where it only renames memory. */
  readonly calls: readonly KernelCall[];
  /** WGSL of the kernels called. */
  readonly sources: Readonly<Record<string, string>>;
  /** What kind of derivative it has. */
  readonly kind: 'rules' | 'defined' | 'zero' | 'none';
  /** Its value, from its inputs. */
  readonly value: string;
  /** Its definition in other ops, where it has one. */
  readonly definition: string | null;
  /** Tangent of the output from those of the inputs. */
  readonly jvp: string | null;
  /** Cotangent of each input from that of the output; null for inputs that have none. */
  readonly vjp: readonly (string | null)[];
  /** Names that the rules use for the inputs. */
  readonly names: readonly string[];
  /** Its record: CPU reference and rules, as they are in the library. */
  readonly record: { readonly file: string; readonly text: string } | null;
}

/** Notes kernel calls instead of making them, so that they can be told without a GPU. */
class Notebook {
  readonly maxBindingBytes = 2 ** 27;
  readonly subgroupSize: number;
  readonly calls: KernelCall[] = [];
  readonly sources: Record<string, string> = {};

  constructor(subgroupSize: number) {
    this.subgroupSize = subgroupSize;
  }

  dispatch(
    _op: string,
    kernel: Kernel,
    { constants = {}, params, workgroups }: Dispatch<string, string, string>,
  ): void {
    this.sources[kernel.name] = kernel.source;
    this.calls.push({ kernel: kernel.name, constants: constants as Record<string, number>, params, workgroups });
  }

  windows(size: number): { offset: number; size: number }[] {
    return [{ offset: 0, size }];
  }

  alloc(size: number): GpuStorage {
    return { size, dtype: 'real', refs: 1 } as GpuStorage;
  }

  free(): void {}
}

const sizeOf = (shape: readonly number[]): number => shape.reduce((n, d) => n * d, 1);

/** The kernel calls of an op. */
function callsOf(op: Op<unknown>, { params, inputs, shape }: OpAsked, device: ecif.Device): Notebook {
  const notebook = new Notebook(device.kind === 'webgpu' ? device.subgroupSize : 0);
  const storage = (of: readonly number[]): GpuStorage => notebook.alloc(sizeOf(of));
  if (op.alias === true) return notebook;
  op.gpu({
    ...{ op: op.name, shapes: inputs, shape, params, x: inputs.map(storage), y: storage(shape) },
    device: notebook as unknown as WebGpuDevice,
  });
  return notebook;
}

/** Values of a shape between 1 and 2, where every op is defined. */
const ones = (device: ecif.Device, shape: readonly number[]): ecif.Tensor =>
  ecif.tensor(
    device,
    Float64Array.from({ length: sizeOf(shape) }, (_, i) => 1 + i / (sizeOf(shape) + 1)),
    shape,
  );

/** Names of the inputs in rules. */
const namesFor = (count: number): string[] => (count === 1 ? ['x'] : ['a', 'b', 'c', 'd', 'e'].slice(0, count));

/** The rules of an op, read off what it does to recorded values. */
function rulesOf(
  op: Op<unknown>,
  { params, inputs, shape }: OpAsked,
  device: ecif.Device,
): Pick<OpFound, 'value' | 'definition' | 'jvp' | 'vjp'> {
  const recorder = new Recorder();
  const names = namesFor(inputs.length);
  const input = (name: string, of: readonly number[]): Recorded => recorder.input(name, ones(device, of));
  const text = (x: ecif.Tensor | null | undefined): string | null =>
    x instanceof Recorded ? printed(recorder.steps, x.index) : x == null ? null : 'constant';
  try {
    return ecif.scope(() => {
      const x = inputs.map((of, i) => input(names[i], of));
      const value = text(bind(op, x, params)) as string;
      if ('define' in op) return { value, definition: text(op.define(x, params)), jvp: null, vjp: [] };
      if ('derivative' in op) return { value, definition: null, jvp: null, vjp: [] };
      const y = input('y', shape);
      const dx = inputs.map((of, i) => input(`d${names[i]}`, of));
      const jvp = text(op.jvp(x, y, params)(dx));
      const cts = op.vjp(
        input('ct', shape),
        x,
        y,
        params,
        inputs.map(() => true),
      );
      return { value, definition: null, jvp, vjp: names.map((_, i) => text(cts[i])) };
    });
  } finally {
    recorder.dispose();
  }
}

/** What kind of derivative an op has. */
function kindOf(op: Op<unknown>): OpFound['kind'] {
  if ('define' in op) return 'defined';
  return 'derivative' in op ? op.derivative : 'rules';
}

export const scratchOp = computation<OpAsked, OpFound>({
  wants: 'float64',
  run: async (device, asked) => {
    const op = registry.find(({ name }) => name === asked.op);
    if (op === undefined) throw new Error(`scratchOp: there is no op ${asked.op}; take one of a graph`);
    const { OP_HELPERS, OP_RECORDS } = await import('../data/ops.gen.ts');
    const record = Object.hasOwn(OP_RECORDS, op.name) ? OP_RECORDS[op.name] : null;
    const { calls, sources } = callsOf(op, asked, device);
    return {
      ...{ calls, sources, kind: kindOf(op), names: namesFor(asked.inputs.length) },
      ...rulesOf(op, asked, device),
      record: record && {
        file: record.file,
        text: [record.text, ...record.helpers.map((name) => OP_HELPERS[name])].join('\n\n'),
      },
    };
  },
});
