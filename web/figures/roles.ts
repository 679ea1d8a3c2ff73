// Figure of chapter 2: one pair of a batch in its two roles, and what is left of the loss as it fades out of each.

import { button, choice, controls, slider, toggle } from '../app/controls.ts';
import { formatted, h, show, shown } from '../app/dom.ts';
import { defineFigure, type Host } from '../app/figure.ts';
import type { ValuesOf } from '../app/params.ts';
import { ask, Status } from '../app/status.ts';
import { formatNumber } from '../../src/report/numbers.ts';
import { EMOJI } from '../data/emoji.gen.ts';
import type { RolesAsked, RolesFound } from '../maths/roles.ts';
import { BATCH_PAIRS, batchFigure } from './batch.ts';
import { rolesCurves } from './roles-curves.ts';
import { rolesMatrix } from './roles-matrix.ts';
import { lengthOf, rolesPlane } from './roles-plane.ts';

const PARAMS = {
  pair: { kind: 'whole', least: 0, most: BATCH_PAIRS.length - 1, default: 1 },
  t: { kind: 'number', least: 0.2, most: 5, default: 1 },
  zeta: { kind: 'number', least: 0, most: 1, default: 1 },
  eps: { kind: 'number', least: -1, most: 0, default: 0 },
  form: { kind: 'choice', choices: ['exact', 'corrected', 'published'], default: 'exact' },
  log: { kind: 'flag', default: false },
} as const;

type Values = ValuesOf<typeof PARAMS>;

const FORMS = {
  exact: 'what it does at this ζ',
  corrected: 'Σ P, corrected',
  published: 'Σ 1/P, as published',
};

const NAMES = BATCH_PAIRS.map((i) => EMOJI[i]);

/** The batch of chapter 1, as it is there at first. */
const BATCH = { texts: batchFigure.params.texts.default, images: batchFigure.params.images.default };

const askedFor = ({ pair, t, zeta, eps, form }: Values): RolesAsked => ({
  ...BATCH,
  ...{ temperature: t, pair, zeta, epsilon: eps, form },
});

/** The numbers of a pair, each with its name. */
function numbers() {
  const rows = {
    pos: 'Pos, the pair’s own two terms',
    'neg-exact': 'Neg exact, Σ −log(1 − P)',
    'neg-corrected': 'Neg corrected, Σ P',
    'neg-published': 'Neg published, Σ 1/P',
    'grad-pos': 'length of the Pos arrows, (1 + ε)‖∇Pos‖',
    'grad-neg': 'length of the Neg arrows, ‖∇Neg‖',
  };
  const outputs = Object.fromEntries(Object.keys(rows).map((name) => [name, shown(name)]));
  const lines = Object.entries(rows).map(([name, text]) =>
    h('tr', {}, h('th', { scope: 'row' }, text), h('td', {}, outputs[name])),
  );
  return {
    el: h('table', { class: 'small' }, h('tbody', {}, ...lines)),
    set: ({ pos, neg, positive, negative }: RolesFound): void => {
      const values = [pos, neg.exact, neg.corrected, neg.published, lengthOf(positive), lengthOf(negative)];
      Object.values(outputs).forEach((el, i) => show(el, values[i]));
    },
  };
}

/** The loss as a bar: the part of the other anchors, what is left of the pair's own, and where removal ends. */
function lossBar() {
  const kept = h('div', { class: 'kept' }, 'the other anchors');
  const own = h('div', { class: 'own' }, 'its own');
  const mark = h('div', { class: 'mark' });
  const [loss, full, removed] = [shown('loss'), shown('full'), shown('removed')];
  const values = h(
    'p',
    { class: 'values' },
    h('span', {}, 'loss at these ζ and ε ', loss),
    h('span', {}, 'of the whole batch ', full),
    h('span', {}, '▾ of the batch without the pair ', removed),
  );
  return {
    el: h('div', {}, values, h('div', { class: 'roles-bar', 'aria-hidden': 'true' }, kept, own, mark)),
    set: (found: RolesFound): void => {
      const share = (x: number): string => `${Math.max(0, (100 * x) / found.full).toFixed(2)}%`;
      kept.style.width = share(found.kept);
      own.style.width = share(found.loss - found.kept);
      mark.style.left = share(found.removed);
      show(loss, found.loss);
      show(full, found.full);
      show(removed, found.removed);
    },
  };
}

