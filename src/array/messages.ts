// Messages that are said in every room: texts safe to print, and files that cannot be read or written.

import { EcifError } from './errors.ts';

/** What would break a line of a message, move a terminal's cursor or turn the direction of what follows. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** A text in one line, safe for a terminal: control characters become a replacement mark. */
export const oneLine = (text: string): string => text.replace(CONTROL, '\ufffd');

/** A value as JSON that is safe for a terminal: control characters that JSON leaves as they are become escapes. */
export const safeJson = (value: unknown, indent?: number): string =>
  (JSON.stringify(value, null, indent) ?? 'null').replace(CONTROL, (mark) =>
    mark === '\n' ? mark : `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Says that a file cannot be read, and why. */
export const unreadable = (path: string, error: unknown): EcifError =>
  new EcifError(`${path}: cannot be read, ${(error as Error).message}; check the path`, { cause: error });

/** Says that a file cannot be written, and why. */
export const unwritable = (path: string, error: unknown): EcifError =>
  new EcifError(`${path}: cannot be written, ${(error as Error).message}; check the path and the disk`, {
    cause: error,
  });
