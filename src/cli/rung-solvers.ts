// The solvers that a removal by a rung of the ladder asks for, opened when their turn comes.

import type { RecordedSolver } from '../ecif/curvature/index.ts';
import type { RungOptions } from '../ecif/rungs.ts';
import type { Adapter } from '../models/clip/lora.ts';
import type { StreamedLoss } from '../models/streamed.ts';
import type { Progress } from './progress.ts';
import type { RemoveSettings } from './remove-options.ts';
import type { SolverSettings } from './score-options.ts';
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
  settings: SolverSettings & Pick<RemoveSettings, 'rung'>,
  progress: Progress,
): RungSolvers {
  const { curvature, rung } = settings;
  const asked = { ...settings, curvature: rung === 'woodbury' && curvature === 'auto' ? 'gauss-newton' : curvature };
  let opened: Promise<RecordedSolver<Adapter>> | null = null;
  let used = 'none';
  const recorded =
    (solver: RecordedSolver<Adapter>) =>
    async (b: Adapter): Promise<Adapter> => {
      const x = await solver.solve(b);
      used = solver.about.curvature;
      return x;
    };
  return {
    h: {
      solve: async (b) => {
        opened ??= solverAt(loss, theta, asked, progress);
        return recorded(await opened)(b);
      },
    },
    solverAt: async (after, at) => {
      const solver = await solverAt(after, at, asked, progress);
      return { solve: recorded(solver), dispose: () => solver.dispose() };
    },
    used: () => used,
    close: () => void opened?.then((solver) => solver.dispose()),
  };
}
