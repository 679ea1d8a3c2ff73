// The similarities of a batch as a map, the suspect's row and column outlined, every pair's suspicion along both sides.

import { figureHtml } from './figure.ts';
import { formatNumber } from './numbers.ts';
import { type Palette, paletteFor } from './palette.ts';
import { given, type Pictures, plainCut, scrolled } from './pieces.ts';
import { px } from './plot.ts';
import type { DetectRecord } from './records.ts';

/** A batch with its similarities. */
export type Batch = NonNullable<DetectRecord['batch']>;

/** Pairs that are drawn at most, and up to how many they are named. */
const DRAWN = 64;
const NAMED = 24;

/** Where the parts of the picture lie. */
interface Layout {
  readonly n: number;
  readonly cell: number;
  readonly left: number;
  readonly top: number;
  /** Side of the map. */
  readonly side: number;
  /** Height of the pictures below the map. */
  readonly room: number;
  readonly width: number;
  readonly height: number;
}

const [WIDTH, BARS, GAP] = [760, 74, 6];

function layoutOf(n: number): Layout {
  const left = n <= NAMED ? 190 : 72;
  const cell = Math.min(30, (WIDTH - left - BARS - GAP) / n);
  const side = n * cell;
  const top = BARS + GAP;
  const room = n <= NAMED ? cell : 0;
  return { n, cell, left, top, side, room, width: left + side + GAP + BARS, height: top + side + room + 104 };
}

/** The positions that are drawn: all, or the suspect and those most like one of its halves. */
function drawnOf({ pairs, cosines, at }: Batch): number[] {
  const n = pairs.length;
  const all = Array.from({ length: n }, (_, i) => i);
  if (n <= DRAWN) return all;
  const near = (i: number): number => (i === at ? Infinity : Math.max(cosines[at * n + i], cosines[i * n + at]));
  return all
    .toSorted((a, b) => near(b) - near(a))
    .slice(0, DRAWN)
    .toSorted((a, b) => a - b);
}

/** The cells: a path for each colour, equal neighbours in one stroke. */
function cellsSvg({ pairs, cosines }: Batch, kept: readonly number[], palette: Palette, layout: Layout): string {
  const { cell, left, top } = layout;
  const paths = palette.colours.map(() => '');
  kept.forEach((i, row) => {
    const levels = kept.map((j) => palette.level(cosines[i * pairs.length + j]));
    let first = 0;
    levels.forEach((level, column) => {
      if (levels[column + 1] === level) return;
      const width = px((column + 1 - first) * cell);
      paths[level] += `M${px(left + first * cell)} ${px(top + row * cell)}h${width}v${px(cell)}h-${width}z`;
      first = column + 1;
    });
  });
  return paths.map((d, level) => (d === '' ? '' : `<path fill="${palette.colours[level]}" d="${d}"/>`)).join('');
}

/** Suspicion from zero: to the right of every row, above every column. */
function barsSvg({ suspicion, at }: Batch, kept: readonly number[], { cell, left, top, side }: Layout): string {
  const values = kept.map((i) => suspicion[i]);
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const length = (v: number): number => (high > low ? ((v - low) / (high - low)) * BARS : 0);
  const thick = Math.max(1, cell - 2);
  const from = left + side + GAP;
  const draw = (v: number, i: number): string => {
    const [a, b] = [Math.min(length(0), length(v)), Math.abs(length(v) - length(0))];
    const place = i * cell + (cell - thick) / 2;
    return (
      `M${px(from + a)} ${px(top + place)}h${px(b)}v${px(thick)}h${px(-b)}z` +
      `M${px(left + place)} ${px(top - GAP - a)}v${px(-b)}h${px(thick)}v${px(b)}z`
    );
  };
  const suspect = kept.indexOf(at);
  const others = values.map((v, i) => (i === suspect ? '' : draw(v, i))).join('');
  return `<path class="side" d="${others}"/><path class="side suspect" d="${draw(values[suspect], suspect)}"/>`;
}

/** Names of rows and numbers of columns, where there is room, and what the sides are. */
function labelsSvg({ pairs, at }: Batch, kept: readonly number[], layout: Layout, pictures: Pictures): string {
  const { n, cell, left, top, side, room } = layout;
  const size = n <= NAMED ? Math.min(13, cell - 2) : 12;
  const strong = (i: number): string => (i === at ? ' class="suspect"' : '');
  const named = n <= NAMED ? kept : [at];
  const text = (i: number): string => (n <= NAMED ? plainCut(pairs[i].caption, 24) : String(i + 1));
  const rows = named.map((i) => {
    const y = top + (kept.indexOf(i) + 0.5) * cell;
    const number = n <= NAMED ? `${i + 1}. ` : '';
    return `<text${strong(i)} x="${left - 7}" y="${px(y)}" dy=".34em" text-anchor="end">${number}${text(i)}</text>`;
  });
  const small = (i: number): string => {
    const address = pictures.training.get(pairs[i].id);
    const place = `x="${px(left + kept.indexOf(i) * cell + 1)}" y="${px(top + side + 3)}" width="${px(cell - 2)}" height="${px(cell - 2)}"`;
    return room === 0 || address === undefined ? '' : `<image href="${address}" ${place}/>`;
  };
  const columns = named.map((i) => {
    const x = left + (kept.indexOf(i) + 0.5) * cell;
    return `<text${strong(i)} x="${px(x)}" y="${px(top + side + room + 15)}" text-anchor="middle">${i + 1}</text>${small(i)}`;
  });
  return `<g font-size="${px(size)}">${[...rows, ...columns].join('')}</g>
<text class="label" x="${px(left + side / 2)}" y="${px(top + side + room + 35)}" text-anchor="middle">pictures</text>
<text class="label" x="${left - 7}" y="${top - 12}" text-anchor="end">captions</text>
<text class="label" x="${px(left + side + GAP)}" y="${top - 12}">suspicion</text>`;
}

