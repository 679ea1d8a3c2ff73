// Figure of chapter 3: pairs removed without training, by every estimate, against training again in the page.

import { button, choice, controls, slider } from '../app/controls.ts';
import { h, show, shown } from '../app/dom.ts';
import { defineFigure, type Host } from '../app/figure.ts';
import type { ValuesOf } from '../app/params.ts';
import { Status } from '../app/status.ts';
import { EMOJI } from '../data/emoji.gen.ts';
import type { RemovalFound, RemovalProblem } from '../maths/removal.ts';
import { removalPlane, RUNG_NAMES } from './removal-plane.ts';
import { removalRun } from './removal-run.ts';
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
  t: { kind: 'number', least: 0.2, most: 5, default: 1 },
  d: { kind: 'number', least: 0.1, most: 10, default: 1 },
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
  const head = ['estimate θ̃', 'relative error', 'length ‖θ̃ − θ̂‖', 'change of validation loss'];
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

/** Temperature, decay, batches, and the pairs. */
function settings(host: Host<typeof PARAMS>) {
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
  const none = button('Keep all', () => host.change({ remove: [] }));
  return {
    els: [controls(temperature.el, decay.el, batches.el, none), pairs.el],
    set: ({ t, d, batch, remove }: Values): void => {
      temperature.set(t);
      decay.set(d);
      batches.set(batch);
      pairs.set(remove, Number(batch));
    },
  };
}

/** How many pairs were left out and trained without. */
function progressLine() {
  const count = h('p', { class: 'removal-count' });
  const bar = h('progress', { max: PAIRS.length, value: 0, 'aria-label': 'Pairs retrained without' });
  return {
    el: h('div', { class: 'removal-progress' }, bar, count),
    set: (done: number): void => {
      bar.value = done;
      count.dataset.done = String(done === PAIRS.length);
      count.textContent =
        done < PAIRS.length
          ? `retrained without ${done} of ${PAIRS.length} pairs; the others wait on the diagonal`
          : `retrained without each of ${done} pairs`;
    },
  };
}

const scrolled = (label: string, inside: HTMLElement): HTMLElement =>
  h('div', { class: 'scroll', role: 'region', 'aria-label': label, tabindex: 0 }, inside);

export const removalFigure = defineFigure({
  name: 'removal',
  title: 'Remove it without retraining',
  params: PARAMS,
  mount: (el, first, host) => {
    let values: Values = first;
    const status = new Status();
    const [inputs, progress, table] = [settings(host), progressLine(), rungTable()];
    const [plane, scatter] = [removalPlane(), removalScatter(PAIRS.map((i) => EMOJI[i]))];
    const [where, each] = [
      h('h3', {}, 'Where the parameters go'),
      h('h3', {}, 'Each pair alone: predicted and actual'),
    ];
    const left = h('div', {}, where, plane.el, scrolled('Every estimate of the removal', table.el));
    const correlations = scrolled('Correlations of predictions and outcomes', scatter.table);
    const right = h('div', {}, each, scatter.picture, progress.el, correlations);
    el.append(...inputs.els, h('div', { class: 'columns removal-columns' }, left, right), status.el);
    const run = removalRun(host.engine, status, {
      removed: (found) => {
        table.set(found);
        if (found.edits.retrained.error === null) plane.clear('Nothing is removed, nothing moves. Press a pair above.');
        else plane.set(found);
      },
      outcomes: (trained, out) => {
        scatter.set({ trained, out, removed: values.remove });
        progress.set(out.filter((one) => one !== null).length);
      },
    });
    const set = (next: Values): void => {
      values = next;
      inputs.set(values);
      run.set(problemOf(values), values.remove);
    };
    set(first);
    return {
      set,
      dispose: () => {
        run.stop();
        el.replaceChildren();
      },
    };
  },
});
