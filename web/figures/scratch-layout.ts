// Places for the nodes of a graph, layer below layer, and paths for its edges; free of the DOM.

/** A node to be placed: what it is made from (each before it), and how wide it is. */
export interface LayoutNode {
  readonly inputs: readonly number[];
  readonly width: number;
}

/** Where everything is. */
export interface Layout {
  readonly width: number;
  readonly height: number;
  /** Middle and layer of every node. */
  readonly places: readonly { readonly x: number; readonly y: number; readonly layer: number }[];
  readonly edges: readonly { readonly from: number; readonly to: number; readonly path: string }[];
}

export const NODE_HEIGHT = 42;
const [GAP_X, GAP_Y, MARGIN] = [18, 30, 8];
/** Passes that order layers and that move nodes below each other. */
const PASSES = 12;

/** A place in a layer: of a node, or of an edge that passes through. */
interface Slot {
  readonly layer: number;
  readonly width: number;
  readonly above: Slot[];
  readonly below: Slot[];
  x: number;
}

/** Layers from the longest ways to each node; inputs stand just above where they are first used. */
function layersOf(nodes: readonly LayoutNode[]): number[] {
  const layers: number[] = [];
  nodes.forEach(({ inputs }, i) => (layers[i] = inputs.reduce((most, j) => Math.max(most, layers[j] + 1), 0)));
  const first = new Map<number, number>();
  nodes.forEach(({ inputs }, i) => inputs.forEach((j) => first.set(j, Math.min(first.get(j) ?? Infinity, layers[i]))));
  return layers.map((layer, i) => (nodes[i].inputs.length > 0 ? layer : Math.max(0, (first.get(i) ?? 1) - 1)));
}

/** Slots of nodes, and of edges over several layers, which share one way down from their node. */
function slotsOf(nodes: readonly LayoutNode[], layers: readonly number[]) {
  const own = nodes.map(({ width }, i): Slot => ({ layer: layers[i], width, above: [], below: [], x: 0 }));
  const ways = own.map((slot) => [slot]);
  const link = (a: Slot, b: Slot): void => {
    a.below.push(b);
    b.above.push(a);
  };
  const edges = nodes.flatMap(({ inputs }, to) =>
    [...new Set(inputs)].map((from) => {
      const way = ways[from];
      while (layers[from] + way.length < layers[to]) {
        const slot: Slot = { layer: layers[from] + way.length, width: 4, above: [], below: [], x: 0 };
        link(way[way.length - 1], slot);
        way.push(slot);
      }
      const through = way.slice(0, Math.max(1, layers[to] - layers[from]));
      link(through[through.length - 1], own[to]);
      return { from, to, through };
    }),
  );
  return { own, edges, all: ways.flat() };
}

const meanX = (slots: readonly Slot[], otherwise: number): number =>
  slots.length === 0 ? otherwise : slots.reduce((sum, { x }) => sum + x, 0) / slots.length;

/** Puts a layer as near to where it wants to be as its widths allow, keeping its order. */
function settle(layer: readonly Slot[], wanted: readonly number[]): void {
  const apart = (i: number): number => (layer[i - 1].width + layer[i].width) / 2 + GAP_X;
  const right = [...wanted];
  for (let i = 1; i < layer.length; i++) right[i] = Math.max(right[i], right[i - 1] + apart(i));
  const left = [...wanted];
  for (let i = layer.length - 2; i >= 0; i--) left[i] = Math.min(left[i], left[i + 1] - apart(i + 1));
  layer.forEach((slot, i) => (slot.x = (left[i] + right[i]) / 2));
}

/** Orders the slots of each layer by their neighbours, down and up in turn, then moves them below these. */
function arrange(all: readonly Slot[]): void {
  const count = Math.max(...all.map(({ layer }) => layer)) + 1;
  const layers = Array.from({ length: count }, (_, l) => all.filter(({ layer }) => layer === l));
  const side = (pass: number): 'above' | 'below' => (pass % 2 === 0 ? 'above' : 'below');
  const inTurn = (pass: number): Slot[][] => (pass % 2 === 0 ? layers : layers.toReversed());
  layers.forEach((layer) => layer.forEach((slot, i) => (slot.x = i)));
  for (let pass = 0; pass < PASSES; pass++) {
    for (const layer of inTurn(pass)) {
      const wanted = new Map(layer.map((slot) => [slot, meanX(slot[side(pass)], slot.x)]));
      layer.sort((a, b) => (wanted.get(a) as number) - (wanted.get(b) as number));
      layer.forEach((slot, i) => (slot.x = i));
    }
  }
  layers.forEach((layer) =>
    settle(
      layer,
      layer.map((_, i) => i * 60 - (layer.length - 1) * 30),
    ),
  );
  for (let pass = 0; pass < PASSES; pass++) {
    for (const layer of inTurn(pass))
      settle(
        layer,
        layer.map((slot) => meanX([...slot.above, ...slot.below], slot.x)),
      );
  }
}

const round = (x: number): number => Math.round(10 * x) / 10;

/** A path down through slots, to a node. */
function pathOf(through: readonly Slot[], end: Slot, y: (slot: Slot) => number): string {
  const half = NODE_HEIGHT / 2;
  const stops = [...through, end];
  return stops.reduce((path, slot, i) => {
    if (i === 0) return `M${round(slot.x)} ${y(slot) + half}`;
    const before = stops[i - 1];
    const [from, to] = [y(before) + half, y(slot) - half - (slot === end ? 3 : 0)];
    const middle = (from + to) / 2;
    const curve = `C${round(before.x)} ${middle} ${round(slot.x)} ${middle} ${round(slot.x)} ${to}`;
    return `${path}${curve}${slot === end ? '' : `V${y(slot) + half}`}`;
  }, '');
}

/** Places a graph. */
export function layoutOf(nodes: readonly LayoutNode[]): Layout {
  if (nodes.length === 0) return { width: 0, height: 0, places: [], edges: [] };
  const layers = layersOf(nodes);
  const { own, edges, all } = slotsOf(nodes, layers);
  arrange(all);
  const left = Math.min(...all.map(({ x, width }) => x - width / 2)) - MARGIN;
  const right = Math.max(...all.map(({ x, width }) => x + width / 2)) + MARGIN;
  all.forEach((slot) => (slot.x -= left));
  const y = ({ layer }: { layer: number }): number => MARGIN + NODE_HEIGHT / 2 + layer * (NODE_HEIGHT + GAP_Y);
  return {
    width: Math.ceil(right - left),
    height: y({ layer: Math.max(...layers) }) + NODE_HEIGHT / 2 + MARGIN,
    places: own.map((slot) => ({ x: round(slot.x), y: y(slot), layer: slot.layer })),
    edges: edges.map(({ from, to, through }) => ({ from, to, path: pathOf(through, own[to], y) })),
  };
}
