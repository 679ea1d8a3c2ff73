// Pairs taken out of a model without training again, by the rungs of the ladder and by the formula as printed, each timed.

import { disposeTree } from '../../src/autodiff/tensor.ts';
import { withDefaults } from '../../src/cli/args.ts';
import type { Progress } from '../../src/cli/progress.ts';
import { REMOVE_OPTIONS, type RemoveSettings } from '../../src/cli/remove/options.ts';
import { rungSolvers } from '../../src/cli/solve/rung-solvers.ts';
import { removeLinear } from '../../src/ecif/removal.ts';
import { removeByRung } from '../../src/ecif/rungs.ts';
import { streamedRemoval } from '../../src/ecif/streamed-removal.ts';
import type { Adapter } from '../../src/models/clip/lora.ts';
import type { Judged, Retrained, Subject } from './subject.ts';

/** Edits in the order of the tables. */
export const EDITS = ['ecif', 'published', 'rescaled', 'newton'] as const;
/** One of {@link EDITS}. */
export type EditName = (typeof EDITS)[number];

/** An edit, what it took and how near to training again it is. */
export interface Edited extends Judged {
  readonly seconds: number;
  /** Curvature that was inverted. */
  readonly curvature: string;
}

/** How the curvature is inverted for edits: what the linearisation leaves out is larger than such a residual. */
const EDITING = { preconditioner: 'none', 'edit-tolerance': 0.1 };

/** The edited parameters, with solvers that are opened and closed for them. */
async function editBy(
  { run: { loss, theta } }: Subject,
  rows: readonly number[],
  name: EditName,
  progress: Progress,
): Promise<{ theta: Adapter; curvature: string }> {
  const settings = withDefaults(EDITING, REMOVE_OPTIONS) as unknown as RemoveSettings;
  const rung = name === 'rescaled' || name === 'newton' ? name : 'corrected';
  const { h, solverAt, used, close } = rungSolvers(loss, theta, { ...settings, rung }, progress);
  try {
    const edited =
      name === 'published'
        ? await removeLinear(streamedRemoval(loss, theta, rows, h as never, solverAt), 'published')
        : (await removeByRung(loss, theta, rows, rung, { h, solverAt })).theta;
    return { theta: edited, curvature: used() };
  } finally {
    close();
  }
}

/** Edits whose kernels are compiled: the first of a kind is made twice in a process, and only the second counts. */
const warm = new Set<EditName>();

/** Removes pairs by some edits, each judged by the model that was trained again. */
export async function editAll(
  subject: Subject,
  rows: readonly number[],
  again: Retrained,
  names: readonly EditName[],
  progress: Progress,
): Promise<Record<string, Edited>> {
  const found: Record<string, Edited> = {};
  for (const name of names) {
    if (!warm.has(name)) disposeTree((await editBy(subject, rows, name, progress)).theta);
    warm.add(name);
    const began = performance.now();
    const { theta, curvature } = await editBy(subject, rows, name, progress);
    const seconds = (performance.now() - began) / 1000;
    found[name] = { ...(await subject.judge(theta, rows, again)), seconds, curvature };
    disposeTree(theta);
  }
  return found;
}
