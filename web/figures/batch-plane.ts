// The plane of chapter 1: captions and pictures as points that can be moved, and the forces on them.

import { h, s, update } from '../app/dom.ts';
import type { EmojiPair } from '../data/emoji.gen.ts';
import type { BatchFound } from '../maths/batch.ts';

/** Pixels a side, and units from the middle to the edge. */
const [SIDE, REACH] = [460, 2.3];
/** Length of an arrow for a unit of force, and the shortest and longest that are drawn, in units. */
const [SCALE, SHORTEST, LONGEST] = [0.3, 0.04, 1.6];
/** A step by arrow key, and with the shift key. */
const [STEP, LEAP] = [0.05, 0.25];

const px = (x: number): number => Number((SIDE / 2 + (x / REACH) * (SIDE / 2)).toFixed(1));
const py = (y: number): number => px(-y);

/** The halves of a pair. */
type Half = 'texts' | 'images';

/** Where the points are, and whose forces are shown. */
interface Placed {
  readonly texts: readonly number[];
  readonly images: readonly number[];
  readonly pair: number;
  readonly t: number;
}

/** What the plane tells. */
interface PlaneEvents {
  move(half: Half, pair: number, points: readonly number[], done: boolean): void;
  choose(pair: number): void;
}

/** An arrow from a point along a force. */
function arrow(
  kind: string,
  x: number,
  y: number,
  [fx, fy]: readonly [number, number],
  title: string,
): SVGElement | '' {
  const length = SCALE * Math.hypot(fx, fy);
  if (!(length >= SHORTEST)) return '';
  const shrink = SCALE * Math.min(1, LONGEST / length);
  const [tx, ty] = [x + shrink * fx, y + shrink * fy];
  const angle = Math.atan2(py(ty) - py(y), px(tx) - px(x));
  const head = [2.6, -2.6].map(
    (turn) => `L${px(tx) + 8 * Math.cos(angle + turn)} ${py(ty) + 8 * Math.sin(angle + turn)}`,
  );
  const path = `M${px(x)} ${py(y)}L${px(tx)} ${py(ty)}${head[0]}M${px(tx)} ${py(ty)}${head[1]}`;
  return s('path', { class: `force ${kind}`, d: path }, s('title', {}, title));
}

/** Pull of its own half and pushes of the others on one point: (2·[i = j] − row − column)·other/τ. */
function parts(i: number, half: Half, { texts, images, t }: Placed, { rows, columns }: BatchFound) {
  const [own, others] = half === 'texts' ? [texts, images] : [images, texts];
  const n = own.length / 2;
  return Array.from({ length: n }, (_, j) => {
    const at = half === 'texts' ? i * n + j : j * n + i;
    const weight = ((i === j ? 2 : 0) - rows[at] - columns[at]) / t;
    return { j, force: [weight * others[2 * j], weight * others[2 * j + 1]] as const };
  });
}

