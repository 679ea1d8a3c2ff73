// Mistakes on emoji beside the training pairs behind them, as a picture with small pictures in it.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { escapeHtml } from '../../src/report/html.ts';
import type { Traced, TracedMistake } from './experiments/trace.ts';

const [SIDE, GAP, LEFT, SHOWN, ROWS] = [48, 12, 190, 6, 4];
const ROW = SIDE + 40;

/** The picture of an emoji, in the picture. */
function emojiAt(folder: string, id: string, x: number, y: number): string {
  const bytes = readFileSync(join(folder, id.replace(/^([^-]+)-/, '$1/') + '.png')).toString('base64');
  return `<image x="${x}" y="${y}" width="${SIDE}" height="${SIDE}" href="data:image/png;base64,${bytes}"/>`;
}

const words = (x: number, y: number, text: string, kind = ''): string => {
  const short = text.length > 20 ? `${text.slice(0, 19)}…` : text;
  return `<text x="${x}" y="${y}"${kind === '' ? '' : ` class="${kind}"`}>${escapeHtml(short)}</text>`;
};

function rowOf(folder: string, { id, caption, said, sources }: TracedMistake, y: number): string {
  const query = `${emojiAt(folder, id, GAP, y)}${words(GAP + SIDE + 8, y + 20, caption)}${words(GAP + SIDE + 8, y + 38, `→ ${said}`, 'bad')}`;
  const behind = sources.slice(0, SHOWN).map((source, k) => {
    const x = LEFT + GAP + k * (SIDE + 76);
    return `${emojiAt(folder, source.id, x, y)}${words(x, y + SIDE + 15, source.caption, source.swapped ? 'bad' : '')}`;
  });
  return query + behind.join('');
}

/**
 * The panel of some mistakes.
 * @param folder of the emoji
 */
export function panelOf({ mistakes }: Pick<Traced, 'mistakes'>, folder: string): string {
  const shown = mistakes.slice(0, ROWS);
  const [width, height] = [LEFT + GAP + SHOWN * (SIDE + 76), 34 + shown.length * ROW];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>Mistakes on emoji, and the training pairs behind them</title>
<style>text { font: 11.5px system-ui, sans-serif; fill: #22262c; } .bad { fill: #b3263a; } .head { font-weight: 600; }</style>
<path fill="#fff" d="M0 0h${width}v${height}H0z"/>
<text class="head" x="${GAP}" y="20">picture, and what it was taken for</text>
<text class="head" x="${LEFT + GAP}" y="20">training pairs against the truth, the strongest first; captions in red were swapped</text>
${shown.map((mistake, i) => rowOf(folder, mistake, 34 + i * ROW)).join('\n')}
</svg>
`;
}