/** The pair, the temperature and the two dials, with the states at either end of them. */
function settings(host: Host<typeof PARAMS>, choose: (pair: number) => void) {
  const captions = NAMES.map(({ caption }, i) => [String(i), caption]);
  const pairs = choice('Pair', Object.fromEntries(captions) as Record<string, string>, (pair) => choose(Number(pair)));
  const temperature = slider({
    ...{ label: 'Temperature', symbol: 'τ', least: PARAMS.t.least, most: PARAMS.t.most, log: true },
    onChange: (t, done) => host.change({ t }, done),
  });
  const fade = (label: string, symbol: string, key: 'zeta' | 'eps') =>
    slider({
      ...{ label, symbol, least: PARAMS[key].least, most: PARAMS[key].most },
      format: (x) => formatted(Math.round(100 * x) / 100, 2),
      onChange: (x, done) => host.change({ [key]: x }, done),
    });
  const [zeta, epsilon] = [fade('Weight as negative', 'ζ', 'zeta'), fade('Fade as positive', 'ε', 'eps')];
  const whole = button('Whole batch', () => host.change({ zeta: 1, eps: 0 }));
  const removed = button('Pair removed', () => host.change({ zeta: 0, eps: -1 }));
  return {
    el: controls(pairs.el, temperature.el, zeta.el, epsilon.el, whole, removed),
    set: (values: Values): void => {
      pairs.set(String(values.pair));
      temperature.set(values.t);
      zeta.set(values.zeta);
      epsilon.set(values.eps);
    },
  };
}

/** What the frames of the matrices mean. */
const frames = (): HTMLElement =>
  h(
    'p',
    { class: 'roles-key' },
    h('span', { class: 'roles-pos' }, 'Pos: the pair is asked about'),
    h('span', { class: 'roles-neg' }, 'Neg: the pair is a wrong answer'),
  );

/** What is to be said of arrows that are drawn too short. */
const arrowNote = (reduced: number): string =>
  reduced > 1
    ? `The Neg arrows are drawn ${formatNumber(reduced)} times too short, to fit. Since 1/P falls where P rises, they draw together what a negative drives apart.`
    : '';

export const rolesFigure = defineFigure({
  name: 'roles',
  title: 'One pair, two roles',
  params: PARAMS,
  mount: (el, first, host) => {
    const choose = (pair: number): void => host.change({ pair });
    const inputs = settings(host, choose);
    const forms = choice('Neg arrows', FORMS, (form) => host.change({ form }));
    const log = toggle('logarithmic axis, for the loss that goes away', (on) => host.change({ log: on }));
    const plane = rolesPlane(NAMES, choose);
    const [rows, columns] = [rolesMatrix('rows', NAMES, choose), rolesMatrix('columns', NAMES, choose)];
    const [curves, bar, table] = [rolesCurves(), lossBar(), numbers()];
    const note = h('p', { class: 'roles-note' });
    const status = new Status();
    const beside = (...parts: readonly HTMLElement[]): HTMLElement =>
      h('div', { class: 'columns roles-columns' }, ...parts);
    el.append(
      inputs.el,
      beside(h('div', {}, plane.el, forms.el, note, table.el), h('div', {}, frames(), rows.el, columns.el)),
      bar.el,
      beside(curves.picture, h('div', {}, log.el, curves.words)),
      status.el,
    );
    const draw = (values: Values, found: RolesFound): void => {
      note.textContent = arrowNote(plane.arrows(askedFor(values), found));
      rows.set(found.rows, { pair: values.pair, epsilon: values.eps });
      columns.set(found.columns, { pair: values.pair, epsilon: values.eps });
      bar.set(found);
      table.set(found);
      curves.set(found, values.zeta, values.log);
    };
    const set = (values: Values): void => {
      inputs.set(values);
      forms.set(values.form);
      log.set(values.log);
      plane.points(askedFor(values));
      void ask(host.engine, status, 'roles', 'roles', askedFor(values), (found) => draw(values, found));
    };
    set(first);
    return { set, dispose: () => el.replaceChildren() };
  },
});
