// Rows of numbers that are made once and read many times: in memory, or in a file where they are too many.

import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { EcifError } from '../array/errors.ts';
import { unwritable } from '../array/messages.ts';

/** Float64 or float32 numbers. */
type Reals = Float64Array | Float32Array;

/** Rows of equal length. */
export interface RowStore {
  /** `memory`, or the file. */
  readonly place: string;
  /** Writes rows that follow each other. */
  put(first: number, values: Reals): void;
  /** Some rows, one after the other. */
  get(rows: ArrayLike<number>): Reals;
  /** Removes the file. */
  close(): void;
}

/** Settings of {@link openRowStore}. */
export interface RowStoreOptions {
  readonly rows: number;
  /** Numbers of a row. */
  readonly width: number;
  readonly precision: 'float32' | 'float64';
  /** Bytes to hold in memory at most. */
  readonly memory: number;
  /** File for rows that are more; written anew, removed in the end. */
  readonly file: string;
}

function memoryStore(make: (n: number) => Reals, rows: number, width: number): RowStore {
  const all = make(rows * width);
  return {
    place: 'memory',
    put: (first, values) => all.set(values, first * width),
    get: (wanted) => {
      const out = make(wanted.length * width);
      for (let i = 0; i < wanted.length; i++)
        out.set(all.subarray(wanted[i] * width, (wanted[i] + 1) * width), i * width);
      return out;
    },
    close: () => undefined,
  };
}

/** A new file without a name where the system allows that, so that a killed process leaves none behind. */
function opened(file: string): number {
  try {
    const handle = openSync(file, 'w+');
    try {
      rmSync(file);
    } catch {
      // removed when it is closed
    }
    return handle;
  } catch (error) {
    throw unwritable(file, error);
  }
}

function fileStore(make: (n: number) => Reals, width: number, bytes: number, file: string): RowStore {
  const handle = opened(file);
  const length = width * bytes;
  return {
    place: file,
    put: (first, values) => {
      const view = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
      try {
        for (let done = 0; done < view.length;)
          done += writeSync(handle, view, done, view.length - done, first * length + done);
      } catch (error) {
        throw unwritable(file, error);
      }
    },
    get: (wanted) => {
      const out = make(wanted.length * width);
      const view = new Uint8Array(out.buffer);
      for (let i = 0; i < wanted.length; i++) {
        const read = readSync(handle, view, i * length, length, wanted[i] * length);
        if (read !== length)
          throw new EcifError(`${file}: row ${wanted[i]} has ${read} of ${length} bytes; is the disk full?`);
      }
      return out;
    },
    close: () => {
      closeSync(handle);
      rmSync(file, { force: true });
    },
  };
}

/**
 * A store of rows, in memory where they fit.
 * @example const store = openRowStore({ rows: 1000, width: 512, precision: 'float32', memory: 2 ** 30, file: 'rows.tmp' });
 */
export function openRowStore({ rows, width, precision, memory, file }: RowStoreOptions): RowStore {
  const bytes = precision === 'float64' ? 8 : 4;
  const make = (n: number): Reals => (bytes === 8 ? new Float64Array(n) : new Float32Array(n));
  return rows * width * bytes <= memory ? memoryStore(make, rows, width) : fileStore(make, width, bytes, file);
}
