// H⁻¹·∇L of every target, by the solver asked for; kept in files, so that shards and resumed runs need not solve again.

import { join } from 'node:path';
import { disposeTree } from '../../autodiff/tensor.ts';
import type { CgSolverState, RecordedSolver, SolveRecord, SolverRecord } from '../../ecif/curvature/index.ts';
import { NegativeCurvatureError } from '../../linalg/errors.ts';
import type { Adapter } from '../../models/clip/lora.ts';
import type { StreamedLoss } from '../../models/streamed.ts';
import { type KeptSolutions, keptSolutions, type Refusal, type SolveNote } from './kept-solutions.ts';
import { type Opened, openSolver } from './open-solver.ts';
import type { Progress } from '../progress.ts';
import type { SolverSettings } from '../score/options.ts';

type Loss = StreamedLoss<Adapter, unknown>;

/** Solutions, and how they were found. */
export interface Solutions {
  /** H⁻¹ of each right-hand side. */
  readonly solved: readonly Adapter[];
  readonly about: SolverRecord;
  /** Of each solve, where the solver iterates. */
  readonly history: readonly SolveRecord[];
  /** Seconds that it took, in all runs. */
  readonly seconds: number;
  /** Relative error of the solutions, where the solver says it. */
  readonly accuracy: number | null;
  /** What is doubtful. */
  readonly warning: string | null;
}

/** Iterations between two states that are written. */
const STATE_EVERY = 10;

/** The history of a solver that keeps one. */
const historyOf = (solver: RecordedSolver<Adapter>): readonly SolveRecord[] =>
  'history' in solver ? (solver as RecordedSolver<Adapter> & { history: readonly SolveRecord[] }).history : [];

/** Whether the last solve of a solver had a preconditioner. */
const isPreconditioned = (about: SolverRecord | undefined): boolean =>
  (about?.settings.preconditioner ?? null) !== null;

function closeOpened({ solver, close }: Opened): void {
  solver.dispose();
  close();
}

/** Right-hand sides to be solved for, with what is kept of them. */
interface Solving {
  readonly loss: Loss;
  readonly theta: Adapter;
  readonly right: readonly Adapter[];
  readonly kept: KeptSolutions;
  readonly progress: Progress;
}

/** H⁻¹ of every right-hand side with one curvature and one solver, which is opened where a solution is not yet kept. */
async function solveWith(
  { loss, theta, right, kept, progress }: Solving,
  settings: SolverSettings,
): Promise<Solutions> {
  const { curvature } = settings;
  const [solved, notes]: [Adapter[], SolveNote[]] = [[], []];
  let [opened, current]: [Opened | null, number] = [null, 0];
  let resume: CgSolverState<Adapter> | undefined;
  const onState = async (state: CgSolverState<Adapter>): Promise<void> => {
    if ((state.residuals.length - 1) % STATE_EVERY === 0) await kept.writeState(curvature, current, state);
  };
  const open = async (): Promise<Opened> => {
    if (resume !== undefined) disposeTree([resume.x, resume.r, resume.p]);
    resume = settings.solver === 'cg' ? await kept.readState(curvature, current) : undefined;
    const preconditioned = isPreconditioned(notes.at(-1)?.about);
    const made = await openSolver(
      ...[loss, theta, settings],
      { resume, preconditioned, onState, products: right.length - current > 1 ? 'linearized' : 'auto' },
      progress,
    );
    if (made.warning !== null) progress.line(made.warning);
    return made;
  };
  try {
    for (; current < right.length; current++) {
      const found = await kept.read(curvature, current);
      if (found === null) {
        const began = performance.now();
        opened ??= await open();
        progress.status(`solving, ${current + 1} of ${right.length}`);
        const { solver, warning } = opened;
        const before = historyOf(solver).length;
        const x = await solver.solve(right[current]);
        const seconds = (performance.now() - began) / 1000;
        const { about, accuracy = null } = solver;
        const note = { about, history: historyOf(solver).slice(before), seconds, accuracy, warning };
        await kept.write(curvature, current, x, note);
        solved.push(x);
        notes.push(note);
      } else {
        solved.push(found.x);
        notes.push(found.note);
        // Another process may have made a preconditioner, which one process alone would have from here on.
        if (opened !== null && isPreconditioned(found.note.about) !== isPreconditioned(opened.solver.about)) {
          closeOpened(opened);
          opened = null;
        }
      }
      kept.dropState(curvature, current);
    }
  } catch (error) {
    disposeTree(solved);
    throw error;
  } finally {
    if (opened !== null) closeOpened(opened);
    if (resume !== undefined) disposeTree([resume.x, resume.r, resume.p]);
  }
  return {
    ...{ solved, about: notes[0].about, accuracy: notes[0].accuracy, warning: notes[0].warning },
    history: notes.flatMap(({ history }) => history),
    seconds: notes.reduce((sum, note) => sum + note.seconds, 0),
  };
}

/**
 * H⁻¹ of every right-hand side, all with the same curvature: `auto` of conjugate gradients is the Hessian, and
 * Gauss-Newton for all of them where one meets a direction of negative curvature. Every solution is written to a file as
 * it is found, and conjugate gradients write where they are, so that a killed run goes on there and other processes find
 * what is solved.
 * @param signature names the folder of the solutions; equal for equal questions
 */
export async function solveAll(
  loss: Loss,
  theta: Adapter,
  right: readonly Adapter[],
  { settings, folder, signature }: { settings: SolverSettings; folder: string; signature: string },
  progress: Progress,
): Promise<Solutions> {
  const kept = keptSolutions(join(folder, signature), theta);
  const solving = { loss, theta, right, kept, progress };
  if (settings.solver !== 'cg' || settings.curvature !== 'auto') return solveWith(solving, settings);
  const exact = kept.refused() === null ? await tryHessian(solving, settings) : null;
  if (exact !== null) return exact;
  const refusal = kept.refused() as Refusal;
  const solutions = await solveWith(solving, { ...settings, curvature: 'gauss-newton' });
  return {
    ...solutions,
    history: [...refusal.history, ...solutions.history],
    seconds: refusal.seconds + solutions.seconds,
  };
}

/** Solutions with the Hessian; null where it is found to be indefinite, which is kept. */
async function tryHessian(solving: Solving, settings: SolverSettings): Promise<Solutions | null> {
  const began = performance.now();
  try {
    return await solveWith(solving, { ...settings, curvature: 'hessian' });
  } catch (error) {
    if (!(error instanceof NegativeCurvatureError)) throw error;
    const { iteration } = error;
    const record = {
      curvature: 'hessian',
      status: 'negative-curvature',
      iterations: iteration,
      residuals: [],
    } as const;
    solving.kept.refuse({ history: [record], seconds: (performance.now() - began) / 1000 });
    solving.progress.line('the Hessian is not positive definite; every solve is with the Gauss-Newton matrix');
    return null;
  }
}
