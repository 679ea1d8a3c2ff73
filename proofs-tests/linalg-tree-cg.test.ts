// Conjugate gradients on trees, their vectors on the host: as on the device, to the bit where it goes on after an interruption.

import { describe, expect, it } from 'vitest';
import { distance, norm } from '../src/array/vector.ts';
import { Flat } from '../src/autodiff/flat.ts';
import { CpuDevice } from '../src/device/cpu.ts';
import * as ecif from '../src/index.ts';
import type { CgState } from '../src/linalg/cg.ts';
import { treeCg } from '../src/linalg/index.ts';
import { normals, withSpectrum } from './support/linalg.ts';

const device = new CpuDevice();
const N = 12;
type Tree = { readonly a: ecif.Tensor; readonly b: ecif.Tensor };
const tree = (values: Float64Array): Tree => ({
  a: ecif.tensor(device, values.slice(0, 8), [2, 4]),
  b: ecif.tensor(device, values.slice(8), [4]),
});
const flat = new Flat(tree(new Float64Array(N)));

/** v ↦ A·v on trees. */
const operator =
  (matrix: Float64Array) =>
  async (v: Tree): Promise<Tree> =>
    tree(ecif.matVec(matrix, await flat.toVector(v), N));

const spd = withSpectrum(3, [0.1, 0.3, 0.5, 1, 2, 3, 4, 5, 6, 7, 8, 40]);
const b = normals(4, N);
const space = ecif.treeSpace<Tree>();

describe('conjugate gradients on trees', () => {
  it('give the solution, the residuals and the products of vectors on the device', async () => {
    const diagonal = async (r: Tree): Promise<Tree> =>
      tree((await flat.toVector(r)).map((x, i) => x / spd[i * (N + 1)]));
    for (const options of [
      { tolerance: 1e-10 },
      { tolerance: 1e-6, damping: 0.5 },
      { tolerance: 1e-10, preconditioner: diagonal },
      { tolerance: 1e-10, x0: tree(normals(5, N)) },
      { tolerance: 1e-10, maxIterations: 4 },
    ]) {
      const [host, onDevice] = [
        await treeCg(operator(spd), tree(b), options),
        await ecif.cg(space, operator(spd), tree(b), options),
      ];
      const { x, ...record } = host;
      expect({ ...record, residuals: null }).toEqual({ ...onDevice, x: undefined, residuals: null });
      const [p, q] = [await flat.toVector(x), await flat.toVector(onDevice.x)];
      expect(distance(p, q)).toBeLessThan(1e-9 * norm(q));
    }
    const exact = ecif.choleskySolve(ecif.cholesky(spd, N), b);
    const { x } = await treeCg(operator(spd), tree(b), { tolerance: 1e-12 });
    expect(distance(await flat.toVector(x), exact)).toBeLessThan(1e-9 * norm(exact));
  });

  it('go on from any state with the same bits', async () => {
    const states: CgState<Tree>[] = [];
    const options = { tolerance: 1e-10, productError: 1e-14 };
    const copy = (v: Tree): Tree => space.combine([1], [v]);
    const whole = await treeCg(operator(spd), tree(b), {
      ...options,
      onState: (s) => void states.push({ ...s, x: copy(s.x), r: copy(s.r), p: copy(s.p) }),
    });
    expect(states.length).toBe(whole.iterations - 1);
    for (const resume of states) {
      const rest = await treeCg(operator(spd), tree(b), { ...options, resume });
      expect(rest.residuals).toEqual(whole.residuals);
      expect(await flat.toVector(rest.x)).toEqual(await flat.toVector(whole.x));
    }
  });

  it('report a direction of negative curvature as a tree', async () => {
    const indefinite = withSpectrum(6, [-2, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    const { status, negativeCurvature } = await treeCg(operator(indefinite), tree(b));
    expect(status).toBe('negative-curvature');
    const d = await flat.toVector(negativeCurvature?.direction as Tree);
    const bent = ecif.matVec(indefinite, d, N).reduce((sum, x, i) => sum + x * d[i], 0);
    expect(bent).toBeLessThan(0);
  });

  it('refuse trees of another form', async () => {
    const turned = async (v: Tree): Promise<Tree> => ({
      ...(await operator(spd)(v)),
      b: ecif.tensor(device, [1, 2, 3, 4], [4, 1]),
    });
    await expect(treeCg(turned, tree(b))).rejects.toThrow('a tree of other leaves or shapes');
    const fewer = (v: Tree): Promise<Tree> => Promise.resolve({ a: v.a } as Tree);
    await expect(treeCg(fewer, tree(b))).rejects.toThrow('a tree of other leaves or shapes');
  });

  it('give back all but the solution, also where a product fails', async () => {
    const before = device.memory().buffers;
    const right = tree(b);
    const { x } = await treeCg(operator(spd), right);
    ecif.disposeTree([x, right]);
    expect(device.memory().buffers).toBe(before);
    let products = 0;
    const failing = (v: Tree): Promise<Tree> =>
      products++ < 2 ? operator(spd)(v) : Promise.reject(new Error('no more'));
    const again = tree(b);
    await expect(treeCg(failing, again)).rejects.toThrow('no more');
    ecif.disposeTree(again);
    expect(device.memory().buffers).toBe(before);
  });
});