/** The plane with its points. */
export function plane(names: readonly EmojiPair[], events: PlaneEvents) {
  const arrows = s('g', { 'aria-hidden': 'true' });
  const lines = names.map(() => s('line', { class: 'bond' }));
  let placed: Placed | null = null;

  /** A point of the plane under the pointer. */
  const locate = (event: PointerEvent): [number, number] => {
    const box = svg.getBoundingClientRect();
    const unit = (share: number): number => Math.min(2, Math.max(-2, (2 * share - 1) * REACH));
    return [unit((event.clientX - box.left) / box.width), -unit((event.clientY - box.top) / box.height)];
  };
  const move = (half: Half, i: number, [x, y]: readonly [number, number], done: boolean): void => {
    if (placed === null) return;
    const points = placed[half].slice();
    [points[2 * i], points[2 * i + 1]] = [x, y];
    events.move(half, i, points, done);
  };

  const handle = (half: Half, i: number): SVGGElement => {
    const { caption, code } = names[i];
    const mark =
      half === 'images'
        ? s('image', { href: `emoji/${code}.svg`, x: -15, y: -15, width: 30, height: 30 })
        : s('text', { 'text-anchor': 'middle', dy: '.35em' }, caption);
    const g = s('g', { class: `point ${half}`, tabindex: 0, role: 'button' }, s('circle', { r: 19 }), mark);
    g.addEventListener('pointerdown', (event) => {
      g.setPointerCapture(event.pointerId);
      event.preventDefault();
      g.focus();
    });
    let dragged = false;
    g.addEventListener('pointermove', (event) => {
      if (!g.hasPointerCapture(event.pointerId)) return;
      dragged = true;
      move(half, i, locate(event), false);
    });
    g.addEventListener('pointerup', (event) => {
      if (dragged) move(half, i, locate(event), true);
      else events.choose(i);
      dragged = false;
    });
    g.addEventListener('pointercancel', () => {
      dragged = false;
    });
    g.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' || event.key === ' ') {
        event.preventDefault();
        events.choose(i);
        return;
      }
      const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
      if (way === undefined || placed === null) return;
      event.preventDefault();
      const far = event.shiftKey ? LEAP : STEP;
      const at = [0, 1].map((d) => Math.min(2, Math.max(-2, (placed as Placed)[half][2 * i + d] + far * way[d])));
      move(half, i, [at[0], at[1]], true);
    });
    return g;
  };
  const handles = { texts: names.map((_, i) => handle('texts', i)), images: names.map((_, i) => handle('images', i)) };
  const svg = s(
    'svg',
    {
      ...{ viewBox: `0 0 ${SIDE} ${SIDE}`, class: 'batch-plane', role: 'group' },
      'aria-label': 'Captions and pictures in the plane; choose one and move it by dragging or by the arrow keys',
    },
    s('path', { class: 'grid', d: `M${SIDE / 2} 0V${SIDE}M0 ${SIDE / 2}H${SIDE}` }),
    ...lines,
    arrows,
    ...handles.images,
    ...handles.texts,
  );

  const legend = h(
    'ul',
    { class: 'legend batch-legend' },
    ...(
      [
        ['pull', 'pull of the other half'],
        ['push', 'push of a negative'],
        ['sum', 'sum: where a step moves it'],
      ] as const
    ).map(([kind, text]) =>
      h(
        'li',
        {},
        s(
          'svg',
          { class: 'swatch', viewBox: '0 0 36 16', width: 36, height: 16, 'aria-hidden': 'true' },
          s('path', { class: `force ${kind}`, d: 'M1 8H34l-7 -4M34 8l-7 4' }),
        ),
        text,
      ),
    ),
  );

  return {
    el: h('div', {}, svg, legend),
    /** Puts the points in their places. */
    points: (next: Placed): void => {
      placed = next;
      for (const half of ['texts', 'images'] as const) {
        handles[half].forEach((g, i) => {
          const [x, y] = [next[half][2 * i], next[half][2 * i + 1]];
          const what = half === 'texts' ? 'caption' : 'picture of';
          update(g, {
            transform: `translate(${px(x)} ${py(y)})`,
            'aria-label': `${what} ${names[i].caption}, at ${x.toFixed(2)}, ${y.toFixed(2)}`,
            'aria-pressed': String(i === next.pair),
          });
        });
      }
      lines.forEach((line, i) => {
        const { texts, images } = next;
        update(line, {
          ...{ x1: px(texts[2 * i]), y1: py(texts[2 * i + 1]), x2: px(images[2 * i]), y2: py(images[2 * i + 1]) },
          class: i === next.pair ? 'bond chosen' : 'bond',
        });
      });
    },
    /** Draws the forces on the chosen pair, and the sums on all points. */
    forces: (now: Placed, found: BatchFound): void => {
      const made = (['texts', 'images'] as const).flatMap((half) =>
        names.flatMap((_, i) => {
          const [x, y] = [now[half][2 * i], now[half][2 * i + 1]];
          const sum = [found.forces[half][2 * i], found.forces[half][2 * i + 1]] as const;
          const own =
            i === now.pair
              ? parts(i, half, now, found).map(({ j, force }) =>
                  arrow(
                    j === i ? 'pull' : 'push',
                    x,
                    y,
                    force,
                    j === i ? 'its own other half pulls' : `${names[j].caption} pushes`,
                  ),
                )
              : [];
          return [...own, arrow(i === now.pair ? 'sum chosen' : 'sum', x, y, sum, 'sum')];
        }),
      );
      arrows.replaceChildren(...made.filter((one) => one !== ''));
    },
  };
}
