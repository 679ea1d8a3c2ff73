// Figure of chapter 6: a picture, what the small CLIP says it is, and the training pairs that made it say so.

import type { DecodedImage } from '../../src/index.ts';
import { button } from '../app/controls.ts';
import { h } from '../app/dom.ts';
import { Outdated } from '../app/engine.ts';
import { defineFigure } from '../app/figure.ts';
import { Status } from '../app/status.ts';
import { type Found, NOTHING, traced } from './trace-compute.ts';
import { FRESH, OWN, PARAMS, SUITS, type TraceValues } from './trace-params.ts';
import { guardWindow, picker } from './trace-picker.ts';
import { traceView } from './trace-view.ts';

/** The status with a bar, and a way to try again. */
function progressStatus(again: () => void) {
  const status = new Status();
  const bar = h('progress', { max: 1, 'aria-label': 'progress', hidden: true });
  const retry = button('Try again', again);
  const show = (share: number | null, failed = false): void => {
    bar.hidden = share === null;
    bar.value = share ?? 0;
    retry.hidden = !failed;
  };
  show(null);
  return {
    els: [bar, status.el, retry],
    busy: (): void => {
      show(null);
      status.busy();
    },
    /** Nothing is computed, and nothing was. */
    idle: (): void => {
      show(null);
      status.idle();
    },
    progress: (text: string, share: number | null): void => {
      show(share);
      status.busy(share === null ? `${text}…` : `${text}: ${Math.round(100 * share)} %`, 0);
    },
    done: (...device: Parameters<Status['done']>): void => {
      show(null);
      status.done(...device);
    },
    failed: (message: string): void => {
      show(null, true);
      status.failed(message);
    },
  };
}

export const traceFigure = defineFigure({
  name: 'trace',
  title: 'Where did this mistake come from?',
  params: PARAMS,
  long: true,
  mount: (el, firstValues, host) => {
    let values: TraceValues = firstValues;
    let own: DecodedImage | null = null;
    let [found, turn]: [Found, number] = [NOTHING, 0];
    const status = progressStatus(() => set(values));
    const pictures = picker({
      emoji: (picture) => host.change({ picture, caption: SUITS, ...FRESH }),
      own: (picture) => {
        [own, found] = [picture, NOTHING];
        if (values.picture === OWN && values.caption === SUITS && values.remove.length === 0) set(values);
        else host.change({ picture: OWN, caption: SUITS, ...FRESH });
      },
    });
    const view = traceView(host, pictures);
    el.append(...view.els, ...status.els);

    /** Computes all that is shown, and draws what is there. */
    const compute = async (mine: number): Promise<void> => {
      const onProgress = (text: string, share: number | null): void => {
        if (mine === turn) status.progress(text, share);
      };
      try {
        for await (const { part, device } of traced(host.engine, values, own, onProgress)) {
          if (mine !== turn) return;
          found = { ...found, ...part };
          view.draw(values, found);
          if (values.remove.length === 0 ? part.sources != null : part.removal != null) status.done(device);
        }
      } catch (error) {
        if (mine === turn && !(error instanceof Outdated))
          status.failed(error instanceof Error ? error.message : String(error));
      }
    };

    const set = (next: TraceValues): void => {
      const same = (...keys: readonly (keyof TraceValues)[]): boolean =>
        keys.every((key) => JSON.stringify(values[key]) === JSON.stringify(next[key]));
      if (!same('swaps', 'picture', 'caption')) found = NOTHING;
      else if (!same('remove', 'retrain')) found = { ...found, removal: null };
      values = next;
      const mine = ++turn;
      view.set(values, own);
      view.draw(values, found);
      const missing = values.picture === OWN && own === null;
      pictures.say(missing ? 'A picture of your own is not part of the address: choose it again.' : '');
      if (!values.on || missing) return status.idle();
      status.busy();
      void compute(mine);
    };
    const unguard = guardWindow();
    set(firstValues);
    return {
      set,
      dispose: () => {
        turn++;
        unguard();
        el.replaceChildren();
      },
    };
  },
});
