// H⁻¹·∇L of every target, by the solver asked for; kept in a file, so that shards and resumed runs need not solve again.

import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { EcifError } from '../array/errors.ts';
import { disposeTree } from '../autodiff/tensor.ts';
import {
  type CgSolverState,
  cgSolver,
  denseOf,
  diagonalOf,
  ekfacOf,
  identityOf,
  jointOf,
  kfacOf,
  lanczosOf,
  lissaSolver,
  lograOf,
  minresSolver,
  type RecordedSolver,
  type SolveRecord,
  type SolverRecord,
} from '../ecif/curvature/index.ts';
import type { Adapter } from '../models/clip/lora.ts';
import { loadTrees, saveTrees } from '../models/clip/tree-file.node.ts';
import type { StreamedLoss } from '../models/streamed.ts';
import type { Progress } from './progress.ts';
import type { SolverSettings } from './score-options.ts';

type Loss = StreamedLoss<Adapter, unknown>;

/** A solver, and the decomposition to be given back with it. */
interface Opened {
  readonly solver: RecordedSolver<Adapter>;
  close(): void;
}

/** How a solve by conjugate gradients goes on, and is kept. */
interface Interruptible {
  readonly resume: CgSolverState<Adapter> | undefined;
  onState(state: CgSolverState<Adapter>): Promise<void>;
  /** The preconditioner of all solves, made when the first one wants it. */
  preconditioner(): Promise<RecordedSolver<Adapter>>;
}

/** The preconditioner that the settings name; it keeps what it needs until it is disposed. */
async function openPreconditioner(
  loss: Loss,
  theta: Adapter,
  settings: SolverSettings,
): Promise<RecordedSolver<Adapter>> {
  const { damping, seed } = settings;
  if (settings.preconditioner === 'joint') {
    const curvature = settings.curvature === 'auto' ? 'hessian' : settings.curvature;
    return jointOf(loss, theta, { damping, seed, curvature });
  }
  const ekfac = await ekfacOf(loss, theta, { seed });
  return { ...ekfac.solver(damping), dispose: () => ekfac.dispose() };
}

/** Iterations before the time that is left is guessed. */
const GUESSED_AFTER = 5;

/** Words for the time that a solve will take if its residual goes on falling as it did, from its first iteration. */
function timeLeft(tolerance: number): (iteration: number, residual: number) => string {
  let first: { iteration: number; residual: number; at: number } | null = null;
  return (iteration, residual) => {
    const at = performance.now();
    if (first === null || iteration <= first.iteration) first = { iteration, residual, at };
    const gained = Math.log(first.residual / residual);
    if (iteration - first.iteration < GUESSED_AFTER || !(gained > 0)) return '';
    const seconds = ((at - first.at) / 1000 / gained) * Math.max(0, Math.log(residual / tolerance));
    return `  about ${Math.ceil(seconds)} s left`;
  };
}

/** The solver that the settings name. */
async function openSolver(
  loss: Loss,
  theta: Adapter,
  settings: SolverSettings,
  { resume, onState, preconditioner: shared }: Interruptible,
  progress: Progress,
): Promise<Opened> {
  const { damping, seed, rank, tolerance, 'max-iterations': maxIterations } = settings;
  const left = timeLeft(tolerance);
  const kind = settings.curvature === 'auto' ? 'gauss-newton' : settings.curvature;
  const iterative = {
    ...{ damping, tolerance, maxIterations },
    onIteration: (i: number, residual: number) =>
      progress.status(`${settings.solver} ${i}  residual ${residual.toExponential(2)}${left(i, residual)}`),
  };
  const decomposed = async (made: ReturnType<typeof denseOf<Adapter, unknown>>): Promise<Opened> => {
    const decomposition = await made;
    return { solver: decomposition.solver(damping), close: () => decomposition.dispose() };
  };
  switch (settings.solver) {
    case 'minres':
      return {
        solver: minresSolver(loss, theta, {
          ...iterative,
          ...(settings.curvature === 'auto' ? {} : { curvature: kind }),
        }),
        close: () => undefined,
      };
    case 'lissa': {
      const solver = await lissaSolver(loss, theta, { ...iterative, curvature: kind, seed });
      return { solver, close: () => undefined };
    }
    case 'dense':
      return decomposed(denseOf(loss, theta, { curvature: kind }));
    case 'ekfac':
      return decomposed(ekfacOf(loss, theta, { seed }));
    case 'kfac':
      return decomposed(kfacOf(loss, theta, { seed }));
    case 'diagonal':
      return decomposed(diagonalOf(loss, theta, { seed }));
    case 'identity':
      return decomposed(identityOf(loss, theta));
    case 'lanczos':
      return decomposed(lanczosOf(loss, theta, { rank, seed, curvature: kind }));
    case 'logra':
      return decomposed(lograOf(loss, theta, { size: rank, seed, curvature: kind }));
    case 'cg': {
      const { curvature, preconditioner: which } = settings;
      const preconditioner = which === 'none' ? {} : { preconditioner: await shared() };
      return {
        solver: cgSolver(loss, theta, { ...iterative, curvature, ...preconditioner, resume, onState }),
        close: () => undefined,
      };
    }
  }
}

