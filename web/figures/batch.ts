// Figure of chapter 1: a batch in the plane, its matrix, and the pulls and pushes on one pair.

import { button, choice, controls, slider } from '../app/controls.ts';
import { h, show, shown } from '../app/dom.ts';
import { defineFigure } from '../app/figure.ts';
import { ask, Status } from '../app/status.ts';
import type { ValuesOf } from '../app/params.ts';
import { EMOJI } from '../data/emoji.gen.ts';
import type { BatchFound } from '../maths/batch.ts';
import { matrixTable } from './matrix.ts';
import { plane } from './batch-plane.ts';

/** The pairs of the batch, by their names. */
export const BATCH_PAIRS = ['carrot', 'tomato', 'cherries', 'cat face', 'fox', 'rocket'].map((name) =>
  EMOJI.findIndex(({ caption }) => caption === name),
);

/** Half the side of the plane. */
export const REACH = 2;
/** How far a step of training moves a point for a unit of force, at τ = 1 and above: forces change with 1/τ². */
const RATE = 0.08;

const coordinates = (...xy: readonly number[]) =>
  ({ kind: 'list', least: -REACH, most: REACH, size: 2 * BATCH_PAIRS.length, default: xy }) as const;

const PARAMS = {
  t: { kind: 'number', least: 0.1, most: 10, default: 1 },
  pair: { kind: 'whole', least: 0, most: BATCH_PAIRS.length - 1, default: 1 },
  show: { kind: 'choice', choices: ['s', 'rows', 'columns'], default: 'rows' },
  texts: coordinates(1.5, 0.5, 1, 1.2, 0.2, 1.75, -1.2, 0.9, -1.6, 0.1, 0.3, -1.4),
  images: coordinates(1.2, 0.1, 0.5, 0.8, 0.9, 1.6, -1.5, 0.6, -1.1, -0.6, -0.2, -1.6),
} as const;

type Values = ValuesOf<typeof PARAMS>;

const KINDS = { s: 'similarity S', rows: 'softmax of rows', columns: 'softmax of columns' };

/** The matrix that is shown. */
const matrixOf = ({ show: kind }: Values, found: BatchFound): readonly number[] =>
  ({ s: found.similarities, rows: found.rows, columns: found.columns })[kind];

/** Points after a step against the gradient. */
const stepped = (points: readonly number[], forces: readonly number[], t: number): number[] =>
  points.map((x, i) => Math.min(REACH, Math.max(-REACH, x + RATE * Math.min(1, t * t) * forces[i])));

export const batchFigure = defineFigure({
  name: 'batch',
  title: 'A contrastive batch',
  params: PARAMS,
  mount: (el, first, host) => {
    let [values, found]: [Values, BatchFound | null] = [first, null];
    const names = BATCH_PAIRS.map((i) => EMOJI[i]);
    const temperature = slider({
      ...{ label: 'Temperature', symbol: 'τ', least: PARAMS.t.least, most: PARAMS.t.most, log: true },
      onChange: (t, done) => host.change({ t }, done),
    });
    const pairs = choice('Forces on', Object.fromEntries(names.map(({ caption }, i) => [String(i), caption])), (pair) =>
      host.change({ pair: Number(pair) }),
    );
    const kinds = choice('Matrix', KINDS, (kind) => host.change({ show: kind }));
    const step = button('One step of training', () => {
      if (found === null) return;
      const { texts, images } = found.forces;
      const { t } = values;
      host.change({ texts: stepped(values.texts, texts, t), images: stepped(values.images, images, t) });
    });
    const drawing = plane(names, {
      move: (half, pair, points, done) => host.change({ pair, [half]: points }, done),
      choose: (pair) => host.change({ pair }),
    });
    const matrix = matrixTable(names, (pair) => host.change({ pair }));
    const [loss, t2i, i2t] = [shown('loss'), shown('t2i'), shown('i2t')];
    const status = new Status();
    el.append(
      controls(temperature.el, pairs.el, kinds.el, step),
      h('div', { class: 'columns' }, drawing.el, matrix.el),
      h(
        'p',
        { class: 'values' },
        h('span', {}, 'loss of the batch ', loss),
        h('span', {}, 'of this pair: caption → pictures ', t2i),
        h('span', {}, 'picture → captions ', i2t),
      ),
      status.el,
    );
    const draw = (asked: Values, computed: BatchFound): void => {
      // A step starts from what is shown; an answer to earlier points is none to these.
      found = asked === values ? computed : null;
      drawing.forces(asked, computed);
      matrix.set(matrixOf(values, computed), {
        pair: values.pair,
        kind: KINDS[values.show],
        shares: values.show !== 's',
      });
      show(loss, computed.loss);
      show(t2i, computed.losses.t2i[values.pair]);
      show(i2t, computed.losses.i2t[values.pair]);
    };
    const set = (next: Values): void => {
      values = next;
      temperature.set(values.t);
      pairs.set(String(values.pair));
      kinds.set(values.show);
      drawing.points(values);
      const argument = { texts: values.texts, images: values.images, temperature: values.t };
      found = null;
      void ask(host.engine, status, 'batch', 'batch', argument, (computed) => draw(next, computed));
    };
    set(first);
    return { set, dispose: () => el.replaceChildren() };
  },
});
