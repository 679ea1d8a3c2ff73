// The report: escaping, structure, geometry of the pictures, and what happens to numbers that cannot be drawn.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeHtml, slug } from '../src/report/html.ts';
import { formatNumber } from '../src/report/numbers.ts';
import { axesOf, FRAME, plot } from '../src/report/plot.ts';
import { linearScale, logScale } from '../src/report/scale.ts';
import { markerPath, stylesFor } from '../src/report/series-style.ts';
import { verifyReport } from '../src/report/verify-report.ts';
import type { ClaimResult, Figure, VerifyResult } from '../src/verify/result.ts';
import { unbalanced } from './support/html.ts';

const claimOf = (parts: Partial<ClaimResult>): ClaimResult => ({
  id: 'eq-a',
  place: 'Eq. 1',
  symbol: 'L',
  statement: 'A statement.',
  correction: null,
  erratum: 3,
  verdict: 'holds as corrected',
  expected: 'holds as corrected',
  agrees: true,
  instances: 20,
  tolerance: 1e-6,
  byMedian: false,
  worst: { printed: 0.5, corrected: 1e-12, control: 0.1 },
  counterexample: null,
  ...parts,
});

const figureOf = (parts: Partial<Figure>): Figure => ({
  id: 'f',
  title: 'A title',
  caption: 'A caption.',
  x: { label: 'x', log: false },
  y: { label: 'y', log: false },
  kind: 'lines',
  diagonal: false,
  series: [],
  ...parts,
});

const resultOf = (parts: Partial<VerifyResult>): VerifyResult => ({
  device: 'cpu (float64)',
  seed: 7,
  instances: 20,
  claims: [claimOf({})],
  figures: [],
  ...parts,
});

describe('the checker of tags', () => {
  it.each(['<p><b></p></b>', '<p>', '</p>', '<p>a < b</p>', '<p class=x></p>'])('refuses %s', (html) => {
    expect(unbalanced(html)).not.toEqual([]);
  });

  it('accepts a nested fragment', () => {
    expect(unbalanced('<p class="a b">x<br><b id="c">y</b><path d="M0 0"/></p>')).toEqual([]);
  });
});

