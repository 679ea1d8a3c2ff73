// Every op of the registry on WebGPU, with and without subgroup kernels: equal to the CPU, and consistent by itself.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { registry } from '../../src/autodiff/ops/registry.ts';
import { CpuDevice } from '../../src/device/cpu.ts';
import { type Device, openDevice } from '../../src/device/open.ts';
import { describeGpu } from '../support/gpu.ts';
import {
  Case,
  checkRules,
  derive,
  isSmooth,
  probeFor,
  relativeError,
  TOLERANCE,
  valueOf,
} from '../support/op-checks.ts';

const cpu = new CpuDevice();

for (const portable of [false, true]) {
  await describeGpu(portable ? 'portable kernels' : 'subgroup kernels', () => {
    let device: Device;
    let cases = 0;
    beforeAll(async () => {
      device = await openDevice({ kind: 'webgpu', portable });
    });
    afterAll(() => {
      console.log(
        `registry on ${device.name}, ${portable ? 'portable' : 'subgroup'} kernels: ${registry.length} ops, ${cases} cases`,
      );
      device.destroy();
    });

    it.each(registry.map((op) => [op.name, op] as const))(
      '%s equals the CPU and keeps its rules',
      async (_name, op) => {
        for (const [i, sample] of op.samples.entries()) {
          const kase = new Case(op, sample, 100 * i);
          cases++;
          const limit = TOLERANCE.webgpu;
          if (!isSmooth(kase)) {
            expect(relativeError(await valueOf(kase, device), await valueOf(kase, cpu)), op.name).toBeLessThanOrEqual(
              limit.forward,
            );
            continue;
          }
          const probe = await probeFor(kase, cpu);
          const [expected, actual] = [await derive(kase, cpu, probe), await derive(kase, device, probe)];
          expect(relativeError(actual.y, expected.y), `${op.name}[${i}] value`).toBeLessThanOrEqual(limit.forward);
          for (const kind of ['tangent', 'gradient', 'product'] as const) {
            expect(relativeError(actual[kind], expected[kind]), `${op.name}[${i}] ${kind}`).toBeLessThanOrEqual(
              limit[kind],
            );
          }
          const own = await checkRules(new Case(op, sample, 100 * i), device);
          for (const kind of ['adjoint', 'jvp', 'hvp', 'symmetry'] as const) {
            expect(own[kind], `${op.name}[${i}] ${kind}`).toBeLessThanOrEqual(limit[kind]);
          }
        }
      },
    );
  });
}
