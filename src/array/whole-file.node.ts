// Files that are written whole or not at all, by any number of processes at once, and the folders for them.

import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { unwritable } from './messages.ts';

/** What became of writing a file: a complaint of the system names the file, any other error stays as it is. */
export const writingFailed = (path: string, error: unknown): unknown =>
  (error as Partial<NodeJS.ErrnoException> | null)?.syscall === undefined ? error : unwritable(path, error);

/** Name of this machine, as it may stand in the name of a file. */
export const HOST = hostname().replace(/[^\w-]/g, '_');
const PART = /\.([\w-]+)\.(\d+)-\d+\.part$/;
const cleaned = new Set<string>();
let made = 0;

/** Whether a process of this machine is there. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Removes what killed processes of this machine left in a folder. */
function clean(folder: string): void {
  cleaned.add(folder);
  for (const name of readdirSync(folder)) {
    const [, host, pid] = PART.exec(name) ?? [];
    if (host === HOST && !isRunning(Number(pid))) rmSync(join(folder, name), { force: true, recursive: true });
  }
}

/**
 * Where a file or folder stands until it is whole: a name that no other writer takes.
 * @param again look again for what killed processes left, which is done once for each folder
 */
export function partOf(path: string, again = false): string {
  if (again || !cleaned.has(dirname(path))) clean(dirname(path));
  return join(dirname(path), `${basename(path)}.${HOST}.${process.pid}-${++made}.part`);
}

/**
 * Makes sure that a file can be written, by an empty one beside it that is removed at once.
 * @throws EcifError where it cannot
 */
export function tryWriting(path: string): void {
  let part: string | null = null;
  try {
    part = partOf(path);
    writeFileSync(part, '');
  } catch (error) {
    throw unwritable(path, error);
  } finally {
    if (part !== null) rmSync(part, { force: true });
  }
}

/** Makes a folder, unless another process was faster. */
export function makeUnlessThere(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/**
 * Makes a folder, and those above it that are missing. Node's own recursive form never ends where a file system refuses
 * new names as if their folder were not there, as /proc does.
 * @throws EcifError for a folder that cannot be made
 */
export function makeFolder(path: string): void {
  const missing: string[] = [];
  for (let at = resolve(path); !existsSync(at); at = dirname(at)) missing.unshift(at);
  try {
    for (const folder of missing) makeUnlessThere(folder);
    if (!statSync(path).isDirectory()) throw new Error('it is no folder');
  } catch (error) {
    throw unwritable(path, error);
  }
}

/**
 * Writes a file piece by piece, whole or not at all.
 * @throws EcifError for a file that cannot be written
 */
export async function writePieces(path: string, write: (file: FileHandle) => Promise<void>): Promise<void> {
  let part: string | null = null;
  try {
    part = partOf(path);
    const file = await open(part, 'w');
    try {
      await write(file);
    } finally {
      await file.close();
    }
    await rename(part, path);
  } catch (error) {
    if (part !== null) await rm(part, { force: true });
    throw writingFailed(path, error);
  }
}

/**
 * Writes bytes or text, whole or not at all.
 * @throws EcifError for a file that cannot be written
 */
export const writeWhole = (path: string, content: Uint8Array | string): Promise<void> =>
  writePieces(path, (file) => file.writeFile(content));

/**
 * Writes files of bytes or text, all of them whole or none at all, and waits for it.
 * @throws EcifError for a file that cannot be written
 */
export function writeTogetherSync(files: readonly (readonly [path: string, content: Uint8Array | string])[]): void {
  const parts: string[] = [];
  let at = '';
  try {
    for (const [path, content] of files) {
      at = path;
      parts.push(partOf(path));
      writeFileSync(parts[parts.length - 1], content);
    }
    files.forEach(([path], i) => renameSync(parts[i], (at = path)));
  } catch (error) {
    for (const part of parts) rmSync(part, { force: true });
    throw writingFailed(at, error);
  }
}

/**
 * Writes bytes or text, whole or not at all, and waits for it.
 * @throws EcifError for a file that cannot be written
 */
export const writeWholeSync = (path: string, content: Uint8Array | string): void =>
  writeTogetherSync([[path, content]]);
