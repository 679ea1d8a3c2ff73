// Progress on stderr: one line that is rewritten on a terminal, separate lines elsewhere.

/** Tells people how far a command is. */
export interface Progress {
  /** Says something that stays. */
  line(text: string): void;
  /** Replaces the last status on a terminal. */
  status(text: string): void;
}

/** Progress on a stream. */
export function progressOn(stream: { readonly isTTY?: boolean; write(text: string): unknown }): Progress {
  const clear = '\r\x1b[2K';
  let open = false;
  return {
    line: (text) => {
      stream.write(`${open ? clear : ''}${text}\n`);
      open = false;
    },
    status: (text) => {
      if (stream.isTTY !== true) {
        stream.write(`${text}\n`);
        return;
      }
      stream.write(`${clear}${text}`);
      open = true;
    },
  };
}

/** How long something takes as people say it. */
export const lasting = (seconds: number): string =>
  seconds < 100 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`;

/**
 * Says how many of something are done, and how long the rest will take.
 * @param first how many were done before
 */
export function countdown(progress: Progress, what: string, first = 0): (done: number, of: number) => void {
  const began = performance.now();
  return (done, of) => {
    const left = ((performance.now() - began) / 1000 / (done - first)) * (of - done);
    progress.status(`${what} ${done} of ${of}  ${Math.ceil(left)} s left`);
  };
}
