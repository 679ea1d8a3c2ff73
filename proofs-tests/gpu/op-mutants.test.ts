// The comparison with the CPU catches planted kernel faults in every op: a result left empty, or off by 0.1 %.

import { afterAll, beforeAll, expect, it } from 'vitest';
import type { GpuCall, Op } from '../../src/autodiff/op.ts';
import { gpuFill } from '../../src/autodiff/ops/copy.ts';
import { registry } from '../../src/autodiff/ops/registry.ts';
import { CpuDevice } from '../../src/device/cpu.ts';
import { type Device, openDevice } from '../../src/device/open.ts';
import { grid } from '../../src/device/webgpu/device.ts';
import { unary } from '../../src/shaders/kernels.gen.ts';
import { describeGpu } from '../support/gpu.ts';
import { Case, relativeError, TOLERANCE, valueOf } from '../support/op-checks.ts';

const cpu = new CpuDevice();
const AFFINE = 0;

/** Runs the op into a spare buffer and gives back `scale` times its result. */
function scaled(op: Op<unknown>, scale: number): Op<unknown>['gpu'] {
  return (call: GpuCall<unknown>) => {
    const spare = call.device.alloc(call.y.size, call.y.dtype, call.op);
    op.gpu({ ...call, y: spare });
    const n = Math.ceil(call.y.size / 4);
    call.device.dispatch(call.op, unary, {
      buffers: { x: spare, y: call.y },
      params: { n, p: scale, q: 0, missing: 0 },
      constants: { OP: AFFINE },
      workgroups: grid(n, 64),
    });
    call.device.free(spare);
  };
}

await describeGpu('kernel mutants', () => {
  let device: Device;
  beforeAll(async () => {
    device = await openDevice({ kind: 'webgpu' });
  });
  afterAll(() => device.destroy());

  const worst = async (op: Op<unknown>): Promise<number> => {
    const errors = [];
    for (const [i, sample] of op.samples.entries()) {
      errors.push(
        relativeError(await valueOf(new Case(op, sample, i), device), await valueOf(new Case(op, sample, i), cpu)),
      );
    }
    return Math.max(...errors);
  };
  const kernels = registry.filter((op) => op.alias !== true);
  const real = kernels.filter((op) => !('derivative' in op && op.derivative === 'none'));

  it.each(kernels.map((op) => [op.name, op] as const))('%s left empty is caught', async (_name, op) => {
    const empty: Op<unknown> = { ...op, gpu: ({ op: name, device: d, y }) => gpuFill(name, d, y, 0) };
    expect(await worst(empty)).toBeGreaterThan(TOLERANCE.webgpu.forward);
  });

  it.each(real.map((op) => [op.name, op] as const))(
    '%s off by 0.1 %% is caught, unharmed it is not',
    async (_name, op) => {
      expect(await worst({ ...op, gpu: scaled(op, 1) })).toBeLessThanOrEqual(TOLERANCE.webgpu.forward);
      expect(await worst({ ...op, gpu: scaled(op, 1.001) })).toBeGreaterThan(TOLERANCE.webgpu.forward);
    },
  );
});
