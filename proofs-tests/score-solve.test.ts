// Solves of a scoring run: one curvature for all targets, a file for each solution, resumed where they were.
import { cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Flat } from '../src/autodiff/flat.ts';
import { withDefaults } from '../src/cli/args.ts';
import { solverAt } from '../src/cli/solve/open-solver.ts';
import { rungSolvers } from '../src/cli/solve/rung-solvers.ts';
import type { Progress } from '../src/cli/progress.ts';
import { SOLVER_OPTIONS, type SolverSettings } from '../src/cli/score/options.ts';
import { solveAll, type Solutions } from '../src/cli/solve/solve-all.ts';
import * as ecif from '../src/index.ts';
import type { Adapter } from '../src/models/clip/lora.ts';
import type { Prefix } from '../src/models/clip/prefix.ts';
import { gaussNewtonProduct, hessianProduct } from '../src/models/streamed.ts';
import { denseCurvature, gapOf, tinyClip } from './support/streamed.ts';
import { quiet, temporaryFolder } from './support/shapes.ts';

// Of the adapters of a tiny CLIP those of one layer; the others stay.
const { loss: all, theta: frozen } = tinyClip().rest;
const names = Object.keys(frozen).filter((name) => name.startsWith('text') && name.includes('fc2'));
const theta: Adapter = Object.fromEntries(names.map((name) => [name, frozen[name]]));
const loss = {
  ...all,
  model: {
    scale: (t: Adapter) => all.model.scale({ ...frozen, ...t }),
    embed: (t: Adapter, batch: Prefix) => all.model.embed({ ...frozen, ...t }, batch),
  },
};
const flat = new Flat<Adapter>(theta);
const settings = (given: Partial<SolverSettings>): SolverSettings =>
  ({
    ...withDefaults({ tolerance: 1e-9, preconditioner: 'none', ...given }, SOLVER_OPTIONS),
    seed: 0,
  }) as SolverSettings;
const solve = (
  folder: string,
  right: readonly Adapter[],
  given: Partial<SolverSettings> = {},
  progress: Progress = quiet,
): Promise<Solutions> => {
  const place = { settings: settings(given), folder, signature: 'question' };
  return solveAll(loss, theta, right, place, progress);
};
const rng = ecif.createRng(8);
const vectors = [flat.normal(rng), flat.normal(rng)];

