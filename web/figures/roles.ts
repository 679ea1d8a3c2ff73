// Figure of chapter 2: one pair of a batch in its two roles, and what is left of the loss as it fades out of each.

import { button, choice, controls, slider, toggle } from '../app/controls.ts';
import { formatted, h, s, show, shown, update } from '../app/dom.ts';
import { defineFigure } from '../app/figure.ts';
import type { ValuesOf } from '../app/params.ts';
import { ask, Status } from '../app/status.ts';
import { EMOJI } from '../data/emoji.gen.ts';
import type { RolesAsked, RolesFound } from '../maths/roles.ts';
import { BATCH_PAIRS, batchFigure } from './batch.ts';
import { rolesCurves } from './roles-curves.ts';
import { rolesMatrix } from './roles-matrix.ts';
import { lengthOf, rolesPlane } from './roles-plane.ts';

const PARAMS = {
  pair: { kind: 'whole', least: 0, most: BATCH_PAIRS.length - 1, default: 1 },
  t: { kind: 'number', least: 0.2, most: 3, default: 1 },
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
  const [kept, own, mark] = [s('rect', { class: 'kept' }), s('rect', { class: 'own' }), s('path', { class: 'mark' })];
  const attributes = { viewBox: '0 0 600 34', class: 'roles-bar', preserveAspectRatio: 'none', 'aria-hidden': 'true' };
  const [loss, full, removed] = [shown('loss'), shown('full'), shown('removed')];
  const values = h(
    'p',
    { class: 'values' },
    h('span', {}, 'loss at these ζ and ε ', loss),
    h('span', {}, 'of the whole batch ', full),
    h('span', {}, '▾ batch without the pair ', removed),
  );
  return {
    el: h('div', {}, values, s('svg', attributes, kept, own, mark)),
    set: (found: RolesFound): void => {
      const at = (x: number): number => Math.max(0, (600 * x) / found.full);
      update(kept, { x: 0, y: 10, height: 22, width: at(found.kept) });
      update(own, { x: at(found.kept), y: 10, height: 22, width: at(found.loss - found.kept) });
      update(mark, { d: `M${at(found.removed)} 34V8l-6 -8h12l-6 8` });
      show(loss, found.loss);
      show(full, found.full);
      show(removed, found.removed);
    },
  };
}

export const rolesFigure = defineFigure({
  name: 'roles',
  title: 'One pair, two roles',
  params: PARAMS,
  mount: (el, first, host) => {
    const names = BATCH_PAIRS.map((i) => EMOJI[i]);
    const choose = (pair: number): void => host.change({ pair });
    const pairs = choice('Pair', Object.fromEntries(names.map(({ caption }, i) => [String(i), caption])), (pair) =>
      choose(Number(pair)),
    );
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
    const forms = choice('Neg arrows', FORMS, (form) => host.change({ form }));
    const log = toggle('logarithmic axis, for the loss that goes away', (on) => host.change({ log: on }));
    const plane = rolesPlane(names, choose);
    const [rows, columns] = [rolesMatrix('rows', names, choose), rolesMatrix('columns', names, choose)];
    const [curves, bar, table] = [rolesCurves(), lossBar(), numbers()];
    const note = h('p', { class: 'roles-note' });
    const key = h(
      'p',
      { class: 'roles-key' },
      h('span', { class: 'roles-pos' }, 'Pos: the pair is asked about'),
      ' ',
      h('span', { class: 'roles-neg' }, 'Neg: the pair is a wrong answer'),
    );
    const status = new Status();
    el.append(
      controls(
        ...[pairs.el, temperature.el, zeta.el, epsilon.el],
        button('Whole', () => host.change({ zeta: 1, eps: 0 })),
        button('Removed', () => host.change({ zeta: 0, eps: -1 })),
      ),
      h(
        'div',
        { class: 'columns roles-columns' },
        h('div', {}, plane.el, forms.el, note),
        h('div', {}, key, rows.el, columns.el),
      ),
      bar.el,
      h('div', { class: 'columns roles-columns' }, h('div', {}, log.el, curves.el), table.el),
      status.el,
    );
    const draw = (values: Values, found: RolesFound): void => {
      const reduced = plane.arrows({ ...askedFor(values) }, found);
      note.textContent =
        reduced > 1
          ? `The Neg arrows are drawn ${formatted(reduced, 3)} times too short to fit, and they point the wrong way: 1/P falls where P rises.`
          : '';
      rows.set(found.rows, { pair: values.pair, epsilon: values.eps });
      columns.set(found.columns, { pair: values.pair, epsilon: values.eps });
      bar.set(found);
      table.set(found);
      curves.set(found, values.zeta, values.log);
    };
    const set = (values: Values): void => {
      pairs.set(String(values.pair));
      temperature.set(values.t);
      zeta.set(values.zeta);
      epsilon.set(values.eps);
      forms.set(values.form);
      log.set(values.log);
      plane.points(askedFor(values));
      void ask(host.engine, status, 'roles', 'roles', askedFor(values), (found) => draw(values, found));
    };
    set(first);
    return { set, dispose: () => el.replaceChildren() };
  },
});
