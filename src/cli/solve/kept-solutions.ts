// Solutions of one question in a folder: a file for each, one for a solve that is under way, and what was refused.

import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { EcifError } from '../../array/errors.ts';
import { makeFolder } from '../../array/whole-file.node.ts';
import type { CgSolverState, SolveRecord, SolverRecord } from '../../ecif/curvature/index.ts';
import type { Adapter } from '../../models/clip/lora.ts';
import { loadTrees, saveTrees } from '../../models/clip/tree-file.node.ts';
import { readText, writeText } from '../files.ts';

/** How a solution was found. */
export interface SolveNote {
  readonly about: SolverRecord;
  /** Of the solve, where the solver iterates. */
  readonly history: readonly SolveRecord[];
  readonly seconds: number;
  /** Relative error of the solution, where the solver says it. */
  readonly accuracy: number | null;
  /** What is doubtful. */
  readonly warning: string | null;
}

/** How the Hessian turned out not to be positive definite. */
export interface Refusal {
  readonly history: readonly SolveRecord[];
  readonly seconds: number;
}

/** What is kept of a question; solves with different curvatures are kept apart. */
export interface KeptSolutions {
  /** The solution with a number, null where it is not there. */
  read(curvature: string, index: number): Promise<{ readonly x: Adapter; readonly note: SolveNote } | null>;
  write(curvature: string, index: number, x: Adapter, note: SolveNote): Promise<void>;
  /** Where the solve with a number was, if it was under way. */
  readState(curvature: string, index: number): Promise<CgSolverState<Adapter> | undefined>;
  writeState(curvature: string, index: number, state: CgSolverState<Adapter>): Promise<void>;
  dropState(curvature: string, index: number): void;
  /** Why the Hessian is not to be taken, null where it may be. */
  refused(): Refusal | null;
  /** Keeps that, and lets go of what was solved with it. */
  refuse(refusal: Refusal): void;
}

/** A note of a file as JSON. */
function noteOf<N>(path: string, notes: Readonly<Record<string, string>>): N {
  try {
    return JSON.parse(notes.note) as N;
  } catch (error) {
    throw new EcifError(`${path}: not of a solve; remove the file`, { cause: error });
  }
}

/**
 * Opens the folder of a question.
 * @param like a tree of the form of all solutions
 */
export function keptSolutions(folder: string, like: Adapter): KeptSolutions {
  makeFolder(folder);
  const { device } = Object.values(like)[0];
  const pathOf = (curvature: string, index: number): string => join(folder, `${curvature}-${index}.safetensors`);
  const stateOf = (curvature: string, index: number): string => join(folder, `${curvature}-${index}.state.safetensors`);
  const refused = join(folder, 'indefinite.json');
  return {
    read: async (curvature, index) => {
      const path = pathOf(curvature, index);
      if (!existsSync(path)) return null;
      const { trees, notes } = await loadTrees(path, like, ['x'], device);
      return { x: trees.x, note: noteOf<SolveNote>(path, notes) };
    },
    write: (curvature, index, x, note) => saveTrees(pathOf(curvature, index), { x }, { note: JSON.stringify(note) }),
    readState: async (curvature, index) => {
      const path = stateOf(curvature, index);
      if (!existsSync(path)) return undefined;
      const { trees, notes } = await loadTrees(path, like, ['x', 'r', 'p'], device);
      const { x, r, p } = trees;
      return { ...noteOf<Omit<CgSolverState<Adapter>, 'x' | 'r' | 'p'>>(path, notes), x, r, p };
    },
    writeState: (curvature, index, { x, r, p, ...rest }) =>
      saveTrees(stateOf(curvature, index), { x, r, p }, { note: JSON.stringify(rest) }),
    dropState: (curvature, index) => rmSync(stateOf(curvature, index), { force: true }),
    refused: () => (existsSync(refused) ? (JSON.parse(readText(refused)) as Refusal) : null),
    refuse: (refusal) => {
      writeText(refused, JSON.stringify(refusal));
      for (const name of readdirSync(folder))
        if (name.startsWith('hessian-')) rmSync(join(folder, name), { force: true });
    },
  };
}
