// Figure of chapter 3: pairs removed without training, by every estimate, against training again in the page.

import { button, choice, controls, slider } from '../app/controls.ts';
import { h, show, shown } from '../app/dom.ts';
import { Outdated } from '../app/engine.ts';
import { defineFigure, type Host } from '../app/figure.ts';
import type { ValuesOf } from '../app/params.ts';
import { ask, Status } from '../app/status.ts';
import { EMOJI } from '../data/emoji.gen.ts';
import type { LeftOut, RemovalFound, RemovalProblem, Trained } from '../maths/removal.ts';
import { removalPlane, RUNG_NAMES } from './removal-plane.ts';
import { removalScatter } from './removal-scatter.ts';

const named = (...captions: readonly string[]): number[] =>
  captions.map((name) => EMOJI.findIndex(({ caption }) => caption === name));

/** The pairs that the model is trained on. */
const PAIRS = named(
  ...['beating heart', 'skull', 'weary face', 'hedgehog', 'tulip', 'cat face', 'fox', 'carrot'],
  ...['croissant', 'cherries', 'tomato', 'rocket', 'bicycle', 'kite', 'bell', 'books'],
);

/** The pairs that it is judged on. */
const VALIDATION = named(
  ...['smiling face', 'broken heart', 'rat', 'maple leaf', 'bread', 'pear'],
  ...['police car', 'hut', 'softball', 'party popper', 'label', 'telescope'],
);

/** Most pairs that are removed at once. */
const MOST = 8;

const PARAMS = {
  t: { kind: 'number', least: 0.2, most: 3, default: 1 },
  d: { kind: 'number', least: 0.05, most: 10, default: 1 },
  batch: { kind: 'choice', choices: ['4', '8', '16'], default: '8' },
  remove: { kind: 'set', most: PAIRS.length - 1, size: MOST, default: [4, 5] },
} as const;

type Values = ValuesOf<typeof PARAMS>;

/** The problem of some values: W has 3 × 3 numbers. */
export const problemOf = ({ t, d, batch }: Pick<Values, 't' | 'd' | 'batch'>): RemovalProblem => ({
  ...{ pairs: PAIRS, validation: VALIDATION, features: 3 },
  ...{ batch: Number(batch), temperature: t, decay: d },
});

/** The pairs as buttons, batch by batch; a pressed one is removed. */
function chooser(change: (remove: readonly number[]) => void) {
  let removed: readonly number[] = [];
  const pressed = (i: number): void =>
    change(removed.includes(i) ? removed.filter((one) => one !== i) : [...removed, i]);
  const buttons = PAIRS.map((at, i) => {
    const { code, caption } = EMOJI[at];
    const picture = h('img', { src: `emoji/${code}.svg`, alt: '', width: 20, height: 20 });
    return h('button', { type: 'button', class: 'removal-pair', onclick: () => pressed(i) }, picture, caption);
  });
  const el = h('div', { class: 'removal-pairs' });
  let shownBatch = 0;
  return {
    el,
    set: (remove: readonly number[], batch: number): void => {
      removed = remove;
      buttons.forEach((one, i) => {
        const off = remove.includes(i);
        one.setAttribute('aria-pressed', String(off));
        one.disabled = !off && remove.length >= MOST;
      });
      if (batch === shownBatch) return;
      shownBatch = batch;
      const groups = Array.from({ length: Math.ceil(PAIRS.length / batch) }, (_, b) =>
        h(
          'div',
          { role: 'group', 'aria-label': `Batch ${b + 1}: press a pair to remove it` },
          h('span', { class: 'removal-batch', 'aria-hidden': 'true' }, `batch ${b + 1}`),
          ...buttons.slice(b * batch, (b + 1) * batch),
        ),
      );
      el.replaceChildren(...groups);
    },
  };
}

/** Short names of the rungs, as the page's numbers have them. */
const KEYS = {
  published: 'published',
  corrected: 'corrected',
  'exact gradient': 'exact',
  Newton: 'newton',
  retrained: 'retrained',
};

/** Every rung with its error, its length and what it does to the validation loss. */
function rungTable() {
  const kinds = ['error', 'length', 'change'] as const;
  const outputs = RUNG_NAMES.map((name) => kinds.map((kind) => shown(`${kind}-${KEYS[name]}`)));
  const rows = RUNG_NAMES.map((name, r) =>
    h('tr', {}, h('th', { scope: 'row' }, name), ...outputs[r].map((el) => h('td', {}, el))),
  );
  const head = ['estimate θ̃', 'relative error', 'length ‖θ̃ − θ̂‖', 'validation loss'];
  return {
    el: h(
      'table',
      { class: 'small' },
      h('thead', {}, h('tr', {}, ...head.map((text) => h('th', { scope: 'col' }, text)))),
      h('tbody', {}, ...rows),
    ),
    set: ({ edits }: RemovalFound): void =>
      RUNG_NAMES.forEach((name, r) => {
        const { error, length, change } = edits[name];
        [error ?? NaN, length, change].forEach((x, k) => show(outputs[r][k], x));
      }),
  };
}