describe('the page', () => {
  const evil = `<script>alert("1")</script>'&`;
  const result = resultOf({
    device: `webgpu ${evil}`,
    claims: [
      claimOf({ id: 'eq-loss', verdict: 'holds', expected: 'holds' }),
      claimOf({
        id: `eq "x" ${evil}`,
        place: evil,
        symbol: evil,
        statement: evil,
        correction: evil,
        counterexample: evil,
      }),
      claimOf({ id: 'thm-odd', verdict: 'fails as printed', expected: 'holds', agrees: false }),
    ],
    figures: [
      figureOf({
        id: 'one',
        title: evil,
        caption: evil,
        x: { label: evil, log: false },
        y: { label: evil, log: true },
      }),
      figureOf({ id: `two ${evil}`, series: [{ name: evil, points: [[1, 2]] }] }),
    ],
  });
  const html = verifyReport(result, { ecif: evil });

  it('escapes every text', () => {
    expect(html).not.toContain('<script');
    expect(html).not.toMatch(/alert\("1"\)/);
    expect(html.split('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39;&amp;').length).toBeGreaterThan(12);
  });

  it('is balanced, whole and complete in itself', () => {
    expect(unbalanced(html)).toEqual([]);
    expect(html.startsWith('<!doctype html>')).toBe(true);
    expect(html).not.toMatch(/https?:|\/\/|@import|url\(|<script|<img|<iframe| on\w+=/);
    expect(html).not.toMatch(/NaN|undefined|\[object/);
    const ids = [...html.matchAll(/ id="([^"]*)"/g)].map((m) => m[1]);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[\w.-]+$/);
  });

  it('holds every claim and every figure', () => {
    for (const { id } of result.claims) expect(html).toContain(`<tr id="${slug(id)}">`);
    for (const { id } of result.figures) expect(html).toContain(`<figure id="figure-${slug(id)}">`);
    expect(html).toContain('href="#eq-loss"');
    expect(html).toContain('ecif verify --device webgpu --seed 7 --instances 20');
  });

  it('counts the verdicts and names what is not as expected', () => {
    expect(html).toMatch(/<strong>1<\/strong><span class="badge good">✓ holds/);
    expect(html).toMatch(/<strong>1<\/strong><span class="badge part">≈ holds as corrected/);
    expect(html).toMatch(/<strong>1<\/strong><span class="badge bad">✗ fails as printed/);
    expect(html).toContain('expected: holds<');
    expect(html).toContain('1 verdict is not as expected.');
    expect(verifyReport(resultOf({}), {})).toContain('Every verdict is the expected one.');
  });

  it('says of a control that was missed', () => {
    const missed = claimOf({ agrees: false, worst: { printed: 1, corrected: 0, control: 0 } });
    expect(verifyReport(resultOf({ claims: [missed] }), {})).toContain('the control was not seen');
  });

  it('is a page also with nothing in it, and with errors that are not finite', () => {
    const worst = { printed: Infinity, corrected: NaN, control: null };
    for (const claims of [[], [claimOf({ worst })]]) {
      const empty = verifyReport(resultOf({ claims, figures: [] }), {});
      expect(unbalanced(empty)).toEqual([]);
      expect(empty).not.toMatch(/NaN|Infinity/);
    }
  });
});

describe('numbers and names', () => {
  it.each([
    [0, '0'],
    [1, '1'],
    [-0.25, '−0.25'],
    [123.456, '123'],
    [1.5e-7, '1.5·10⁻⁷'],
    [-98765, '−9.9·10⁴'],
    [Infinity, '∞'],
    [NaN, '–'],
    [null, '–'],
  ])('%s is %s', (x, text) => {
    expect(formatNumber(x)).toBe(text);
  });

  it('text is escaped, control characters are replaced, names become anchors', () => {
    expect(escapeHtml(`<a href="x">&'</a>\u0000`)).toBe('&lt;a href=&quot;x&quot;&gt;&amp;&#39;&lt;/a&gt;\ufffd');
    expect(slug('eq-neg taylor"<')).toBe('eq-neg-taylor-');
    expect(slug('')).toBe('-');
  });
});

describe('axes', () => {
  const span = { from: 0, to: 120 };
  const labels = (s: { ticks: readonly { label: string }[] }): string[] => s.ticks.map((t) => t.label);

  it('linear: round ticks that hold all values', () => {
    const scale = linearScale([0.5, 11.2], span);
    expect(scale.domain).toEqual([0, 12]);
    expect(labels(scale)).toEqual(['0', '2', '4', '6', '8', '10', '12']);
    expect(scale.at(3)).toBeCloseTo(30, 12);
    expect(labels(linearScale([-0.25, 0.3], span))).toEqual(['−0.3', '−0.2', '−0.1', '0', '0.1', '0.2', '0.3']);
  });

  it('logarithmic over decades, and over part of one', () => {
    const decades = logScale([0.02, 400], span);
    expect(labels(decades)).toEqual(['0.01', '0.1', '1', '10', '100', '1000']);
    expect(decades.at(1)).toBeCloseTo(48, 12);
    expect(labels(logScale([0.1, 2], span))).toEqual(['0.1', '0.2', '0.5', '1', '2']);
    expect(labels(logScale([3e-6, 4e5], span))).toEqual(['10⁻⁶', '10⁻⁴', '10⁻²', '1', '10²', '10⁴', '10⁶']);
  });

  it.each([
    ['nothing', []],
    ['one value', [3]],
    ['equal values', [-2, -2, -2]],
    ['zero', [0, 0]],
    ['no finite value', [NaN, Infinity, -Infinity]],
    ['neighbours', [1, 1 + Number.EPSILON]],
    ['far apart', [-1e300, 1e300]],
    ['tiny', [2e-300, 3e-299]],
  ])('%s: both axes have finite ends in order', (_, values) => {
    for (const scale of [linearScale(values, span), logScale(values, span)]) {
      const at = scale.domain.map((v) => scale.at(v === 0 && scale.domain[1] > 0 ? scale.ticks[0].value : v));
      expect(scale.domain[0]).toBeLessThan(scale.domain[1]);
      expect(scale.ticks.length).toBeGreaterThan(1);
      expect(scale.ticks.length).toBeLessThan(12);
      for (const v of values.filter((x) => Number.isFinite(x) && x > 0))
        expect(scale.at(v)).toBeGreaterThanOrEqual(-1e-6);
      expect(at[1]).toBeCloseTo(120, 2);
    }
  });
});

/** Numbers of all paths in a picture. */
const pathsOf = (html: string): string[] => [...html.matchAll(/ d="([^"]*)"/g)].map((m) => m[1]);

describe('pictures', () => {
  const points: Figure['series'][0]['points'] = [
    [0, 1],
    [5, 10],
    [10, 1000],
  ];

  it('points lie where the axes say: x linear, y logarithmic', () => {
    const figure = figureOf({ kind: 'points', y: { label: 'y', log: true }, series: [{ name: 'loss', points }] });
    // x: 0…10 over 84…622; y: three decades over 354…14.
    const expected = [
      [84, 354],
      [353, 240.67],
      [622, 14],
    ].map(([x, y]) => markerPath('circle', x, y, 4));
    expect(pathsOf(plot(figure))).toContain(expected.join(''));
    const { x, y } = axesOf(figure);
    expect([x.at(5), y.at(10)]).toEqual([353, expect.closeTo(354 - 340 / 3, 9)]);
  });

  it('lines go through them, broken where a value cannot be drawn', () => {
    const broken = figureOf({
      y: { label: 'y', log: false },
      series: [
        {
          name: 'loss',
          points: [
            [0, 0],
            [1, 1],
            [2, NaN],
            [3, 3],
            [4, 4],
            [5, Infinity],
          ],
        },
      ],
    });
    const html = plot(broken);
    expect(pathsOf(html)).toContain('M84 354L218.5 269M487.5 99L622 14');
    expect(html).toContain('(2 of 6 points not drawn)');
  });

  it('the diagonal is drawn as far as both axes reach', () => {
    const series = [
      {
        name: 'a',
        points: [
          [0, 0],
          [10, 5],
        ] as const,
      },
    ];
    const html = plot(figureOf({ kind: 'points', diagonal: true, series }));
    expect(html).toContain('<path class="diagonal" d="M84 354L353 14"/>');
    const apart = [
      {
        name: 'a',
        points: [
          [0, 50],
          [10, 60],
        ] as const,
      },
    ];
    expect(plot(figureOf({ diagonal: true, series: apart }))).not.toMatch(/class="diagonal" d="M(?!1 8H35)/);
  });

  it.each([
    ['no series', []],
    ['an empty series', [{ name: 'a', points: [] }]],
    ['one point', [{ name: 'a', points: [[1, 1] as const] }]],
    ['nothing finite', [{ name: 'a', points: [[NaN, 1] as const, [1, -Infinity] as const] }]],
    ['not positive', [{ name: 'a', points: [[-1, 0] as const] }]],
    ['equal points', [{ name: 'a', points: [[2, 3] as const, [2, 3] as const] }]],
  ])('%s: a picture without NaN, and everything inside the frame', (_, series) => {
    for (const kind of ['lines', 'points'] as const) {
      for (const log of [false, true]) {
        const html = plot(figureOf({ kind, diagonal: true, x: { label: 'x', log }, y: { label: 'y', log }, series }));
        expect(html).not.toMatch(/NaN|Infinity|undefined/);
        expect(unbalanced(html)).toEqual([]);
        for (const [, a, b] of html.matchAll(/[ML](-?[\d.]+) (-?[\d.]+)/g)) {
          expect(Number(a)).toBeLessThanOrEqual(FRAME.width);
          expect(Number(b)).toBeLessThanOrEqual(FRAME.height);
        }
      }
    }
  });

  it('whatever the numbers, a picture holds only finite coordinates within it', () => {
    const point = fc.tuple(fc.double(), fc.double());
    const axis = fc.record({ label: fc.string(), log: fc.boolean() });
    const shape = {
      kind: fc.constantFrom('lines' as const, 'points' as const),
      diagonal: fc.boolean(),
      x: axis,
      y: axis,
    };
    const series = fc.array(fc.record({ name: fc.string(), points: fc.array(point, { maxLength: 6 }) }), {
      maxLength: 4,
    });
    fc.assert(
      fc.property(fc.record({ ...shape, series }), (parts) => {
        const html = plot(figureOf(parts));
        expect(unbalanced(html)).toEqual([]);
        for (const path of pathsOf(html)) {
          expect(path).not.toMatch(/NaN|Infinity|undefined|e[+-]?\d/);
          for (const [, a, b] of path.matchAll(/[ML](-?[\d.]+) (-?[\d.]+)/g)) {
            expect(Math.abs(Number(a) - FRAME.width / 2)).toBeLessThanOrEqual(FRAME.width / 2);
            expect(Math.abs(Number(b) - FRAME.height / 2)).toBeLessThanOrEqual(FRAME.height / 2);
          }
        }
      }),
      { numRuns: 300, seed: 1 },
    );
  });

  it('has a title, a description in words, and a legend', () => {
    const html = plot(
      figureOf({
        title: 'T',
        series: [
          { name: 'loss', points },
          { name: 'other', points: [] },
        ],
      }),
    );
    expect(html).toMatch(/role="img" aria-labelledby="plot-f-title plot-f-desc"/);
    expect(html).toContain('<title id="plot-f-title">T</title>');
    expect(html).toContain('loss: 3 points, from 1 to 1000; other: no points.');
    expect(html).toContain('other (no points)</li>');
  });

  it('tells series apart by colour, marker and dash', () => {
    const names = ['published', 'constructor', 'corrected', '__proto__', 'Newton', 'a', 'b', 'c', 'd'];
    const styles = stylesFor(names);
    expect(new Set(styles.map((s) => s.colour)).size).toBe(names.length);
    expect(new Set(styles.map((s) => s.marker)).size).toBe(names.length);
    expect(stylesFor(Array.from({ length: 30 }, (_, i) => `s${i}`)).every((s) => s !== undefined)).toBe(true);
  });
});
