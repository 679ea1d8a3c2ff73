// Runs in the page: registry checks of chosen ops on the page's WebGPU device and on its CPU device.

import { registry } from '../../src/autodiff/ops/registry.ts';
import { CpuDevice } from '../../src/device/cpu.ts';
import { openDevice } from '../../src/device/open.ts';
import { Case, derive, probeFor, relativeError } from '../support/op-checks.ts';

/** Errors of one case, GPU against CPU. */
export interface PageResult {
  readonly op: string;
  readonly sample: number;
  readonly value: number;
  readonly tangent: number;
  readonly gradient: number;
  readonly product: number;
}

export async function main(
  names: readonly string[],
): Promise<{ device: string; automatic: string; results: PageResult[] }> {
  const device = await openDevice({ kind: 'webgpu' });
  const automatic = (await openDevice()).kind;
  const cpu = new CpuDevice();
  const results: PageResult[] = [];
  for (const op of registry.filter((o) => names.includes(o.name))) {
    for (const [sample, s] of op.samples.entries()) {
      const kase = new Case(op, s, 100 * sample);
      const probe = await probeFor(kase, cpu);
      const [expected, actual] = [await derive(kase, cpu, probe), await derive(kase, device, probe)];
      results.push({
        op: op.name,
        sample,
        value: relativeError(actual.y, expected.y),
        tangent: relativeError(actual.tangent, expected.tangent),
        gradient: relativeError(actual.gradient, expected.gradient),
        product: relativeError(actual.product, expected.product),
      });
    }
  }
  return { device: device.name, automatic, results };
}