/** What the page knows of a problem: its model, and the pairs that were left out so far. */
interface Known {
  readonly problem: RemovalProblem;
  trained: Trained | null;
  readonly out: (LeftOut | null)[];
}

/** Trains without each pair in turn; `tell` after each, false from it ends the round. */
async function leaveOut(
  engine: Host<typeof PARAMS>['engine'],
  { problem, trained, out }: Known,
  tell: (done: number) => boolean,
): Promise<void> {
  for (const pair of out.keys()) {
    const argument = { problem, theta: trained?.theta ?? [], pair };
    out[pair] = (await engine.call('removal-out', 'leftOut', argument)).value;
    if (!tell(pair + 1)) return;
  }
}

export const removalFigure = defineFigure({
  name: 'removal',
  title: 'Remove it without retraining',
  params: PARAMS,
  mount: (el, first, host) => {
    let [values, known]: [Values, Known | null] = [first, null];
    const names = PAIRS.map((i) => EMOJI[i]);
    const range = (label: string, symbol: string, key: 't' | 'd') =>
      slider({
        ...{ label, symbol, least: PARAMS[key].least, most: PARAMS[key].most, log: true },
        onChange: (x, done) => host.change({ [key]: x }, done),
      });
    const [temperature, decay] = [range('Temperature', 'τ', 't'), range('Weight decay', 'δ', 'd')];
    const batches = choice('Pairs in a batch', { 4: '4', 8: '8', 16: '16' }, (batch) =>
      host.change({ batch: batch as Values['batch'] }),
    );
    const pairs = chooser((remove) => host.change({ remove }));
    const [plane, scatter, table] = [removalPlane(), removalScatter(names), rungTable()];
    const count = h('p', { class: 'removal-count' });
    const progress = h('progress', { max: PAIRS.length, value: 0, 'aria-label': 'Pairs retrained without' });
    const status = new Status();
    const wide = (label: string, inside: HTMLElement): HTMLElement =>
      h('div', { class: 'scroll', role: 'region', 'aria-label': label, tabindex: 0 }, inside);
    el.append(
      controls(
        temperature.el,
        decay.el,
        batches.el,
        button('Keep all', () => host.change({ remove: [] })),
      ),
      pairs.el,
      h(
        'div',
        { class: 'columns removal-columns' },
        h('div', {}, h('h3', {}, 'Where the parameters go'), plane.el, wide('Every estimate of the removal', table.el)),
        h(
          'div',
          {},
          h('h3', {}, 'Each pair alone: predicted and actual'),
          ...[scatter.picture, h('div', { class: 'removal-progress' }, progress, count)],
          wide('Correlations of predictions and outcomes', scatter.table),
        ),
      ),
      status.el,
    );

    const drawScatter = (): void => {
      if (known?.trained == null) return;
      scatter.set({ trained: known.trained, out: known.out, removed: values.remove });
      const done = known.out.filter((one) => one !== null).length;
      progress.value = done;
      count.textContent =
        done < PAIRS.length
          ? `retrained without ${done} of ${PAIRS.length} pairs`
          : `retrained without each of ${done} pairs`;
      count.dataset.done = String(done === PAIRS.length);
    };
    const remove = (of: Known): Promise<void> =>
      ask(
        host.engine,
        status,
        'removal',
        'removal',
        { problem: of.problem, theta: of.trained?.theta ?? [], remove: values.remove },
        (found) => {
          if (of !== known) return;
          table.set(found);
          if (found.edits.retrained.error === null)
            plane.clear('Nothing is removed, nothing moves. Press a pair above.');
          else plane.set(found);
        },
      );
    /** Trains, removes, and leaves out each pair, unless other values come. */
    const begin = async (of: Known): Promise<void> => {
      await ask(host.engine, status, 'removal-train', 'trained', of.problem, (trained) => {
        of.trained = trained;
      });
      if (of !== known || of.trained === null) return;
      drawScatter();
      await remove(of);
      if (of !== known) return;
      try {
        await leaveOut(host.engine, of, () => {
          if (of === known) drawScatter();
          return of === known;
        });
      } catch (error) {
        if (!(error instanceof Outdated)) status.failed(error instanceof Error ? error.message : String(error));
      }
    };
    const set = (next: Values): void => {
      const problem = problemOf(next);
      const same = known !== null && JSON.stringify(known.problem) === JSON.stringify(problem);
      const other = JSON.stringify(values.remove) !== JSON.stringify(next.remove);
      values = next;
      temperature.set(values.t);
      decay.set(values.d);
      batches.set(values.batch);
      pairs.set(values.remove, Number(values.batch));
      if (same && other && known !== null) {
        drawScatter();
        if (known.trained !== null) void remove(known);
        return;
      }
      known = { problem, trained: null, out: PAIRS.map(() => null) };
      void begin(known);
    };
    set(first);
    return {
      set,
      dispose: () => {
        known = null;
        el.replaceChildren();
      },
    };
  },
});
