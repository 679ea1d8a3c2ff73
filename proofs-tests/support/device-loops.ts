// Solvers and minimisers run on parameter trees of a device; each claim holds on every device to its precision.

import { expect, it } from 'vitest';
import { CpuDevice } from '../../src/device/cpu.ts';
import * as ecif from '../../src/index.ts';
import { bilinear, denseSolution, type Theta } from './bilinear.ts';
import { relativeError } from './op-checks.ts';
import { readFlat } from './random-graph.ts';

const space = ecif.treeSpace<Theta>();

/** Minimiser in float64, by Newton on the dense Hessian. */
async function minimiser(): Promise<Float64Array> {
  const cpu = new CpuDevice();
  const { loss, theta } = bilinear(cpu);
  const at = (x: Float64Array): Theta => ({ w: ecif.tensor(cpu, x, theta.w.shape) });
  const evaluate = async (x: Float64Array): Promise<{ value: number; gradient: Float64Array }> => {
    const { value, grad } = ecif.valueAndGrad(loss)(at(x));
    return { value: await value.item(), gradient: await readFlat([grad.w]) };
  };
  const hessian = async (x: Float64Array): Promise<Float64Array> => (await ecif.hessian(loss, at(x))).matrix;
  return (await ecif.newton(ecif.float64Space, evaluate, new Float64Array(20), ecif.denseDirection(hessian, 'throw')))
    .x;
}

/** The tests of one device, called inside `describe`; `tolerance` is relative to the largest entry. */
export function deviceLoops(open: () => Promise<ecif.Device>, tolerance: number): void {
  const solve = async (
    run: (p: ReturnType<typeof bilinear>, hvp: (v: Theta) => Theta) => Promise<{ x: Theta; converged: boolean }>,
  ): Promise<void> => {
    const device = await open();
    const problem = bilinear(device);
    const expected = await denseSolution(bilinear(new CpuDevice()));
    const lin = ecif.linearizeGrad(problem.loss, problem.theta);
    const before = device.memory().live;
    const { x, converged } = await run(problem, (v) => lin.hvp(v));
    expect(converged).toBe(true);
    expect(relativeError(await readFlat([x.w]), expected)).toBeLessThan(tolerance);
    // Control: the right-hand side itself is no solution.
    expect(relativeError(await readFlat([problem.rhs.w]), expected)).toBeGreaterThan(0.1);
    ecif.disposeTree(x);
    expect(device.memory().live).toBe(before);
    lin.dispose();
    device.destroy();
  };
  const stop = Math.max(tolerance / 10, 1e-11);

  it('cg equals the dense inverse', () => solve(({ rhs }, hvp) => ecif.cg(space, hvp, rhs, { tolerance: stop })));
  it('minres equals the dense inverse', () =>
    solve(({ rhs }, hvp) => ecif.minres(space, hvp, rhs, { tolerance: stop })));
  it('lissa equals the dense inverse', () =>
    solve(async ({ rhs }, hvp) => {
      const { largest } = await ecif.extremeEigenvalues(space, hvp, rhs, {});
      return ecif.lissa(space, hvp, rhs, {
        scale: largest.value + largest.error,
        maxIterations: 4000,
        tolerance: stop,
        checkEvery: 20,
      });
    }));

  it.each(['lbfgs', 'newton'] as const)('%s finds the minimiser', async (method) => {
    const device = await open();
    const { loss, theta } = bilinear(device);
    const objective = async (x: Theta): Promise<{ value: number; gradient: Theta }> => {
      const { value, grad } = ecif.valueAndGrad(loss)(x);
      const number = await value.item();
      value.dispose();
      return { value: number, gradient: grad };
    };
    const options = { gradientTolerance: 20 * stop, valueNoise: tolerance < 1e-6 ? 1e-10 : 1e-6 };
    const found =
      method === 'lbfgs'
        ? await ecif.lbfgs(space, objective, theta, options)
        : await ecif.newton(
            space,
            objective,
            theta,
            ecif.cgDirection(space, (x, v) => ecif.hvp(loss, x, v)),
            options,
          );
    expect(relativeError(await readFlat([found.x.w]), await minimiser())).toBeLessThan(10 * tolerance);
    expect(relativeError(await readFlat([theta.w]), await minimiser())).toBeGreaterThan(0.1);
    device.destroy();
  });

  it('cg reports negative curvature with a direction that shows it', async () => {
    const device = await open();
    const { loss, theta, rhs } = bilinear(device);
    const concave = (t: Theta): ecif.Tensor => ecif.neg(loss(t));
    const { negativeCurvature, converged } = await ecif.cg(space, (v) => ecif.hvp(concave, theta, v), rhs, {});
    expect(converged).toBe(false);
    const d = negativeCurvature?.direction as Theta;
    const [curvature] = await space.dots([[d, ecif.hvp(concave, theta, d)]]);
    expect(curvature).toBeLessThan(0);
    device.destroy();
  });
}