describe('solves of several targets', () => {
  it('all have the Gauss-Newton matrix where one finds the Hessian indefinite, also when they are taken up again', async () => {
    const { size, matrix } = await denseCurvature({ loss, theta }, hessianProduct);
    const { values, vectors: rows } = ecif.symmetricEigen(matrix, size);
    expect(values[0]).toBeLessThan(0);
    // Along an eigenvector of a positive eigenvalue conjugate gradients see nothing of the negative ones.
    const right = [size - 1, size - 2, 0].map((k) => flat.toTree(rows.slice(k * size, (k + 1) * size)));
    const folder = temporaryFolder();
    const first = await solve(folder, right.slice(0, 2));
    expect(first.about.curvature).toBe('hessian');
    const { solved, about, history } = await solve(folder, right);
    expect(about.curvature).toBe('gauss-newton');
    expect(history.map(({ curvature, status }) => `${curvature} ${status}`)).toEqual([
      'hessian negative-curvature',
      ...right.map(() => 'gauss-newton converged'),
    ]);
    const dense = (await ecif.denseOf(loss, theta, { curvature: 'gauss-newton' })).solver();
    for (const [i, x] of solved.entries()) {
      expect(gapOf(await flat.toVector(x), await flat.toVector(await dense.solve(right[i])))).toBeLessThan(1e-7);
    }
    const again = await solve(folder, right);
    expect(again.history).toEqual(history);
    expect(readdirSync(join(folder, 'question')).sort()).toEqual([
      ...right.map((_, i) => `gauss-newton-${i}.safetensors`),
      'indefinite.json',
    ]);
  });

  it('go on after a kill within a solve, with its own state and the same bits', async () => {
    const given = { curvature: 'gauss-newton' } as const;
    const whole = await solve(temporaryFolder(), vectors, given);
    expect(whole.history[0].iterations).toBeGreaterThan(12);
    const folder = temporaryFolder();
    const killed = {
      ...quiet,
      status: (text: string) => {
        if (text.startsWith('cg 12 ')) throw new Error('killed');
      },
    };
    await expect(solve(folder, vectors, given, killed)).rejects.toThrow('killed');
    const state = join(folder, 'question', 'gauss-newton-0.state.safetensors');
    expect(existsSync(state)).toBe(true);
    const stash = join(temporaryFolder(), 'state');
    cpSync(state, stash);
    const iterations: string[] = [];
    const told = { ...quiet, status: (text: string) => void iterations.push(text) };
    const one = await solve(folder, vectors.slice(0, 1), given, told);
    expect(iterations.filter((text) => text.startsWith('cg '))[0]).toMatch(/^cg 11 /);
    // As if it had been killed after the solution was written, before the state was removed.
    cpSync(stash, state);
    const both = await solve(folder, vectors, given);
    expect(existsSync(state)).toBe(false);
    expect(both.history).toEqual(whole.history);
    for (const [i, x] of both.solved.entries()) {
      expect(await flat.toVector(x)).toEqual(await flat.toVector(whole.solved[i]));
    }
    expect(one.history).toEqual(whole.history.slice(0, 1));
  });

  it('that are slow have a preconditioner from then on, also in a process that goes on after a kill', async () => {
    const soft = { ...loss, l2: 1e-5 };
    const slow = vectors.toReversed();
    const run = (folder: string, right: readonly Adapter[]): Promise<Solutions> => {
      const asked = settings({ curvature: 'gauss-newton', preconditioner: 'auto', tolerance: 1e-10 });
      return solveAll(soft, theta, right, { settings: asked, folder, signature: 'question' }, quiet);
    };
    const whole = await run(temporaryFolder(), slow);
    expect(whole.history.map(({ status }) => status)).toEqual(['slow', 'converged', 'converged']);
    const folder = temporaryFolder();
    await run(folder, slow.slice(0, 1));
    const resumed = await run(folder, slow);
    expect(resumed.history).toEqual(whole.history);
    const dense = (await ecif.denseOf(soft, theta, { curvature: 'gauss-newton' })).solver();
    for (const [i, x] of resumed.solved.entries()) {
      expect(await flat.toVector(x)).toEqual(await flat.toVector(whole.solved[i]));
      expect(gapOf(await flat.toVector(x), await flat.toVector(await dense.solve(slow[i])))).toBeLessThan(1e-5);
    }
  });

  it('beside another process that made a preconditioner are those of one process, to the bit', async () => {
    const soft = { ...loss, l2: 1e-5 };
    // Along an eigenvector one iteration is enough.
    const { size, matrix } = await denseCurvature({ loss: soft, theta }, gaussNewtonProduct);
    const quick = flat.toTree(ecif.symmetricEigen(matrix, size).vectors.slice((size - 1) * size));
    const right = [quick, ...vectors];
    const run = (folder: string): Promise<Solutions> => {
      const asked = settings({ curvature: 'gauss-newton', preconditioner: 'auto', tolerance: 1e-10 });
      return solveAll(soft, theta, right, { settings: asked, folder, signature: 'question' }, quiet);
    };
    const [one, beside] = [temporaryFolder(), temporaryFolder()];
    const whole = await run(one);
    expect(whole.history.map(({ status }) => status)).toEqual(['converged', 'slow', 'converged', 'converged']);
    mkdirSync(join(beside, 'question'));
    const [from, to] = [one, beside].map((at) => join(at, 'question', 'gauss-newton-1.safetensors'));
    cpSync(from, to);
    const shared = await run(beside);
    expect(shared.history).toEqual(whole.history);
    for (const [i, x] of shared.solved.entries())
      expect(await flat.toVector(x)).toEqual(await flat.toVector(whole.solved[i]));
  });

  it('take what another process has solved', async () => {
    const folder = temporaryFolder();
    expect((await solve(folder, vectors, { solver: 'diagonal' })).about.method).toBe('diagonal');
    const other = temporaryFolder();
    mkdirSync(join(other, 'question'));
    const [from, to] = [folder, other].map((at) => join(at, 'question', 'auto-1.safetensors'));
    cpSync(from, to);
    const found = await solve(other, vectors, { solver: 'identity' });
    const ones = await Promise.all(found.solved.map((x) => flat.toVector(x)));
    expect(ones[1]).toEqual(await flat.toVector((await solve(folder, vectors, { solver: 'diagonal' })).solved[1]));
    expect(gapOf(ones[0], await flat.toVector(vectors[0]))).not.toBe(0);
  });

  it('warn where rounding leaves too few digits, also when they are read again', async () => {
    const plain = { ...loss, l2: 0 };
    const { size, matrix } = await denseCurvature({ loss: plain, theta });
    const { values } = ecif.symmetricEigen(matrix, size);
    // Eight pairs leave directions without curvature, where the condition number is the largest value over the damping.
    const damping = (values[size - 1] * 2 ** -53) / 0.05;
    const [folder, lines]: [string, string[]] = [temporaryFolder(), []];
    const told = { ...quiet, line: (text: string) => void lines.push(text) };
    const doubtful = (): Promise<Solutions> => {
      const place = { settings: settings({ solver: 'dense', damping }), folder, signature: 'question' };
      return solveAll(plain, theta, vectors.slice(0, 1), place, told);
    };
    const { warning } = await doubtful();
    expect(warning).toMatch(/^dense: condition number \d\.\de\+14 at damping .*, rounding may change the solution/);
    expect(lines).toEqual([warning]);
    expect((await doubtful()).warning).toBe(warning);
    expect((await solve(temporaryFolder(), vectors, { solver: 'dense' }, told)).warning).toBeNull();
  });

  it('by a dense matrix are refused where it is too large, before any product', async () => {
    const large = { w: ecif.zeros(flat.device, [5000]) };
    const never = { ...loss, batch: () => Promise.reject(new Error('a batch was asked for')) };
    await expect(solverAt(never, large, settings({ solver: 'dense' }), quiet)).rejects.toThrow(
      '5000 parameters, at most 4096',
    );
    const rungs = rungSolvers(
      never,
      large,
      { ...settings({ solver: 'dense' }), rung: 'corrected', 'edit-tolerance': undefined },
      quiet,
    );
    await expect(rungs.h.solve(large)).rejects.toThrow('dense: 5000 parameters');
    rungs.close(); // a rejection that nobody handles would fail the run
    await new Promise(setImmediate);
    await expect(ecif.lograOf(loss, theta, { size: 4, most: 10 })).rejects.toThrow(
      /logra: \d+ dimensions at size 4, at most 10/,
    );
  });
});
