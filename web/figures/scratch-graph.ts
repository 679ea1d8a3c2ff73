// The graph of chapter 7: ops as nodes that can be chosen by mouse and by keyboard.

import { h, s, update } from '../app/dom.ts';
import { uniqueId } from '../app/controls.ts';
import type { Graph, GraphNode, Pass } from '../maths/scratch-graph.ts';
import { type Layout, layoutOf, NODE_HEIGHT } from './scratch-layout.ts';

/** Nodes beyond which a graph is not drawn. */
const MOST = 250;

/** Passes in words. */
export const PASSES: Readonly<Record<Pass, string>> = {
  input: 'input',
  forward: 'forward pass',
  backward: 'backward pass',
  tangent: 'derivative along v',
};

/** What a node is called. */
export const nodeName = ({ op, name, values }: GraphNode): string =>
  op ?? name ?? (values.every((x) => x === values[0]) ? String(values[0]) : 'constant');

const shapeText = (shape: readonly number[]): string => (shape.length === 0 ? 'number' : shape.join('×'));

/** A node that an arrow key leads to. */
function neighbour(key: string, at: number, nodes: readonly GraphNode[], { places }: Layout): number | undefined {
  if (key === 'ArrowUp') return nodes[at].inputs[0];
  if (key === 'ArrowDown') return nodes.findIndex(({ inputs }) => inputs.includes(at));
  if (key !== 'ArrowLeft' && key !== 'ArrowRight') return undefined;
  const row = places
    .map(({ x, layer }, i) => ({ x, layer, i }))
    .filter(({ layer }) => layer === places[at].layer)
    .sort((a, b) => a.x - b.x);
  return row[row.findIndex(({ i }) => i === at) + (key === 'ArrowLeft' ? -1 : 1)]?.i;
}

/** The second line of a node. */
const below = ({ result, shape }: GraphNode): string => `${result === null ? '' : `${result} `}${shapeText(shape)}`;

const widthOf = (node: GraphNode): number =>
  Math.max(58, 8.4 * nodeName(node).length + 20, 6.8 * below(node).length + 18);

/** A node in words, of which those that are seen come first. */
function describe(node: GraphNode, nodes: readonly GraphNode[]): string {
  const from = node.inputs.length === 0 ? '' : `, from ${node.inputs.map((i) => nodeName(nodes[i])).join(' and ')}`;
  return `${nodeName(node)} ${below(node)}${from}, ${PASSES[node.pass]}`;
}

/** What the boxes mean; those of passes that a graph has none of are hidden. */
const legendItems = (): HTMLElement[] =>
  Object.entries(PASSES).map(([pass, words]) =>
    h(
      'li',
      { 'data-pass': pass },
      s(
        'svg',
        { class: 'swatch', viewBox: '0 0 36 16', width: 36, height: 16, 'aria-hidden': 'true' },
        s('rect', { class: `scratch-box ${pass}`, x: 2, y: 2, width: 32, height: 12, rx: pass === 'input' ? 6 : 3 }),
      ),
      words,
    ),
  );

/** A graph that tells which node is chosen. */
export function graphView(choose: (node: number) => void) {
  const arrowId = uniqueId('scratch-arrow');
  const svg = s('svg', {
    class: 'scratch-graph',
    role: 'group',
    'aria-label': 'Ops that run; choose one with the arrow keys',
  });
  const legend = h('ul', { class: 'legend scratch-legend' }, ...legendItems());
  const note = h('p', { class: 'scratch-note' });
  const scroll = h('div', { class: 'scroll' }, svg);
  let [nodes, layout, handles, key]: [readonly GraphNode[], Layout, SVGGElement[], string] = [[], layoutOf([]), [], ''];

  const handle = (node: GraphNode, i: number): SVGGElement => {
    const [{ x, y }, width] = [layout.places[i], widthOf(node)];
    const g = s(
      'g',
      {
        class: `scratch-node ${node.pass}${node.result === null ? '' : ' result'}`,
        role: 'button',
        transform: `translate(${x} ${y})`,
      },
      s('rect', {
        ...{ class: `scratch-box ${node.pass}`, x: -width / 2, y: -NODE_HEIGHT / 2, width, height: NODE_HEIGHT },
        rx: node.pass === 'input' ? NODE_HEIGHT / 2 : 6,
      }),
      s('text', { 'text-anchor': 'middle', y: -2 }, nodeName(node)),
      s('text', { 'text-anchor': 'middle', y: 14, class: 'shape' }, ` ${below(node)}`),
    );
    g.addEventListener('click', () => choose(i));
    g.addEventListener('keydown', (event) => {
      const to = event.key === 'Enter' || event.key === ' ' ? i : neighbour(event.key, i, nodes, layout);
      if (to === undefined || to < 0) return;
      event.preventDefault();
      choose(to);
      handles[to].focus();
    });
    return g;
  };

  const redraw = (): void => {
    layout = layoutOf(nodes.map((node) => ({ inputs: node.inputs, width: widthOf(node) })));
    handles = nodes.map(handle);
    const arrow = s(
      'marker',
      { id: arrowId, viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto' },
      s('path', { d: 'M0 0L8 4L0 8z' }),
    );
    const edges = layout.edges.map(({ to, path }) =>
      s('path', { class: `scratch-edge ${nodes[to].pass}`, d: path, 'marker-end': `url(#${arrowId})` }),
    );
    update(svg, {
      viewBox: `0 0 ${layout.width} ${layout.height}`,
      style: `max-width:${layout.width}px;min-width:${Math.round(0.75 * layout.width)}px`,
    });
    svg.replaceChildren(s('defs', {}, arrow), s('g', { 'aria-hidden': 'true' }, ...edges), ...handles);
  };

  return {
    el: h('div', {}, scroll, legend, note),
    /** Draws a graph; what is the same stays, with the focus. */
    set: (graph: Graph): void => {
      const drawn = graph.nodes.length > MOST ? [] : graph.nodes;
      const now = JSON.stringify(drawn.map(({ op, name, inputs, shape, pass }) => [op, name, inputs, shape, pass]));
      nodes = drawn;
      if (now !== key) redraw();
      key = now;
      handles.forEach((g, i) => update(g, { 'aria-label': describe(nodes[i], nodes) }));
      const ops = graph.nodes.filter(({ op }) => op !== null).length;
      note.textContent =
        graph.nodes.length > MOST
          ? `${ops} ops: too many to draw.`
          : `${ops} ops${graph.ran > ops ? `; ${graph.ran - ops} more ran that this does not depend on` : ''}.`;
      legend.querySelectorAll('li').forEach((item) => {
        item.hidden = !nodes.some(({ pass }) => pass === item.dataset.pass);
      });
    },
    /** Marks a node. */
    mark: (chosen: number): void =>
      handles.forEach((g, i) => update(g, { 'aria-pressed': String(i === chosen), tabindex: i === chosen ? 0 : -1 })),
  };
}
