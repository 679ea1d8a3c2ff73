// Chapter 6: the parts of the figure on the page.

import type { DecodedImage } from '../../src/index.ts';
import { button, choice, controls, slider, toggle } from '../app/controls.ts';
import { h } from '../app/dom.ts';
import { EMOJI } from '../data/emoji.gen.ts';
import { MOST_SWAPS } from '../maths/trace-pairs.ts';
import type { TraceAnswer } from '../maths/trace.ts';
import type { Found } from './trace-compute.ts';
import { FRESH, OWN, SUITS, type TraceHost, type TraceValues } from './trace-params.ts';
import { emojiUrl, type Picker } from './trace-picker.ts';
import { quoted, rankingOf, removalOf, sidesOf, sourcesOf } from './trace-tables.ts';

/** Pairs that the button removes. */
const FIRST = 3;

/** The controls above the figure. */
function questionControls(host: TraceHost) {
  const swaps = slider({
    ...{ label: 'Swapped twosomes', least: 0, most: MOST_SWAPS, whole: true },
    onChange: (value, done) => done && host.change({ swaps: value, ...FRESH }),
  });
  const names = Object.fromEntries(EMOJI.map(({ caption }, i) => [String(i), caption]));
  const caption = choice('Caption asked about', { [String(SUITS)]: 'the one that suits the picture', ...names }, (i) =>
    host.change({ caption: Number(i), ...FRESH }),
  );
  const by = choice('Order the pairs by', { relative: 'relative influence', score: 'score' }, (value) =>
    host.change({ by: value }),
  );
  return {
    el: controls(swaps.el, caption.el, by.el),
    set: (values: TraceValues): void => {
      swaps.set(values.swaps);
      caption.set(String(values.caption));
      by.set(values.by);
    },
  };
}

/** The picture that is asked about, large. */
function preview() {
  const image = h('img', { width: 96, height: 96, alt: '' });
  const canvas = h('canvas', { role: 'img', 'aria-label': 'your picture', hidden: true });
  const says = h('p', { class: 'trace-says' });
  return {
    el: h('div', { class: 'trace-asked' }, image, canvas, says),
    set: (picture: number, own: DecodedImage | null): void => {
      image.hidden = picture === OWN;
      canvas.hidden = !image.hidden || own === null;
      if (picture !== OWN) {
        image.src = emojiUrl(picture);
        image.alt = `picture of ${EMOJI[picture].caption}`;
      } else if (own !== null) {
        [canvas.width, canvas.height] = [own.width, own.height];
        const data = new ImageData(own.width, own.height);
        data.data.set(own.data);
        canvas.getContext('2d')?.putImageData(data, 0, 0);
      }
    },
    says: (answer: TraceAnswer | null): void => {
      if (answer === null) return says.replaceChildren();
      const best = (p: readonly number[]): number => p.indexOf(Math.max(...p));
      const [before, after] = [best(answer.before), best(answer.after)];
      says.replaceChildren('It says ', h('strong', {}, quoted(after)), '. ');
      says.append(before === after ? 'So it did before training.' : `Before training it said ${quoted(before)}.`);
    },
  };
}

/** How the adapter was trained, in words. */
const aboutOf = ({ about }: TraceAnswer): string => {
  const { parameters, pairs, swapped, iterations } = about;
  const numbers = parameters.toLocaleString('en');
  return `Trained here: ${numbers} numbers on ${pairs} pairs, ${swapped} of them with a swapped caption, in ${iterations} iterations.`;
};

/** The part below: what is removed, and what comes of it. */
function removalPart(host: TraceHost, first: () => number[]) {
  const remove = button(`Remove the first ${FIRST} against it`, () => host.change({ remove: first() }));
  const back = button('Put all back', () => host.change(FRESH));
  const retrain = toggle('train again without them, to check', (value) => host.change({ retrain: value }));
  const table = h('div', { class: 'trace-effect' });
  return {
    el: h(
      'section',
      { class: 'trace-part' },
      h('h3', {}, 'What would removing them do?'),
      controls(remove, back, retrain.el),
      table,
    ),
    set: ({ remove: rows, retrain: again }: TraceValues): void => {
      retrain.set(again);
      back.disabled = rows.length === 0;
      retrain.el.querySelector('input')?.toggleAttribute('disabled', rows.length === 0);
    },
    draw: ({ sources, removal }: Found): void => {
      remove.disabled = sources === null;
      const none = h('p', {}, 'Nothing is removed. Mark pairs above, or press the button.');
      table.replaceChildren(removal === null ? none : removalOf(removal));
    },
  };
}

/** The answer and the pairs behind it, side by side. */
function resultParts(host: TraceHost) {
  const asked = preview();
  const [ranking, about, list] = [h('div', { class: 'scroll' }), h('p', { class: 'trace-about' }), h('div')];
  return {
    el: h(
      'div',
      { class: 'columns' },
      h('section', {}, h('h3', {}, 'What it says'), asked.el, ranking, about),
      h('section', {}, h('h3', {}, 'The training pairs behind it'), list),
    ),
    asked: asked.set,
    draw: ({ by, swaps, remove: removed }: TraceValues, { answer, sources }: Found): void => {
      asked.says(answer);
      ranking.replaceChildren(...(answer === null ? [] : rankingOf(answer)));
      about.textContent = answer === null ? '' : aboutOf(answer);
      const focused = document.activeElement?.getAttribute('data-row');
      const remove = (rows: readonly number[]): void => host.change({ remove: rows });
      list.replaceChildren(...(sources === null ? [] : sourcesOf(sources, { by, swaps, removed, remove })));
      if (focused != null) list.querySelector<HTMLElement>(`[data-row="${focused}"]`)?.focus();
    },
  };
}

/** What stands there before the model is loaded. */
function gatePart(host: TraceHost): HTMLElement {
  const what = 'This figure runs a whole CLIP model in the page, and trains an adapter for it: some seconds of work.';
  const load = button('Load the small CLIP (1.8 MB)', () => host.change({ on: true }));
  return h('div', { class: 'trace-gate' }, h('p', {}, what), load);
}

/** The whole figure but for its status. */
export function traceView(host: TraceHost, pictures: Picker) {
  let first: number[] = [];
  const [gate, question, results] = [gatePart(host), questionControls(host), resultParts(host)];
  const removal = removalPart(host, () => first);
  const work = h('div', { class: 'trace-work' }, question.el, pictures.el, results.el, removal.el);
  pictures.dropOn(work);
  return {
    els: [gate, work],
    set: (values: TraceValues, own: DecodedImage | null): void => {
      gate.hidden = values.on;
      work.hidden = !values.on;
      question.set(values);
      pictures.set(values.picture);
      results.asked(values.picture, own);
      removal.set(values);
    },
    draw: (values: TraceValues, found: Found): void => {
      const against = found.sources === null ? [] : sidesOf(found.sources, values.by).against;
      first = against.slice(0, FIRST).map(({ row }) => row);
      results.draw(values, found);
      removal.draw(found);
    },
  };
}