/** Frames around the suspect's row and column. */
function outlineSvg(at: number, { cell, left, top, side }: Layout): string {
  const place = at * cell;
  const frame = `M${left} ${px(top + place)}h${px(side)}v${px(cell)}H${left}zM${px(left + place)} ${top}v${px(side)}h${px(cell)}V${top}z`;
  return `<path class="halo" d="${frame}"/><path class="outline" d="${frame}"/>`;
}

/** The colours with their values. */
function legendSvg({ colours, domain: [low, high] }: Palette, { left, top, side, room }: Layout): string {
  const y = top + side + room + 58;
  const step = side / colours.length;
  const boxes = colours.map(
    (c, i) => `<path fill="${c}" d="M${px(left + i * step)} ${px(y)}h${px(step + 0.3)}v12h${px(-step - 0.3)}z"/>`,
  );
  const ticks = [low, (low + high) / 2, high].map(
    (v, i) =>
      `<text x="${px(left + (i * side) / 2)}" y="${px(y + 28)}" text-anchor="${['start', 'middle', 'end'][i]}">${formatNumber(v)}</text>`,
  );
  return `<g shape-rendering="crispEdges">${boxes.join('')}</g>${ticks.join('')}<text class="label" x="${left - 7}" y="${px(y + 11)}" text-anchor="end">cosine</text>`;
}

/** The picture in words. */
function describe({ pairs, cosines, suspicion, at }: Batch): string {
  const n = pairs.length;
  const others = Array.from({ length: n }, (_, i) => i).filter((i) => i !== at);
  const own = cosines[at * n + at];
  const beaten = (value: (i: number) => number): number => others.filter((i) => value(i) > own).length;
  return (
    `Captions in rows, pictures in columns, ${n} of each. The suspect is pair ${at + 1}, with suspicion ${formatNumber(suspicion[at])}: ` +
    `its caption has cosine ${formatNumber(own)} with its own picture, and more with ${beaten((i) => cosines[at * n + i])} other pictures; ` +
    `its picture has more with ${beaten((i) => cosines[i * n + at])} other captions.`
  );
}

/** The numbers of the suspect's row and column. */
function numbers({ pairs, cosines, suspicion, at }: Batch, kept: readonly number[]): string {
  const n = pairs.length;
  const rows = kept.map(
    (i) =>
      `<tr><th scope="row">${i + 1}. ${given(pairs[i].caption, 60)}</th><td>${formatNumber(cosines[at * n + i])}</td><td>${formatNumber(cosines[i * n + at])}</td><td>${formatNumber(suspicion[i])}</td></tr>`,
  );
  return `<details><summary>Numbers</summary>${scrolled(
    'Cosines of the suspect with the pairs of its batch',
    `<table class="list"><thead><tr><th scope="col">pair</th><th scope="col">its picture, the suspect’s caption</th><th scope="col">its caption, the suspect’s picture</th><th scope="col">suspicion</th></tr></thead><tbody>${rows.join('')}</tbody></table>`,
  )}</details>`;
}

/** The map of a batch as a figure. */
export function heatMap(batch: Batch, pictures: Pictures): string {
  const kept = drawnOf(batch);
  const layout = layoutOf(kept.length);
  const palette = paletteFor(kept.flatMap((i) => kept.map((j) => batch.cosines[i * batch.pairs.length + j])));
  const words = describe(batch);
  const left =
    kept.length < batch.pairs.length
      ? ` The ${kept.length} pairs nearest to the suspect of ${batch.pairs.length}.`
      : '';
  const svg = `<svg class="plot heat" viewBox="0 0 ${px(layout.width)} ${px(layout.height)}" role="img" aria-labelledby="heat-title heat-desc">
<title id="heat-title">Similarity of captions and pictures in the batch of the first suspect</title>
<desc id="heat-desc">${words}</desc>
<g shape-rendering="crispEdges">${cellsSvg(batch, kept, palette, layout)}</g>
${barsSvg(batch, kept, layout)}
${outlineSvg(kept.indexOf(batch.at), layout)}
${labelsSvg(batch, kept, layout, pictures)}
${legendSvg(palette, layout)}
</svg>`;
  return figureHtml(
    'batch',
    'Similarity in the batch of the first suspect',
    `<div class="scroll" role="region" aria-label="Map of similarities" tabindex="0">${svg}</div>`,
    `${words}${left}${numbers(batch, kept)}`,
  );
}
