// A figure of the report as a file of its own: with its colours, its legend and a white ground.

import { escapeHtml } from '../../src/report/html.ts';
import { FRAME, plot } from '../../src/report/plot.ts';
import { markerPath, stylesFor } from '../../src/report/series-style.ts';
import type { Figure } from '../../src/verify/result.ts';

const COLOURS = {
  ...{ ink: '#22262c', blue: '#0072b2', red: '#d1495b', green: '#00815d', gold: '#b07d00', purple: '#7b3294' },
  ...{ sky: '#3794b8', pink: '#b0508f', grey: '#6b7280', brown: '#8a5a2b' },
};

const STYLE = `
text { fill: #4b5563; font: 13.5px system-ui, sans-serif; }
.label, .name { fill: #22262c; } .label { font-size: 14.5px; }
.grid { stroke: #e5e7eb; fill: none; } .axis { stroke: #6b7280; fill: none; }
.line { fill: none; stroke: currentColor; stroke-width: 2; stroke-linejoin: round; }
.marks { fill: currentColor; stroke: #fff; stroke-width: .8; }
.marks.cross, .marks.plus, .marks.bar, .marks.star { fill: none; stroke: currentColor; stroke-width: 2; }
.band { fill: currentColor; fill-opacity: .14; }
${Object.entries(COLOURS)
  .map(([name, colour]) => `.c-${name} { color: ${colour}; }`)
  .join('\n')}
`;

const ROW = 22;
const TOP = 34;

/** The file of a figure. */
export function svgOf(figure: Figure): string {
  const { width, height, left } = FRAME;
  const styles = stylesFor(figure.series.map(({ name }) => name));
  const whole = plot(figure);
  const inner = whole.slice(whole.indexOf('>') + 1, whole.indexOf('</svg>'));
  const legend = figure.series.map(({ name }, i) => {
    const { colour, marker, dash } = styles[i];
    const y = height + i * ROW;
    return [
      `<g class="${colour}"><path class="line" d="M${left} ${y}h36"${dash === '' ? '' : ` stroke-dasharray="${dash}"`}/>`,
      `<path class="marks ${marker}" d="${markerPath(marker, left + 18, y, 4)}"/>`,
      `<text class="name" x="${left + 46}" y="${y}" dy=".34em">${escapeHtml(name)}</text></g>`,
    ].join('');
  });
  const tall = height + TOP + legend.length * ROW;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 ${-TOP} ${width} ${tall}" width="${width}" height="${tall}" role="img">
<style>${STYLE}</style>
<path fill="#fff" d="M0 ${-TOP}h${width}v${tall}H0z"/>
<text class="label" x="${left}" y="-12">${escapeHtml(figure.title)}</text>${inner}${legend.join('\n')}
</svg>
`;
}
