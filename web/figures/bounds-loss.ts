// Why the printed bound breaks: the loss of one parameter after removal, and the parabola of its curvature at θ̂.

import { uniqueId } from '../app/controls.ts';
import { formatted, h, s, show, shown } from '../app/dom.ts';
import { axesSvg, FRAME, px } from '../../src/report/plot.ts';
import { linearScale, type Scale } from '../../src/report/scale.ts';
import { type Marker, markerPath } from '../../src/report/series-style.ts';
import type { LineFound } from '../maths/bounds-line.ts';

type Place = keyof LineFound['points'];

const PLACES: Readonly<Record<Place, { readonly name: string; readonly marker: Marker; readonly colour: string }>> = {
  trained: { name: 'θ̂ trained', marker: 'circle', colour: 'c-ink' },
  edited: { name: 'θ̃ edited', marker: 'square', colour: 'c-blue' },
  retrained: { name: 'θ* retrained', marker: 'diamond', colour: 'c-red' },
};

const line = (xs: readonly number[], ys: readonly number[], x: Scale, y: Scale): string =>
  `M${xs.map((v, i) => `${px(x.at(v))} ${px(y.at(ys[i]))}`).join('L')}`;

/** The loss at a point between those that are known. */
function lossAt({ theta, loss }: LineFound, at: number): number {
  const i = Math.min(theta.length - 2, Math.max(0, theta.findIndex((w) => w > at) - 1));
  const share = (at - theta[i]) / (theta[i + 1] - theta[i]);
  return loss[i] + share * (loss[i + 1] - loss[i]);
}

function place(name: Place, found: LineFound, x: Scale, y: Scale): SVGElement {
  const { marker, colour, name: text } = PLACES[name];
  const at = found.points[name];
  const [left, top] = [x.at(at), y.at(lossAt(found, at))];
  return s(
    'g',
    { class: `series ${colour}` },
    s('path', { class: 'bounds-drop', d: `M${px(left)} ${px(top)}V${FRAME.bottom}` }),
    s('path', { class: `marks ${marker}`, d: markerPath(marker, left, top, 6) }),
    s('text', { class: 'bounds-place', x: px(left + 9), y: px(top - 11) }, text),
  );
}

/** The picture and the curvatures it shows. */
export function boundsLoss() {
  const stage = h('div');
  const [first, last] = [shown('curvatureTrained'), shown('curvatureRetrained')];
  return {
    el: h(
      'div',
      {},
      stage,
      h(
        'ul',
        { class: 'legend' },
        ...(
          [
            ['c-ink', 'loss after removal, F', ''],
            ['c-grey', 'parabola of F at θ̂', '4 4'],
          ] as const
        ).map(([colour, text, dash]) =>
          h(
            'li',
            { class: colour },
            s(
              'svg',
              { class: 'swatch', viewBox: '0 0 36 16', width: 36, height: 16, 'aria-hidden': 'true' },
              s('path', { class: 'line', d: 'M1 8H35', 'stroke-dasharray': dash || null }),
            ),
            text,
          ),
        ),
      ),
      h('p', { class: 'values' }, h('span', {}, 'curvature of F at θ̂ ', first), h('span', {}, 'at θ* ', last)),
    ),
    set: (found: LineFound): void => {
      const { theta, loss, parabola, points, curvature } = found;
      const [low, high] = [Math.min(...loss, ...parabola), Math.max(...loss)];
      const x = linearScale(theta, { from: FRAME.left, to: FRAME.right });
      const y = linearScale([low, high], { from: FRAME.bottom, to: FRAME.top });
      const seen = parabola.findLastIndex((value, i) => value <= y.domain[1] && theta[i] <= x.domain[1]) + 1;
      const frame = s('g');
      frame.innerHTML = axesSvg('parameter θ', 'loss', x, y);
      const [title, desc] = [uniqueId('loss-title'), uniqueId('loss-desc')];
      const words = (Object.keys(PLACES) as Place[]).map((name) => `${PLACES[name].name} ${formatted(points[name])}`);
      stage.replaceChildren(
        s(
          'svg',
          {
            ...{ class: 'plot lines', viewBox: `0 0 ${FRAME.width} ${FRAME.height}`, role: 'img' },
            'aria-labelledby': `${title} ${desc}`,
          },
          s('title', { id: title }, 'The loss after removal over its one parameter'),
          s('desc', { id: desc }, `${words.join(', ')}. The loss flattens out beyond θ̂; its parabola there does not.`),
          frame,
          s(
            'g',
            { class: 'series c-grey' },
            s('path', {
              class: 'line',
              d: line(theta.slice(0, seen), parabola, x, y),
              'stroke-dasharray': '4 4',
            }),
          ),
          s('g', { class: 'series c-ink' }, s('path', { class: 'line', d: line(theta, loss, x, y) })),
          ...(Object.keys(PLACES) as Place[]).map((name) => place(name, found, x, y)),
        ),
      );
      show(first, curvature.trained);
      show(last, curvature.retrained);
    },
  };
}
