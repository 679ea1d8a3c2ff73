// Figure of chapter 7: an expression, the graph of its ops, its derivatives and their checks.

import { choice, controls, slider } from '../app/controls.ts';
import { formatted, h, show, shown } from '../app/dom.ts';
import { defineFigure } from '../app/figure.ts';
import type { ValuesOf } from '../app/params.ts';
import { ask, Status } from '../app/status.ts';
import type { ScratchAsked, ScratchFound, ScratchWrong } from '../maths/scratch.ts';
import { VARIABLES } from '../maths/scratch-words.ts';
import { checkList, entryTable, stepPlot, tellable } from './scratch-check.ts';
import { graphView } from './scratch-graph.ts';
import { expressionField } from './scratch-field.ts';
import { nodePanel } from './scratch-node.ts';

const PARAMS = {
  e: { kind: 'text', longest: 200, default: "contrastive(x * W * y' / 0.5)" },
  by: { kind: 'choice', choices: VARIABLES, default: 'W' },
  n: { kind: 'whole', least: 2, most: 6, default: 4 },
  seed: { kind: 'whole', least: 1, most: 40, default: 1 },
  view: { kind: 'choice', choices: ['value', 'gradient', 'product'], default: 'gradient' },
  /** Chosen node, counted from 1; the result of the view where there is none of that number. */
  node: { kind: 'whole', least: 0, most: 400, default: 0 },
  along: { kind: 'choice', choices: ['random', 'gradient', 'entry'], default: 'random' },
  entry: { kind: 'whole', least: 0, most: 17, default: 0 },
  h: { kind: 'number', least: 1e-12, most: 1, default: 1e-5 },
} as const;

type Values = ValuesOf<typeof PARAMS>;

const VIEWS = { value: 'the value', gradient: 'the gradient', product: 'the product H·v' };
const ALONG = { random: 'at random', gradient: 'along the gradient', entry: 'along one entry' };

const NOT_FINITE =
  'f is not a finite number at these values, so it has no derivatives to compare; change the seed or the expression.';

/** What the engine is asked for some values. */
export const scratchAsked = ({ e, by, n, seed, view, along, entry, h: step }: Values): ScratchAsked => ({
  ...{ text: e, rows: n, seed, by, along, entry, step, view },
});

/** The number of the chosen node. */
const chosenIn = ({ graph: { nodes } }: ScratchFound, node: number): number => {
  if (node > 0 && node <= nodes.length) return node - 1;
  return nodes.findLastIndex(({ result }) => result !== null);
};

export const scratchFigure = defineFigure({
  name: 'scratch',
  title: 'From scratch',
  params: PARAMS,
  mount: (el, first, host) => {
    let [values, found]: [Values, ScratchFound | null] = [first, null];
    const status = new Status();
    const field = expressionField((e, done) => host.change({ e, node: 0 }, done));
    const by = choice(
      'Differentiate by',
      Object.fromEntries(VARIABLES.map((name) => [name, name])) as Record<(typeof VARIABLES)[number], string>,
      (name) => host.change({ by: name, node: 0 }),
    );
    const rows = slider({
      label: 'Rows of x and y',
      symbol: 'n',
      least: 2,
      most: 6,
      whole: true,
      onChange: (n, done) => host.change({ n }, done),
    });
    const seed = slider({
      label: 'Seed of the values',
      least: 1,
      most: 40,
      whole: true,
      onChange: (next, done) => host.change({ seed: next }, done),
    });
    const view = choice('Graph of', VIEWS, (next) => host.change({ view: next, node: 0 }));
    const along = choice('Direction v', ALONG, (next) => host.change({ along: next }));
    const step = slider({
      ...{ label: 'Step of the differences', symbol: 'h', least: 1e-12, most: 1, steps: 48, log: true },
      format: (x) => formatted(x, 2),
      onChange: (next, done) => host.change({ h: next }, done),
    });
    const graph = graphView((node) => host.change({ node: node + 1 }));
    const panel = nodePanel();
    const behindStatus = new Status();
    behindStatus.el.className = 'scratch-behind';
    panel.el.append(behindStatus.el);
    const entries = entryTable((entry) => host.change({ along: 'entry', entry }));
    const [steps, checks] = [stepPlot(), checkList()];
    const [value, slope, curvature] = [shown('value'), shown('slope'), shown('curvature')];
    const undefinedHere = h('p', { class: 'scratch-problem', role: 'status' });
    const results = h(
      'div',
      { class: 'scratch-results' },
      h(
        'p',
        { class: 'values' },
        h('span', {}, 'f = ', value),
        h('span', {}, 'slope vᵀ∇f = ', slope),
        h('span', {}, 'curvature vᵀH·v = ', curvature),
      ),
      undefinedHere,
      h('div', { class: 'columns scratch-top' }, h('div', {}, controls(view.el), graph.el), panel.el),
      h('h3', {}, 'Derivatives, and finite differences beside them'),
      controls(along.el, step.el),
      entries.el,
      h('div', { class: 'columns' }, steps.el, h('div', { class: 'scroll' }, checks.el)),
    );
    el.append(field.el, controls(by.el, rows.el, seed.el), results, status.el);

    const drawNode = (): void => {
      if (found === null) return;
      const { nodes } = found.graph;
      const chosen = chosenIn(found, values.node);
      const node = chosen < 0 ? null : nodes[chosen];
      graph.mark(chosen);
      panel.set(node);
      if (node === null || node.op === null) return;
      const argument = {
        op: node.op,
        params: node.params,
        inputs: node.inputs.map((i) => nodes[i].shape),
        shape: node.shape,
      };
      void ask(host.engine, behindStatus, 'scratch-op', 'scratchOp', argument, (behind) =>
        panel.behind(node, nodes, behind),
      );
    };
    /** Tells whether what is drawn is that of the expression. */
    const mark = (stale: boolean): void => {
      results.classList.toggle('scratch-stale', stale);
      results.hidden = stale && found === null;
    };
    const draw = (computed: ScratchFound | ScratchWrong): void => {
      field.tell(computed.kind === 'wrong' ? computed : null);
      if (computed.kind === 'wrong') return mark(true);
      found = tellable(computed);
      mark(false);
      undefinedHere.textContent = Number.isFinite(found.value) ? '' : NOT_FINITE;
      show(value, found.value);
      show(slope, found.slope);
      show(
        curvature,
        found.direction.reduce((sum, v, i) => sum + v * found!.product[i], 0),
      );
      by.set(found.by as Values['by']);
      graph.set(found.graph);
      entries.set(found, values.along === 'entry' ? Math.min(values.entry, found.gradient.length - 1) : null);
      steps.set(found, values.h);
      checks.set(found);
      field.variables(found.variables);
      drawNode();
    };
    const set = (next: Values): void => {
      const only =
        found !== null &&
        next.node !== values.node &&
        JSON.stringify({ ...next, node: 0 }) === JSON.stringify({ ...values, node: 0 });
      values = next;
      if (only) return drawNode();
      field.set(values.e);
      by.set(values.by);
      rows.set(values.n);
      seed.set(values.seed);
      view.set(values.view);
      along.set(values.along);
      step.set(values.h);
      void ask(host.engine, status, 'scratch', 'scratch', scratchAsked(values), draw).then(() => {
        if (status.el.dataset.state !== 'failed') return;
        field.tell(null);
        mark(true);
      });
    };
    set(first);
    return { set, dispose: () => el.replaceChildren() };
  },
});
