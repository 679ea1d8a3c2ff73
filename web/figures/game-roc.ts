// ROC curves of chapter 5: every detector as a curve, the player as a point.

import { uniqueId } from '../app/controls.ts';
import { h, s } from '../app/dom.ts';
import { axesSvg, FRAME, px } from '../../src/report/plot.ts';
import { linearScale } from '../../src/report/scale.ts';
import { markerPath } from '../../src/report/series-style.ts';
import type { Detection } from '../maths/game.ts';
import { LOOKS } from './game-params.ts';

/** Where the player stands: (share of right captions marked, share of wrong captions marked). */
export type Player = readonly [number, number];

/** The curve of a detector. */
function curve({ detector, roc }: Detection, at: (p: readonly [number, number]) => [number, number]): SVGElement {
  const { colour, marker, dash } = LOOKS[detector];
  const points = roc.map(at);
  const turns = points.filter(
    (_, i) => i > 0 && i < points.length - 1 && roc[i][1] > roc[i - 1][1] && roc[i + 1][1] === roc[i][1],
  );
  return s(
    'g',
    { class: `series ${colour}` },
    s('path', {
      class: 'line',
      d: `M${points.map(([a, b]) => `${px(a)} ${px(b)}`).join('L')}`,
      'stroke-dasharray': dash || null,
    }),
    s('path', { class: `marks ${marker}`, d: turns.map(([a, b]) => markerPath(marker, a, b, 4.4)).join('') }),
  );
}

/** The picture. */
export function rocPlot(detections: readonly Detection[], player: Player): SVGSVGElement {
  const x = linearScale([0, 1], { from: FRAME.left, to: FRAME.right });
  const y = linearScale([0, 1], { from: FRAME.bottom, to: FRAME.top });
  const at = ([a, b]: readonly [number, number]): [number, number] => [x.at(a), y.at(b)];
  const [title, desc] = [uniqueId('roc-title'), uniqueId('roc-desc')];
  const words = detections.map(({ detector, auroc }) => `${LOOKS[detector].name} ${auroc.toFixed(3)}`);
  const frame = s('g');
  frame.innerHTML = axesSvg('right captions called swapped', 'swapped captions found', x, y);
  const [left, top] = at(player);
  return s(
    'svg',
    {
      ...{ class: 'plot lines game-roc', viewBox: `0 0 ${FRAME.width} ${FRAME.height}`, role: 'img' },
      'aria-labelledby': `${title} ${desc}`,
    },
    s('title', { id: title }, 'ROC curves'),
    s(
      'desc',
      { id: desc },
      `Areas below: ${words.join(', ')}. You found ${Math.round(100 * player[1])} % of the swapped captions and called ${Math.round(100 * player[0])} % of the right ones swapped.`,
    ),
    frame,
    s('path', { class: 'diagonal', d: `M${px(x.at(0))} ${px(y.at(0))}L${px(x.at(1))} ${px(y.at(1))}` }),
    ...detections.map((one) => curve(one, at)),
    s('path', { class: 'game-you', d: markerPath('circle', left, top, 9) }),
    s('text', { class: 'game-you-word', x: px(left + 14), y: px(top + (player[1] > 0.9 ? 22 : -10)) }, 'you'),
  );
}

/** The legend. */
export const rocLegend = (detections: readonly Detection[]): HTMLElement =>
  h(
    'ul',
    { class: 'legend' },
    ...detections.map(({ detector }) => {
      const { name, about, colour, marker, dash } = LOOKS[detector];
      return h(
        'li',
        { class: colour },
        s(
          'svg',
          { class: 'swatch', viewBox: '0 0 36 16', width: 36, height: 16, 'aria-hidden': 'true' },
          s('path', { class: 'line', d: 'M1 8H35', 'stroke-dasharray': dash || null }),
          s('path', { class: `marks ${marker}`, d: markerPath(marker, 18, 8, 4) }),
        ),
        `${name}: ${about}`,
      );
    }),
    h(
      'li',
      {},
      s(
        'svg',
        { class: 'swatch', viewBox: '0 0 36 16', width: 36, height: 16, 'aria-hidden': 'true' },
        s('path', { class: 'game-you', d: markerPath('circle', 18, 8, 6) }),
      ),
      'you',
    ),
  );
