// Which changes make a step of the history: one for each move of a slider or a point, and one for a row of arrow keys.

/** Milliseconds within which arrow keys belong together. */
const ROW = 1000;

let arrowed = -Infinity;
addEventListener(
  'keydown',
  ({ key }) => {
    arrowed = key.startsWith('Arrow') ? performance.now() : -Infinity;
  },
  { capture: true },
);

/** Steps of one figure. */
export class Steps {
  /** A control is being moved: the first change made a step, the others belong to it. */
  #moving = false;
  #last: { readonly names: string; readonly at: number } | null = null;

  constructor() {
    // A slider tells its last value after the pointer is up; where it tells none, the move is over all the same.
    const end = (): void => void setTimeout(() => (this.#moving = false));
    for (const kind of ['pointerup', 'pointercancel', 'blur'] as const) addEventListener(kind, end);
  }

  /** How the address follows a change of some parameters. */
  follow(changed: readonly string[], done: boolean): 'push' | 'replace' {
    const [names, now] = [changed.join(), performance.now()];
    const keyed = now - arrowed < 50;
    const row = keyed && this.#last?.names === names && now - this.#last.at < ROW;
    const follow = this.#moving || row ? 'replace' : 'push';
    this.#moving = !done;
    this.#last = keyed ? { names, at: now } : null;
    return follow;
  }
}