/** A solver for solves that are not kept. */
export async function solverAt(
  loss: Loss,
  theta: Adapter,
  settings: SolverSettings,
  progress: Progress,
): Promise<RecordedSolver<Adapter>> {
  let preconditioner: RecordedSolver<Adapter> | null = null;
  const once: Interruptible = {
    resume: undefined,
    onState: () => Promise.resolve(),
    preconditioner: async () => (preconditioner ??= await openPreconditioner(loss, theta, settings)),
  };
  const { solver, close } = await openSolver(loss, theta, settings, once, progress);
  return {
    get about() {
      return solver.about;
    },
    ...(solver.accuracy === undefined ? {} : { accuracy: solver.accuracy }),
    solve: (b) => solver.solve(b),
    dispose: () => {
      solver.dispose();
      close();
      preconditioner?.dispose();
    },
  };
}

/** Solutions, and how they were found. */
export interface Solutions {
  /** H⁻¹ of each right-hand side. */
  readonly solved: readonly Adapter[];
  readonly about: SolverRecord;
  /** Of each solve, where the solver iterates. */
  readonly history: readonly SolveRecord[];
  /** Seconds that it took, in all runs. */
  readonly seconds: number;
}

/** What is kept of solves that are done. */
interface Kept {
  readonly about: SolverRecord | null;
  readonly history: readonly SolveRecord[];
  readonly count: number;
  readonly seconds: number;
}

/** Iterations between two states that are written. */
const STATE_EVERY = 10;

const NOTHING: Kept = { about: null, history: [], count: 0, seconds: 0 };

/** What an earlier run left in a file; nothing where there is none. */
async function readKept(path: string, like: Adapter): Promise<{ kept: Kept; trees: Record<string, Adapter> }> {
  if (!existsSync(path)) return { kept: NOTHING, trees: {} };
  const { device } = Object.values(like)[0];
  const { trees, notes } = await loadTrees(path, like, [], device);
  try {
    return { kept: JSON.parse(notes.kept) as Kept, trees };
  } catch (error) {
    throw new EcifError(`${path}: not the solutions of a run; remove the file`, { cause: error });
  }
}

/** The state of a solve, if one was left. */
async function readState(path: string, like: Adapter): Promise<CgSolverState<Adapter> | undefined> {
  if (!existsSync(path)) return undefined;
  const { device } = Object.values(like)[0];
  const { trees, notes } = await loadTrees(path, like, ['x', 'r', 'p'], device);
  const rest = JSON.parse(notes.state) as Pick<CgSolverState<Adapter>, 'residuals' | 'products' | 'curvature'>;
  return { ...rest, x: trees.x, r: trees.r, p: trees.p };
}

/** The history of a solver that keeps one. */
const historyOf = (solver: RecordedSolver<Adapter>): readonly SolveRecord[] =>
  'history' in solver ? (solver as RecordedSolver<Adapter> & { history: readonly SolveRecord[] }).history : [];

/**
 * H⁻¹ of every right-hand side. Solutions are written to a file in `folder` as they are found, and conjugate gradients
 * write where they are, so that a killed run goes on there; a file that is complete is read.
 * @param signature names the file; equal for equal questions
 */
export async function solveAll(
  loss: Loss,
  theta: Adapter,
  right: readonly Adapter[],
  { settings, folder, signature }: { settings: SolverSettings; folder: string; signature: string },
  progress: Progress,
): Promise<Solutions> {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${signature}.safetensors`);
  const statePath = join(folder, `${signature}.state.safetensors`);
  let { kept, trees } = await readKept(path, theta);
  let shared: RecordedSolver<Adapter> | null = null;
  while (kept.count < right.length) {
    const began = performance.now();
    const interruptible = {
      resume: await readState(statePath, theta),
      onState: async ({ x, r, p, ...rest }: CgSolverState<Adapter>): Promise<void> => {
        if ((rest.residuals.length - 1) % STATE_EVERY !== 0) return;
        await saveTrees(statePath, { x, r, p }, { state: JSON.stringify(rest) });
      },
      preconditioner: async () => (shared ??= await openPreconditioner(loss, theta, settings)),
    };
    const { solver, close } = await openSolver(loss, theta, settings, interruptible, progress);
    // Conjugate gradients go on within one solve only; a decomposition serves all that are left.
    const end = settings.solver === 'cg' ? kept.count + 1 : right.length;
    for (let i = kept.count; i < end; i++) {
      progress.status(`solving, ${i + 1} of ${right.length}`);
      trees = { ...trees, [String(i)]: await solver.solve(right[i]) };
    }
    kept = {
      about: solver.about,
      history: [...kept.history, ...historyOf(solver)],
      count: end,
      seconds: kept.seconds + (performance.now() - began) / 1000,
    };
    solver.dispose();
    close();
    if (interruptible.resume !== undefined) {
      const { x, r, p } = interruptible.resume;
      disposeTree([x, r, p]);
    }
    await saveTrees(path, trees, { kept: JSON.stringify(kept) });
    rmSync(statePath, { force: true });
  }
  (shared as RecordedSolver<Adapter> | null)?.dispose();
  const { about, history, seconds } = kept;
  return { solved: right.map((_, i) => trees[String(i)]), about: about as SolverRecord, history, seconds };
}
