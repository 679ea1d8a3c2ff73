// A journal of blocks of rows: whatever moment a run is killed at, the blocks that were complete are there again.

import { createHash } from 'node:crypto';
import { type FileHandle, open, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { EcifError } from '../array/errors.ts';
import { makeFolder, writeWhole, writingFailed } from '../array/whole-file.node.ts';
import { readJson } from './score-files.node.ts';
import { checkColumns, checkedRow, type Column, type Row } from './score-table.ts';
import { jsonLines, jsonParser } from './score-text.ts';

/** Blocks that are complete, and the next one to come. */
export interface Journal {
  /** Complete blocks, which are blocks 0 … completed − 1. */
  readonly completed: number;
  /**
   * Adds the block that follows; it is on the disk when this resolves.
   * @throws EcifError for another block, rows that do not fit the columns, a block of more than 256 MiB, a disk that is
   *   full, and a journal to which another process writes
   */
  append(block: number, rows: readonly Row[]): Promise<void>;
  /** The rows of all complete blocks, one block in memory. */
  rows(): AsyncGenerator<Row>;
  /** Lets go of the files, which stay. */
  close(): Promise<void>;
  /** Removes the journal. */
  discard(): Promise<void>;
}

/** A block in the file: its place, and that of the next one. */
interface Place {
  readonly offset: number;
  readonly length: number;
}

/** Magic, number of the block, bytes of its rows, SHA-256 of these and the rows. */
const HEAD = 12;
const FRAME = HEAD + 32;
const MAGIC = 0x4a464345;
const LARGEST_BLOCK = 2 ** 28;
const FILES = { about: 'journal.json', blocks: 'blocks.bin' } as const;

/** What stands before the rows of a block. */
function frameOf(block: number, payload: Uint8Array): Buffer {
  const frame = Buffer.alloc(FRAME);
  frame.writeUInt32LE(MAGIC, 0);
  frame.writeUInt32LE(block, 4);
  frame.writeUInt32LE(payload.length, 8);
  createHash('sha256').update(frame.subarray(0, HEAD)).update(payload).digest().copy(frame, HEAD);
  return frame;
}

/** Some bytes of a file, fewer where it ends. */
async function readAt(handle: FileHandle, offset: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await handle.read(bytes, done, length - done, offset + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return bytes.subarray(0, done);
}

async function writeAt(handle: FileHandle, bytes: Uint8Array, offset: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    done += (await handle.write(bytes, done, bytes.length - done, offset + done)).bytesWritten;
  }
}

/** The block at a place, or null where none is complete. */
async function blockAt(handle: FileHandle, size: number, offset: number, block: number): Promise<Buffer | null> {
  const frame = await readAt(handle, offset, FRAME);
  if (frame.length < FRAME) return null;
  const length = frame.readUInt32LE(8);
  if (length > LARGEST_BLOCK || length > size - offset - FRAME) return null;
  const payload = await readAt(handle, offset + FRAME, length);
  return frameOf(block, payload).equals(frame) ? payload : null;
}

class FileJournal implements Journal {
  readonly #folder: string;
  readonly #columns: readonly Column[];
  readonly #handle: FileHandle;
  readonly #places: Place[] = [];
  #end = 0;

  constructor(folder: string, columns: readonly Column[], handle: FileHandle) {
    this.#folder = folder;
    this.#columns = columns;
    this.#handle = handle;
  }

  get completed(): number {
    return this.#places.length;
  }

  /** Finds the complete blocks, and cuts off what follows them. */
  async recover(): Promise<void> {
    const { size } = await this.#handle.stat();
    for (;;) {
      const payload = await blockAt(this.#handle, size, this.#end, this.completed);
      if (payload === null) break;
      this.#add(payload.length);
    }
    await this.#handle.truncate(this.#end);
  }

  #add(length: number): void {
    this.#places.push({ offset: this.#end + FRAME, length });
    this.#end += FRAME + length;
  }

  #lines(block: number, rows: readonly Row[]): Buffer {
    const lineOf = jsonLines(this.#columns);
    const lines = rows.map((row, i) =>
      lineOf(checkedRow(this.#columns, row, () => `${this.#folder}: block ${block}, row ${i}`)),
    );
    return Buffer.from(lines.join(''));
  }

  async append(block: number, rows: readonly Row[]): Promise<void> {
    if (block !== this.completed) {
      throw new EcifError(
        `${this.#folder}: block ${block} after ${this.completed} blocks; add block ${this.completed}`,
      );
    }
    const payload = this.#lines(block, rows);
    if (payload.length > LARGEST_BLOCK) {
      throw new EcifError(`${this.#folder}: block ${block} has ${payload.length} bytes; make blocks of fewer rows`);
    }
    if ((await this.#handle.stat()).size !== this.#end) {
      throw new EcifError(`${this.#folder}: another process writes to it; end one of the two`);
    }
    try {
      await writeAt(this.#handle, Buffer.concat([frameOf(block, payload), payload]), this.#end);
      await this.#handle.datasync();
    } catch (error) {
      await this.#handle.truncate(this.#end).catch(() => undefined);
      throw writingFailed(this.#folder, error);
    }
    this.#add(payload.length);
  }

  async *rows(): AsyncGenerator<Row> {
    for (const [block, { offset, length }] of this.#places.entries()) {
      const payload = await readAt(this.#handle, offset, length);
      const parser = jsonParser(`${this.#folder}: block ${block}`, this.#columns);
      yield* parser.push(payload.toString('utf8'));
      yield* parser.end();
    }
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  async discard(): Promise<void> {
    await this.close();
    await rm(join(this.#folder, FILES.about), { force: true });
    await rm(join(this.#folder, FILES.blocks), { force: true });
    await rmdir(this.#folder).catch(() => undefined);
  }
}

/** Refuses a journal that another run wrote; true where there is none. */
async function isNew(folder: string, about: string): Promise<boolean> {
  const found = await readJson(join(folder, FILES.about));
  if (found === null) return true;
  if (JSON.stringify(found) === about) return false;
  throw new EcifError(
    `${folder}: was begun with other settings, data or columns; take these again, remove the folder, or write elsewhere`,
  );
}

/**
 * Opens the journal in a folder, or begins one. A block that was cut off by a kill, and all after it, is dropped.
 * @param signature tells runs apart: a hash of the settings and of all that was read
 * @throws EcifError for a journal with another signature or other columns, and for a folder that cannot be made
 * @example
 * const journal = await openJournal('scores.partial', SCORE_COLUMNS, signature);
 * for (let block = journal.completed; block < blocks; block++) await journal.append(block, rowsOf(block));
 */
export async function openJournal(folder: string, columns: readonly Column[], signature: string): Promise<Journal> {
  checkColumns(folder, columns);
  const about = JSON.stringify({ version: 1, signature, columns });
  const blocks = join(folder, FILES.blocks);
  try {
    makeFolder(folder);
    const begin = await isNew(folder, about);
    const handle = await open(blocks, begin ? 'w+' : 'r+');
    const journal = new FileJournal(folder, columns, handle);
    if (begin) await writeWhole(join(folder, FILES.about), about);
    else await journal.recover();
    return journal;
  } catch (error) {
    throw writingFailed(folder, error);
  }
}
