// Waiting for an adapter that computes on the CPU: the event loop sleeps a little at every turn.

/** Waits for a promise of the GPU. */
export type Wait = <T>(promise: Promise<T>) => Promise<T>;

/** Milliseconds of a sleep, and of a wait before the first: short reads are answered as soon as they can be. */
const [NAP, FIRST] = [0.5, 1];

/** Where waiting costs nothing. */
export const wideAwake: Wait = (promise) => promise;

/**
 * Dawn under Node asks for news at every turn of the event loop for as long as a promise is open, and so keeps a core busy that
 * software Vulkan could compute on. This waits with a nap in every turn but the first ones.
 */
export function napping(): Wait {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  let open = 0;
  let turning = false;
  /** When the latest wait began. */
  let since = 0;
  const turn = (): void => {
    turning = open > 0;
    if (!turning) return;
    if (performance.now() - since > FIRST) Atomics.wait(cell, 0, 0, NAP);
    setImmediate(turn);
  };
  return async (promise) => {
    open++;
    since = performance.now();
    if (!turning) setImmediate(turn);
    turning = true;
    try {
      return await promise;
    } finally {
      open--;
    }
  };
}
