// Derivatives beside finite differences in chapter 7: entry by entry, over the step, and by the library's own check.

import { plot } from '../../src/report/plot.ts';
import { button } from '../app/controls.ts';
import { formatted, h, show, shown } from '../app/dom.ts';
import type { ScratchFound } from '../maths/scratch.ts';

/** Largest relative errors that the library's check allows, by the kind of device. */
const TOLERANCE = { cpu: 1e-6, webgpu: 2e-2 } as const;

/** What can be told: where f is no finite number it has no derivatives, whatever the rules of its ops say. */
export function tellable(found: ScratchFound): ScratchFound {
  if (Number.isFinite(found.value)) return found;
  const none = (numbers: readonly number[]): number[] => numbers.map(() => NaN);
  const { gradient, product, differences: all } = found;
  return {
    ...found,
    ...{ gradient: none(gradient), slope: NaN, product: none(product) },
    check: { jvp: NaN, vjp: NaN, hvp: NaN, symmetry: NaN },
    differences: {
      ...{ gradient: none(all.gradient), product: none(all.product) },
      errors: { slope: NaN, gradient: NaN, product: NaN },
      curve: all.curve.map(({ step }) => ({ step, slope: NaN, product: NaN })),
    },
  };
}

const HEADS = ['entry', 'value', '∂f', 'by differences', 'v', 'H·v', 'by differences'];

/** What an entry of a matrix is called. */
const entryName = (by: string, shape: readonly number[], i: number): string =>
  shape.length === 0 ? by : `${by}[${Math.floor(i / shape[1])},${i % shape[1]}]`;

/** A cell with a number that tests can read. */
function cell(name: string, x: number): HTMLElement {
  const td = h('td', { 'data-name': name });
  show(td, x);
  return td;
}

/** One row for every entry of the variable; its name makes the direction point along it. */
export function entryTable(choose: (entry: number) => void) {
  const caption = h('caption');
  const body = h('tbody');
  const table = h(
    'table',
    { class: 'small scratch-entries' },
    caption,
    h('thead', {}, h('tr', {}, ...HEADS.map((text) => h('th', { scope: 'col' }, text)))),
    body,
  );
  return {
    el: h(
      'div',
      { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Derivatives beside finite differences' },
      table,
    ),
    set: ({ variables, by, gradient, direction, product, differences }: ScratchFound, chosen: number | null): void => {
      const { shape, values } = variables.find(({ name }) => name === by) ?? { shape: [3, 2], values: [] };
      caption.textContent = `f by ${by}; choose an entry and v points along it`;
      const rows = gradient.map((g, i) => {
        const name = button(entryName(by, shape, i), () => choose(i));
        name.className = 'plain';
        name.setAttribute('aria-pressed', String(i === chosen));
        return h(
          'tr',
          {},
          h('th', { scope: 'row' }, name),
          ...[cell('entry', values[i] ?? 0), cell('gradient', g), cell('gradientDifference', differences.gradient[i])],
          ...[
            cell('direction', direction[i]),
            cell('product', product[i]),
            cell('productDifference', differences.product[i]),
          ],
        );
      });
      const focused = [...body.querySelectorAll('button')].findIndex((one) => one === document.activeElement);
      body.replaceChildren(...rows);
      if (focused >= 0) body.querySelectorAll('button')[focused]?.focus();
    },
  };
}

/** Errors of differences over their step. */
export function stepPlot() {
  const el = h('div', { class: 'scratch-plot' });
  return {
    el,
    set: ({ differences: { curve, errors } }: ScratchFound, step: number): void => {
      el.innerHTML = plot({
        ...{
          id: 'scratch-steps',
          title: 'Error of finite differences over their step',
          caption: '',
          kind: 'lines',
          diagonal: false,
        },
        x: { label: 'step h', log: true },
        y: { label: 'relative error', log: true },
        series: [
          { name: 'slope along v', points: curve.map(({ step: h, slope }) => [h, slope] as const) },
          { name: 'H·v', points: curve.map(({ step: h, product }) => [h, product] as const) },
          {
            name: `at the chosen h = ${formatted(step, 2)}`,
            points: [
              [step, errors.slope],
              [step, errors.product],
            ],
          },
        ],
      });
    },
  };
}

/** Four errors, each with whether it is small enough. */
export function checkList() {
  const lines = {
    jvp: 'forward mode against differences of f',
    vjp: 'reverse mode against forward mode',
    hvp: 'H·v against differences of ∇f',
    symmetry: 'uᵀ(H·v) against vᵀ(H·u)',
  };
  const rows = Object.entries(lines).map(([kind, words]) => {
    const [error, verdict] = [shown(`check-${kind}`), h('span')];
    return {
      kind: kind as keyof typeof lines,
      error,
      verdict,
      el: h('tr', {}, h('th', { scope: 'row' }, words), h('td', {}, error), h('td', {}, verdict)),
    };
  });
  return {
    el: h(
      'table',
      { class: 'small scratch-checks' },
      h('caption', {}, 'checkGrads of the library, along random directions'),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          ...['', 'relative error', ''].map((text) => (text === '' ? h('td') : h('th', { scope: 'col' }, text))),
        ),
      ),
      h('tbody', {}, ...rows.map(({ el }) => el)),
    ),
    /** No verdict is given where f is no finite number. */
    set: ({ check, device, value }: ScratchFound): void =>
      rows.forEach(({ kind, error, verdict }) => {
        show(error, check[kind], 2);
        if (!Number.isFinite(value)) {
          verdict.textContent = 'no verdict';
          verdict.className = '';
          return;
        }
        const good = check[kind] <= TOLERANCE[device];
        verdict.textContent = good ? '✓ agrees' : '✗ off';
        verdict.className = good ? 'scratch-good' : 'scratch-bad';
      }),
  };
}
