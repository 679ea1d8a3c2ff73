// Locks: a file that one process at a time holds; what a killed process of this machine left is taken over.

import { closeSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { unwritable } from '../../array/messages.ts';
import { HOST, isRunning, partOf } from '../../array/whole-file.node.ts';

const OWN = `${HOST} ${process.pid}`;
const held = new Set<string>();

/** Makes the file; false where there is one. */
function make(path: string): boolean {
  let file: number;
  try {
    file = openSync(path, 'wx');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw unwritable(path, error);
  }
  try {
    writeSync(file, OWN);
    return true;
  } catch (error) {
    rmSync(path, { force: true });
    throw unwritable(path, error);
  } finally {
    closeSync(file);
  }
}

/** Who holds the lock; null where nobody does. */
function holderOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw unwritable(path, error);
  }
}

/** Whether a holder was killed; of other machines nothing is known. */
function isGone(holder: string, path: string): boolean {
  const [host, pid] = holder.split(' ');
  // A process of the same number may have been this one's predecessor, in a container that was started again.
  return host === HOST && (holder === OWN ? !held.has(path) : !isRunning(Number(pid)));
}

/** Takes away the lock of a process that is gone, unless another process was faster. */
function takeAway(path: string, holder: string): void {
  const aside = partOf(path);
  try {
    renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw unwritable(path, error);
  }
  if (holderOf(aside) === holder) rmSync(aside, { force: true });
  else renameSync(aside, path);
}

/** Waits without letting anything else run. */
const pause = (milliseconds: number): void =>
  void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);

/** Milliseconds between two tries. */
const PAUSE = 10;

/**
 * Takes a lock.
 * @param busy the error where another process, or another part of this one, holds it
 * @param patience milliseconds to wait for it
 * @returns gives it back
 */
export function takeLock(path: string, busy: (holder: string) => Error, patience = 0): () => void {
  for (let left = patience; !make(path);) {
    const holder = holderOf(path);
    if (holder !== null && isGone(holder, path)) takeAway(path, holder);
    else if (holder !== null && left <= 0) throw busy(holder === '' ? 'unknown' : holder);
    else if (holder !== null) {
      pause(PAUSE);
      left -= PAUSE;
    }
  }
  held.add(path);
  return () => {
    held.delete(path);
    rmSync(path, { force: true });
  };
}

/** A lock in a folder, taken where that is there, and given back if it was taken. */
export class FolderLock {
  readonly folder: string;
  readonly #path: string;
  readonly #busy: (path: string, holder: string) => Error;
  #free: (() => void) | null = null;

  constructor(folder: string, name: string, busy: (path: string, holder: string) => Error) {
    [this.folder, this.#path, this.#busy] = [folder, join(folder, name), busy];
  }

  take(): void {
    this.#free ??= takeLock(this.#path, (holder) => this.#busy(this.#path, holder));
  }

  free(): void {
    this.#free?.();
    this.#free = null;
  }
}
