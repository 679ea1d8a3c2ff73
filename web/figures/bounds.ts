// Figure of chapter 4: the true error of a removal and every bound on it, over the decay and over the number removed.

import { button, choice, controls, slider } from '../app/controls.ts';
import { h } from '../app/dom.ts';
import { defineFigure } from '../app/figure.ts';
import { ask, Status } from '../app/status.ts';
import { EMOJI } from '../data/emoji.gen.ts';
import { BOUNDS_PAIRS, BOUNDS_REMOVED } from '../maths/bounds-problems.ts';
import { boundsCurves } from './bounds-curves.ts';
import { PARAMS, questionsOf, type Values } from './bounds-params.ts';
import { boundsLegend } from './bounds-plot.ts';
import { boundsTable, pointInWords } from './bounds-table.ts';

/** The pairs of the emoji problem, two batches, the removed ones crossed out. */
function pairsList() {
  const items = BOUNDS_PAIRS.map((i) => {
    const { code, caption } = EMOJI[i];
    const word = h('span', { class: 'bounds-gone' });
    const item = h('li', {}, h('img', { src: `emoji/${code}.svg`, alt: caption, width: 28, height: 28 }), word);
    return { item, word };
  });
  const half = items.length / 2;
  const batch = (name: string, from: number): HTMLElement =>
    h(
      'div',
      { class: 'bounds-batch' },
      h('span', {}, name),
      h('ul', { 'aria-label': name }, ...items.slice(from, from + half).map(({ item }) => item)),
    );
  const el = h('div', { class: 'bounds-pairs' }, batch('batch 1', 0), batch('batch 2', half));
  return {
    el,
    set: ({ problem, removed }: Values): void => {
      const gone = new Set(BOUNDS_REMOVED.slice(0, removed));
      items.forEach(({ item, word }, i) => {
        item.classList.toggle('bounds-removed', gone.has(i));
        word.textContent = gone.has(i) ? 'removed' : '';
      });
      el.hidden = problem === 'line';
    },
  };
}

/** The controls. */
function boundsControls(change: (patch: Partial<Values>, done?: boolean) => void) {
  const problem = choice('Problem', { emoji: 'pairs of emoji', line: 'one parameter (erratum 5)' }, (to) =>
    change({ problem: to }),
  );
  const estimator = choice('Edit', { corrected: 'ECIF, corrected', exact: 'exact gradient', newton: 'Newton' }, (to) =>
    change({ estimator: to }),
  );
  const counterexample = button('Show the counterexample', () =>
    change({ problem: 'line', estimator: 'corrected', t: 1, decay: 1e-3 }),
  );
  const made = (key: 'decay' | 'removed' | 'features' | 't', label: string, symbol: string) => {
    const { kind, least, most } = PARAMS[key];
    const steps = kind === 'whole' ? { whole: true } : { log: true, steps: 120 };
    return slider({ label, symbol, least, most, ...steps, onChange: (x, done) => change({ [key]: x }, done) });
  };
  const sliders = {
    decay: made('decay', 'Weight decay', 'δ'),
    removed: made('removed', 'Pairs removed', '|D*|'),
    features: made('features', 'Features a side', 'd'),
    t: made('t', 'Temperature', 'τ'),
  };
  return {
    el: h(
      'div',
      { class: 'bounds-controls' },
      controls(problem.el, estimator.el, counterexample),
      controls(...Object.values(sliders).map(({ el }) => el)),
    ),
    set: (values: Values): void => {
      problem.set(values.problem);
      estimator.set(values.estimator);
      for (const key of ['decay', 'removed', 'features', 't'] as const) sliders[key].set(values[key]);
      for (const key of ['removed', 'features'] as const) sliders[key].el.hidden = values.problem === 'line';
    },
  };
}

export const boundsFigure = defineFigure({
  name: 'bounds',
  title: 'How wrong can it be?',
  params: PARAMS,
  mount: (el, first, host) => {
    let before = '';
    const status = new Status();
    const panel = boundsControls((patch, done) => host.change(patch, done));
    const [pairs, table, curves] = [pairsList(), boundsTable(), boundsCurves(host.engine, status)];
    const words = h('span');
    el.append(
      ...[panel.el, pairs.el, curves.el, boundsLegend()],
      h('p', { class: 'bounds-words' }, words, ' ', curves.along),
      ...[table.el, status.el],
    );
    const set = (values: Values): void => {
      const now = JSON.stringify(values);
      panel.set(values);
      pairs.set(values);
      // The same values again: the device is another.
      const more = curves.set(values, now === before);
      before = now;
      if (more) status.busy();
      // Where pictures follow, it is they who say that all is done.
      const told = more ? new Status() : status;
      void ask(host.engine, told, 'bounds.here', 'bounds', questionsOf(values).here, ([at]) => {
        table.set(at);
        words.textContent = pointInWords(at);
      });
    };
    set(first);
    return {
      set,
      dispose: () => {
        curves.dispose();
        el.replaceChildren();
      },
    };
  },
});
