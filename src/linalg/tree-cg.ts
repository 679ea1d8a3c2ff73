// Conjugate gradients on trees of device tensors, whose vectors stay on the host where they are short.

import { Flat } from '../autodiff/flat.ts';
import { disposeTree } from '../autodiff/tensor.ts';
import { cg, type CgOptions, type CgResult, type CgState } from './cg.ts';
import { float64Space, type Operator, type Space } from './space.ts';
import { ON_HOST, treeSpace } from './tree-space.ts';

/** Options of {@link treeCg}: those of {@link cg}, but that x is not shown after each iteration. */
export interface TreeCgOptions<T> extends Omit<CgOptions<T>, 'onIteration'> {
  onIteration?: ((info: { iteration: number; residual: number }) => void) | undefined;
}

/** Vectors on the host with the digits of a float32 device, so that nothing is lost where they are laid down on it. */
const float32Space: Space<Float64Array> = {
  ...float64Space,
  combine: (coeffs, vectors) => float64Space.combine(coeffs, vectors).map(Math.fround),
};

/**
 * Solves A·x = b as {@link cg} does. An iteration lays one vector down on the device and reads one back, in place of a kernel for each
 * leaf of every vector; vectors of more than a million numbers stay on the device.
 * @example const { x } = await treeCg((v) => lin.hvp(v), gradient, { tolerance: 1e-3 });
 */
export async function treeCg<T>(apply: Operator<T>, b: T, options: TreeCgOptions<T> = {}): Promise<CgResult<T>> {
  const flat = new Flat(b);
  if (flat.size > ON_HOST) return cg(treeSpace<T>(), apply, b, options);
  const { preconditioner, x0, onState, resume, ...rest } = options;
  const through =
    (operator: Operator<T>): Operator<Float64Array> =>
    async (v) => {
      const x = flat.toTree(v);
      try {
        const y = await operator(x);
        try {
          return await flat.toVector(y);
        } finally {
          if (y !== x) disposeTree(y);
        }
      } finally {
        disposeTree(x);
      }
    };
  const lowered = async ({ x, r, p, ...scalars }: CgState<T>): Promise<CgState<Float64Array>> => {
    const [hx, hr, hp] = [await flat.toVector(x), await flat.toVector(r), await flat.toVector(p)];
    return { ...scalars, x: hx, r: hr, p: hp };
  };
  const lifted = async ({ x, r, p, ...scalars }: CgState<Float64Array>): Promise<void> => {
    const trees = { x: flat.toTree(x), r: flat.toTree(r), p: flat.toTree(p) };
    try {
      await onState?.({ ...scalars, ...trees });
    } finally {
      disposeTree(trees);
    }
  };
  const space = flat.device.kind === 'webgpu' ? float32Space : float64Space;
  const found = await cg(space, through(apply), await flat.toVector(b), {
    ...rest,
    preconditioner: preconditioner && through(preconditioner),
    x0: x0 === undefined ? undefined : await flat.toVector(x0),
    onState: onState && lifted,
    resume: resume && (await lowered(resume)),
  });
  const { x, negativeCurvature } = found;
  return {
    ...found,
    x: flat.toTree(x),
    negativeCurvature: negativeCurvature && {
      ...negativeCurvature,
      direction: flat.toTree(negativeCurvature.direction),
    },
  };
}
