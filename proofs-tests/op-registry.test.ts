// Every op of the registry, from its record alone, on the CPU: adjoint, first and second order, symmetry.

import { afterAll, describe, expect, it } from 'vitest';
import { registry } from '../src/autodiff/ops/registry.ts';
import { CpuDevice } from '../src/device/cpu.ts';
import { NotDifferentiableError } from '../src/array/errors.ts';
import { grad, jvp } from '../src/autodiff/transforms.ts';
import { sum } from '../src/autodiff/ops/reduce.ts';
import { Case, checkRules, isSmooth, TOLERANCE } from './support/op-checks.ts';

const device = new CpuDevice();
let cases = 0;

describe.each(registry.map((op) => [op.name, op] as const))('%s', (_name, op) => {
  it.each(op.samples.map((s, i) => [i, s] as const))('sample %i satisfies its rules in float64', async (i, sample) => {
    for (let seed = 0; seed < 3; seed++) {
      const kase = new Case(op, sample, 100 * i + seed);
      cases++;
      if ('derivative' in op && op.derivative === 'none') {
        const { f, x } = kase.on(device);
        expect(() => grad((t: typeof x) => sum(f(t)))(x)).toThrow(NotDifferentiableError);
        expect(() => jvp((t: typeof x) => f(t), x, x)).toThrow(`${op.name}: not differentiable`);
        continue;
      }
      if (op.name === 'stopGradient') {
        const { f, x } = kase.on(device);
        expect(await jvp((t: typeof x) => f(t), x, x).tangent.data()).toEqual(new Float64Array(3));
        continue;
      }
      if (!isSmooth(kase)) continue;
      // All inputs at once, and each alone: a rule must also be right where the other tangents are zero.
      const alone = kase.free.length > 1 ? kase.free.map((only) => new Case(op, sample, 100 * i + seed, only)) : [];
      for (const part of [kase, ...alone]) {
        const errors = await checkRules(part, device);
        for (const kind of ['adjoint', 'jvp', 'hvp', 'symmetry'] as const) {
          const label = `${op.name} ${kind} in inputs ${part.free.join()}`;
          expect(errors[kind], label).toBeLessThanOrEqual(TOLERANCE.cpu[kind]);
        }
      }
    }
  });
});

it('has one record per name', () => {
  expect(new Set(registry.map((op) => op.name)).size).toBe(registry.length);
});

afterAll(() => console.log(`registry on ${device.name}: ${registry.length} ops, ${cases} cases`));
