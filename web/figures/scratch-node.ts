// What stands behind the chosen node of chapter 7: its value, its rules, its kernel calls with their WGSL, its record.

import { formatted, h } from '../app/dom.ts';
import type { GraphNode } from '../maths/scratch-graph.ts';
import type { KernelCall, OpFound } from '../maths/scratch-op.ts';
import { shapeWords } from '../maths/scratch-words.ts';
import { nodeName, PASSES } from './scratch-graph.ts';

/** A matrix as a table. */
function valueTable({ shape, values }: GraphNode, name: string): HTMLElement {
  const columns = shape.at(-1) ?? 1;
  const rows = Array.from({ length: values.length / columns }, (_, i) => values.slice(i * columns, (i + 1) * columns));
  return h(
    'table',
    { class: 'small scratch-values', 'aria-label': `Values of ${name}` },
    h(
      'tbody',
      {},
      ...rows.map((row) => h('tr', {}, ...row.map((x) => h('td', { 'data-value': String(x) }, formatted(x, 3))))),
    ),
  );
}

/** A text in a box that scrolls and can be reached by the keyboard. */
const source = (label: string, text: string): HTMLElement =>
  h('pre', { class: 'scratch-source', tabindex: 0, role: 'region', 'aria-label': label }, h('code', {}, text));

const listed = (values: Readonly<Record<string, number>>): string =>
  Object.entries(values)
    .map(([name, x]) => `${name} = ${x}`)
    .join(', ');

/** A kernel call in words. */
function callWords({ kernel, constants, params, workgroups }: KernelCall): HTMLElement {
  const parts = [
    h('strong', {}, `${kernel}.wgsl`),
    ` on ${workgroups.join('×')} workgroups`,
    ...(Object.keys(constants).length === 0 ? [] : [`, with ${listed(constants)}`]),
    `; ${listed(params)}`,
  ];
  return h('li', {}, ...parts);
}

/** The rules of an op: pairs of what is asked for and the expression that gives it. */
function rules({ kind, value, definition, jvp, vjp, names }: OpFound): HTMLElement {
  const rows: [string, string][] = [['y', value]];
  if (definition !== null) rows.push(['y', definition]);
  if (jvp !== null) rows.push(['dy', jvp]);
  vjp.forEach((rule, i) => {
    if (rule !== null) rows.push([`ct of ${names[i]}`, rule]);
  });
  const words = {
    rules:
      'Tangents dy go forward with the values, cotangents ct go back; both rules are ops again, so they differentiate again.',
    defined: 'One kernel forward; differentiated through this definition in other ops.',
    zero: 'Its derivative is zero wherever it has one.',
    none: 'It has no derivative.',
  }[kind];
  return h(
    'div',
    {},
    h(
      'dl',
      { class: 'scratch-rules' },
      ...rows.flatMap(([name, rule]) => [h('dt', {}, name), h('dd', {}, h('code', {}, rule))]),
    ),
    h('p', { class: 'scratch-note' }, words),
  );
}

/** A name for what the inputs of a node are called in its rules. */
const inputWords = ({ inputs }: GraphNode, nodes: readonly GraphNode[], names: readonly string[]): string =>
  inputs.map((input, i) => `${names[i]} is ${nodeName(nodes[input])} (${shapeWords(nodes[input].shape)})`).join(', ');

/** The panel of the chosen node. */
export function nodePanel() {
  const head = h('h3', {});
  const [value, behind] = [
    h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Value of the chosen node' }),
    h('div', {}),
  ];
  return {
    el: h('div', { class: 'scratch-panel' }, head, value, behind),
    /** Shows a node; what stands behind its op follows. */
    set: (node: GraphNode | null): void => {
      head.textContent = node === null ? 'No op' : `${nodeName(node)}: ${shapeWords(node.shape)}, ${PASSES[node.pass]}`;
      value.replaceChildren(...(node === null ? [] : [valueTable(node, nodeName(node))]));
      if (node === null || node.op === null) behind.replaceChildren();
    },
    /** Shows what stands behind an op. */
    behind: (node: GraphNode, nodes: readonly GraphNode[], found: OpFound): void => {
      const calls =
        found.calls.length === 0
          ? [h('p', { class: 'scratch-note' }, 'No kernel: the same memory under another shape.')]
          : [h('ul', { class: 'scratch-calls' }, ...found.calls.map(callWords))];
      behind.replaceChildren(
        h('h4', {}, 'Value and derivatives'),
        ...(found.names.length === 0
          ? []
          : [h('p', { class: 'scratch-note' }, `Here ${inputWords(node, nodes, found.names)}, and y the value.`)]),
        rules(found),
        h('h4', {}, 'On the GPU'),
        ...calls,
        ...Object.entries(found.sources).map(([name, text]) => source(`WGSL of ${name}`, text)),
        ...(found.record === null
          ? []
          : [
              h('h4', {}, 'On the CPU, and its rules: ', h('code', {}, found.record.file)),
              source(`Record of ${node.op}`, found.record.text),
            ]),
      );
    },
  };
}
