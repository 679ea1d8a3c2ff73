// The loss of the other anchors over ζ in chapter 2: as it is, by the two right formulas and by the published one.

import { h, s, show, shown } from '../app/dom.ts';
import { axesOf, plot } from '../../src/report/plot.ts';
import type { Figure } from '../../src/verify/result.ts';
import type { RolesFound } from '../maths/roles.ts';

type Point = readonly [number, number];

/** Part of the picture below the loss after removal, as a share of the way to it. */
const BELOW = 0.3;

/** The line through (1, end) of a slope, as far as it lies above a floor. */
function lineDown(end: number, slope: number, floor: number): Point[] {
  const stop = end - slope < floor ? 1 - (end - floor) / slope : 0;
  return [
    [stop, end - (1 - stop) * slope],
    [1, end],
  ];
}

const FORMS = ['corrected', 'exact', 'published'] as const;

/** The losses themselves. */
function lossFigure({ fading, neg }: RolesFound): Figure {
  const [first, end] = [fading[0][1], fading[fading.length - 1][1]];
  const floor = Math.min(first, end - neg.corrected) - BELOW * (end - first);
  return {
    ...{ id: 'roles-zeta', title: 'Loss of the other anchors as the pair fades out as negative', caption: '' },
    x: { label: 'weight ζ of the pair as negative', log: false },
    y: { label: 'loss of the other anchors', log: false },
    ...{ kind: 'lines', diagonal: false },
    series: [
      { name: 'loss', points: fading },
      ...FORMS.map((name) => ({ name, points: lineDown(end, neg[name], name === 'published' ? floor : -Infinity) })),
    ],
  };
}

/** What of the loss goes away between 1 and ζ, on an axis that has room for all of them. */
function fallFigure({ fading, neg }: RolesFound): Figure {
  const end = fading[fading.length - 1][1];
  const below = fading.slice(0, -1);
  return {
    ...{ id: 'roles-zeta', title: 'How much loss goes away as the pair fades out as negative', caption: '' },
    x: { label: 'weight ζ of the pair as negative', log: false },
    y: { label: 'loss that goes away', log: true },
    ...{ kind: 'lines', diagonal: false },
    series: [
      { name: 'loss', points: below.map(([zeta, kept]): Point => [zeta, end - kept]) },
      ...FORMS.map((name) => ({ name, points: below.map(([zeta]): Point => [zeta, (1 - zeta) * neg[name]]) })),
    ],
  };
}

/** Where ζ stands: a line across the picture, and the losses on it. */
function cursor(figure: Figure, zeta: number, value: number): SVGGElement {
  const { x, y } = axesOf(figure);
  const [left, bottom, top] = [x.at(zeta), y.at(y.domain[0]), y.at(y.domain[1])];
  const inside = value >= y.domain[0] && value <= y.domain[1];
  return s(
    'g',
    { class: 'roles-cursor' },
    s('line', { x1: left, x2: left, y1: bottom, y2: top }),
    ...(inside ? [s('circle', { cx: left, cy: y.at(value), r: 6 })] : []),
  );
}

/** The curves, and the published line in words. */
export function rolesCurves() {
  const picture = h('div', { class: 'roles-curves' });
  const [slope, truth, leaves, ends] = [shown('slope-published'), shown('slope-true'), shown('leaves'), shown('ends')];
  const words = h(
    'p',
    { class: 'roles-words' },
    ...[
      'At ζ = 1 the loss has the slope Σ P = ',
      truth,
      '; the published line has Σ 1/P = ',
      slope,
      '. It crosses zero at ζ = ',
    ],
    ...[leaves, ' and promises a loss of ', ends, ' at ζ = 0. A loss of this kind is never below zero.'],
  );
  return {
    picture,
    words,
    set: (found: RolesFound, zeta: number, log: boolean): void => {
      const figure = log ? fallFigure(found) : lossFigure(found);
      picture.innerHTML = plot(figure);
      const end = found.fading[found.fading.length - 1][1];
      const value = log ? end - found.kept : found.kept;
      picture.querySelector('svg')?.append(cursor(figure, zeta, value));
      show(slope, found.neg.published);
      show(truth, found.neg.corrected);
      show(leaves, Math.max(0, 1 - end / found.neg.published), 5);
      show(ends, end - found.neg.published);
    },
  };
}
