// The solvers that a removal by a rung of the ladder asks for, opened when their turn comes.

import type { RecordedSolver } from '../../ecif/curvature/index.ts';
import type { RungOptions } from '../../ecif/rungs.ts';
import type { Adapter } from '../../models/clip/lora.ts';
import type { OnRows, StreamedLoss } from '../../models/streamed.ts';
import type { Progress } from '../progress.ts';
import { editTolerance, type RemoveSettings } from '../remove/options.ts';
import type { SolverSettings } from '../score/options.ts';
import { solverAt } from './open-solver.ts';

/** Solvers for one θ̂ and any number of removals. */
export interface RungSolvers extends Pick<RungOptions<Adapter, unknown>, 'h' | 'solverAt'> {
  /** Which curvature the last solve was with. */
  used(): string;
  close(): void;
}

/** Prepares them; nothing is computed before the first solve. */
export function rungSolvers(
  loss: StreamedLoss<Adapter, unknown>,
  theta: Adapter,
  settings: Omit<SolverSettings, 'tolerance'> & Pick<RemoveSettings, 'rung' | 'edit-tolerance'>,
  progress: Progress,
): RungSolvers {
  const { curvature, rung } = settings;
  const kind = rung === 'woodbury' && curvature === 'auto' ? 'gauss-newton' : curvature;
  const asked = { ...settings, tolerance: editTolerance(settings), curvature: kind };
  let opened: Promise<RecordedSolver<Adapter>> | null = null;
  const here = (): Promise<RecordedSolver<Adapter>> => (opened ??= solverAt(loss, theta, asked, progress));
  let used = 'none';
  const recorded = async (solver: RecordedSolver<Adapter>, solution: Promise<Adapter>): Promise<Adapter> => {
    const x = await solution;
    used = solver.about.curvature;
    return x;
  };
  return {
    h: {
      solve: async (b) => {
        const solver = await here();
        return recorded(solver, solver.solve(b));
      },
      ...(settings.solver === 'cg' && {
        solveGradient: async (on: OnRows | undefined) => {
          const solver = await here();
          return recorded(solver, (solver.solveGradient as NonNullable<typeof solver.solveGradient>)(on));
        },
      }),
    },
    solverAt: async (after, at) => {
      const solver = await solverAt(after, at, asked, progress);
      const { solveGradient } = solver;
      return {
        solve: (b) => recorded(solver, solver.solve(b)),
        ...(solveGradient && { solveGradient: (on: OnRows | undefined) => recorded(solver, solveGradient(on)) }),
        dispose: () => solver.dispose(),
      };
    },
    used: () => used,
    close: () =>
      void opened?.then(
        (solver) => solver.dispose(),
        () => undefined, // the solve has told why
      ),
  };
}
