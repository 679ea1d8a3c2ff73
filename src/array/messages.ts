// Messages that are said in every room: texts safe to print, and files that cannot be read or written.

import { EcifError } from './errors.ts';

/** What would break a line of a message or move a terminal's cursor. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;

/** A text in one line, safe for a terminal: control characters become a replacement mark. */
export const oneLine = (text: string): string => text.replace(CONTROL, '\ufffd');

/** Says that a file cannot be read, and why. */
export const unreadable = (path: string, error: unknown): EcifError =>
  new EcifError(`${path}: cannot be read, ${(error as Error).message}; check the path`, { cause: error });

/** Says that a file cannot be written, and why. */
export const unwritable = (path: string, error: unknown): EcifError =>
  new EcifError(`${path}: cannot be written, ${(error as Error).message}; check the path and the disk`, {
    cause: error,
  });
