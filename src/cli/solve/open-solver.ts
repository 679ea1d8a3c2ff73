// The solver that settings name, opened at a point.

import { EcifError } from '../../array/errors.ts';
import { Flat } from '../../autodiff/flat.ts';
import {
  type CgSolverOptions,
  type CgSolverState,
  cgSolver,
  conditioningAt,
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
  type ProductOptions,
  type RecordedSolver,
} from '../../ecif/curvature/index.ts';
import type { Adapter } from '../../models/clip/lora.ts';
import type { StreamedLoss } from '../../models/streamed.ts';
import type { Progress } from '../progress.ts';
import type { SolverSettings } from '../score/options.ts';

type Loss = StreamedLoss<Adapter, unknown>;

/** A solver, and the decomposition to be given back with it. */
export interface Opened {
  readonly solver: RecordedSolver<Adapter>;
  /** What is doubtful about it. */
  readonly warning: string | null;
  close(): void;
}

/** How a solve by conjugate gradients goes on, and is kept. */
interface Interruptible {
  readonly resume: CgSolverState<Adapter> | undefined;
  /** Whether the solve before had a preconditioner, which this one then has from the start. */
  readonly preconditioned: boolean;
  onState?(state: CgSolverState<Adapter>): Promise<void>;
  readonly products: NonNullable<ProductOptions['products']>;
}

/** Iterations of conjugate gradients after which a preconditioner is worth what it takes to make. */
const RESERVED_FOR = 50;

/** The preconditioner that the settings name; it keeps what it needs until it is disposed. */
async function openPreconditioner(
  loss: Loss,
  theta: Adapter,
  settings: SolverSettings,
): Promise<RecordedSolver<Adapter>> {
  const { damping, seed } = settings;
  if (settings.preconditioner !== 'ekfac') {
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

/** Numbers that a dense matrix may stand for: a product each, and an eigenproblem on the host. */
const DENSE_MOST = 4096;

function requireFew(parameters: number): void {
  if (parameters <= DENSE_MOST) return;
  throw new EcifError(`dense: ${parameters} parameters, at most ${DENSE_MOST}; take cg, or lanczos for a part of them`);
}

/** Of a solver that keeps nothing and has nothing to warn of. */
const PLAIN = { warning: null, close: () => undefined };

/** The solver that the settings name. */
export async function openSolver(
  loss: Loss,
  theta: Adapter,
  settings: SolverSettings,
  { resume, preconditioned, onState, products }: Interruptible,
  progress: Progress,
): Promise<Opened> {
  const { damping, seed, rank, init, tolerance, 'max-iterations': maxIterations } = settings;
  const left = timeLeft(tolerance);
  const kind = settings.curvature === 'auto' ? 'gauss-newton' : settings.curvature;
  const iterative = {
    ...{ damping, tolerance, maxIterations },
    onIteration: (i: number, residual: number) =>
      progress.status(`${settings.solver} ${i}  residual ${residual.toExponential(2)}${left(i, residual)}`),
  };
  const onProduct = (done: number, of: number): void => progress.status(`${settings.solver}: product ${done} of ${of}`);
  const decomposed = async (made: ReturnType<typeof denseOf<Adapter, unknown>>): Promise<Opened> => {
    const decomposition = await made;
    const solver = decomposition.solver(damping);
    const warning = conditioningAt(decomposition, damping)?.message ?? null;
    return { solver, warning, close: () => decomposition.dispose() };
  };
  switch (settings.solver) {
    case 'minres':
      return {
        solver: minresSolver(loss, theta, {
          ...iterative,
          ...(settings.curvature === 'auto' ? {} : { curvature: kind }),
        }),
        ...PLAIN,
      };
    case 'lissa': {
      const solver = await lissaSolver(loss, theta, { ...iterative, curvature: kind, seed });
      return { solver, ...PLAIN };
    }
    case 'dense':
      requireFew(new Flat(theta).size);
      return decomposed(denseOf(loss, theta, { curvature: kind, onProduct }));
    case 'ekfac':
      return decomposed(ekfacOf(loss, theta, { seed }));
    case 'kfac':
      return decomposed(kfacOf(loss, theta, { seed }));
    case 'diagonal':
      return decomposed(diagonalOf(loss, theta, { seed }));
    case 'identity':
      return decomposed(identityOf(loss, theta));
    case 'lanczos':
      return decomposed(
        lanczosOf(loss, theta, { rank, seed, curvature: kind, onIteration: (i) => onProduct(i, 2 * rank) }),
      );
    case 'logra':
      return decomposed(lograOf(loss, theta, { size: rank, seed, curvature: kind, init, most: DENSE_MOST, onProduct }));
    case 'cg': {
      const { curvature, preconditioner: which } = settings;
      let made: RecordedSolver<Adapter> | null = null;
      const make = async (): Promise<RecordedSolver<Adapter>> => {
        progress.status('making a preconditioner');
        return (made = await openPreconditioner(loss, theta, settings));
      };
      const by = async (): Promise<Pick<CgSolverOptions<Adapter>, 'preconditioner' | 'reserve'>> => {
        if (which === 'none') return {};
        if (which === 'auto' && !preconditioned) return { reserve: { after: RESERVED_FOR, make } };
        return { preconditioner: await make() };
      };
      return {
        solver: cgSolver(loss, theta, {
          ...iterative,
          curvature,
          products,
          resume,
          ...(onState && { onState }),
          ...(await by()),
        }),
        ...PLAIN,
        close: () => made?.dispose(),
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
  const once: Interruptible = { resume: undefined, preconditioned: false, products: 'auto' };
  const { solver, warning, close } = await openSolver(loss, theta, settings, once, progress);
  if (warning !== null) progress.line(warning);
  return {
    get about() {
      return solver.about;
    },
    ...(solver.accuracy === undefined ? {} : { accuracy: solver.accuracy }),
    solve: (b) => solver.solve(b),
    ...(solver.solveGradient === undefined ? {} : { solveGradient: solver.solveGradient }),
    dispose: () => {
      solver.dispose();
      close();
    },
  };
}
