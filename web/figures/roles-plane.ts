// The plane of chapter 2: where the roles of one pair move every point, as positive and as negative.

import { h, s, update } from '../app/dom.ts';
import type { EmojiPair } from '../data/emoji.gen.ts';
import type { Movement, RolesFound } from '../maths/roles.ts';

/** Pixels a side, and units from the middle to the edge. */
const [SIDE, REACH] = [460, 2.05];
/** Length of an arrow for a unit of −τ∇, the shortest one drawn and the longest, in units. */
const [SCALE, SHORTEST, LONGEST] = [0.5, 0.03, 1.4];

const px = (x: number): number => Number((SIDE / 2 + (x / REACH) * (SIDE / 2)).toFixed(1));
const py = (y: number): number => px(-y);

/** The batch, and what is asked of it. */
export interface PlaneAsked {
  readonly texts: readonly number[];
  readonly images: readonly number[];
  readonly pair: number;
  readonly temperature: number;
  readonly form: 'exact' | 'corrected' | 'published';
}

type Vector = readonly [number, number];
const HALVES = ['texts', 'images'] as const;

const at = (points: readonly number[], i: number): Vector => [points[2 * i], points[2 * i + 1]];

/** Length of the longest movement of a point. */
export const longest = ({ texts, images }: Movement): number =>
  Math.max(
    ...[texts, images].flatMap((xy) => Array.from({ length: xy.length / 2 }, (_, i) => Math.hypot(...at(xy, i)))),
  );

/** ‖∇‖ over all points. */
export const lengthOf = ({ texts, images }: Movement): number => Math.hypot(...texts, ...images);

/** An arrow in pixels, its head drawn open. */
function arrowPath([x, y]: Vector, [dx, dy]: Vector): string {
  const [tx, ty] = [px(x + dx), py(y + dy)];
  const angle = Math.atan2(ty - py(y), tx - px(x));
  const head = [2.6, -2.6].map(
    (turn) => `L${(tx + 9 * Math.cos(angle + turn)).toFixed(1)} ${(ty + 9 * Math.sin(angle + turn)).toFixed(1)}`,
  );
  return `M${px(x)} ${py(y)}L${tx} ${ty}${head[0]}M${tx} ${ty}${head[1]}`;
}

/** The arrows of one role. */
function arrows(
  role: 'pos' | 'neg',
  names: readonly EmojiPair[],
  asked: PlaneAsked,
  movement: Movement,
  scale: number,
) {
  return HALVES.flatMap((half) =>
    names.flatMap(({ caption }, i) => {
      const [x, y] = at(movement[half], i);
      const length = scale * Math.hypot(x, y);
      if (!(length >= SHORTEST)) return [];
      const shrink = scale * Math.min(1, LONGEST / length);
      const what = `${half === 'texts' ? 'caption' : 'picture of'} ${caption}`;
      const title = `${role === 'pos' ? 'Pos' : 'Neg'} moves the ${what}`;
      const d = arrowPath(at(asked[half], i), [shrink * x, shrink * y]);
      return [s('path', { class: `roles-arrow ${role}`, d }, s('title', {}, title))];
    }),
  );
}

const legendItem = (role: 'pos' | 'neg', text: string): HTMLLIElement =>
  h(
    'li',
    {},
    s(
      'svg',
      { viewBox: '0 0 36 16', width: 36, height: 16, 'aria-hidden': 'true' },
      s('path', { class: `roles-arrow ${role}`, d: 'M1 8H34l-8 -5M34 8l-8 5' }),
    ),
    text,
  );

/** The plane; a picture or a caption chooses its pair. */
export function rolesPlane(names: readonly EmojiPair[], choose: (pair: number) => void) {
  const [positive, negative] = [s('g', {}), s('g', {})];
  const bonds = names.map(() => s('line', { class: 'roles-bond' }));
  const pictures = names.map(({ code, caption }, i) => {
    const image = s('image', { href: `emoji/${code}.svg`, x: -15, y: -15, width: 30, height: 30 });
    const attributes = { class: 'roles-point', tabindex: 0, role: 'button', 'aria-label': `pair ${caption}` };
    const g = s('g', { ...attributes, onclick: () => choose(i) }, s('circle', { r: 20 }), image);
    g.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      choose(i);
    });
    return g;
  });
  const captions = names.map(({ caption }, i) =>
    s(
      'g',
      { onclick: () => choose(i) },
      s('rect', { x: -4, y: -4, width: 8, height: 8 }),
      s('text', { 'text-anchor': 'middle', y: -10 }, caption),
    ),
  );
  const label =
    'Captions and pictures in the plane, with arrows for the two roles of the chosen pair; choose another one';
  const svg = s(
    'svg',
    { viewBox: `0 0 ${SIDE} ${SIDE}`, class: 'roles-plane', role: 'group', 'aria-label': label },
    s('path', { class: 'roles-axes', d: `M${SIDE / 2} 0V${SIDE}M0 ${SIDE / 2}H${SIDE}` }),
    ...[...bonds, ...pictures, ...captions, negative, positive],
  );
  const legend = h(
    'ul',
    { class: 'legend' },
    legendItem('pos', 'as positive: −(1 + ε)∇Pos'),
    legendItem('neg', 'as negative: −∇Neg'),
  );

  /** Puts the points in their places. */
  const points = ({ texts, images, pair }: PlaneAsked): void => {
    names.forEach((_, i) => {
      const [[x1, y1], [x2, y2]] = [at(texts, i), at(images, i)];
      const chosen = i === pair;
      update(bonds[i], {
        ...{ x1: px(x1), y1: py(y1), x2: px(x2), y2: py(y2) },
        class: `roles-bond${chosen ? ' chosen' : ''}`,
      });
      update(captions[i], {
        ...{ transform: `translate(${px(x1)} ${py(y1)})`, class: `roles-caption${chosen ? ' chosen' : ''}` },
      });
      update(pictures[i], { transform: `translate(${px(x2)} ${py(y2)})`, 'aria-pressed': String(chosen) });
    });
  };
  return {
    el: h('div', {}, svg, legend),
    points,
    /** Draws what the roles do; a formula too steep for the plane is drawn smaller, and the factor given. */
    arrows: (asked: PlaneAsked, found: RolesFound): number => {
      const scale = SCALE * asked.temperature;
      const reduced = asked.form === 'published' ? Math.min(scale, LONGEST / longest(found.negative)) : scale;
      positive.replaceChildren(...arrows('pos', names, asked, found.positive, scale));
      negative.replaceChildren(...arrows('neg', names, asked, found.negative, reduced));
      return scale / reduced;
    },
  };
}
