// Figure of chapter 6: a picture, what the small CLIP says it is, and the training pairs that made it say so.

import type { DecodedImage } from '../../src/index.ts';
import { button, choice, controls, slider, toggle } from '../app/controls.ts';
import { h } from '../app/dom.ts';
import { Outdated } from '../app/engine.ts';
import { defineFigure, type Host } from '../app/figure.ts';
import type { ValuesOf } from '../app/params.ts';
import { Status } from '../app/status.ts';
import { EMOJI } from '../data/emoji.gen.ts';
import type { FunctionName, Functions } from '../maths/protocol.ts';
import { FIRST_ASKED, MOST_SWAPS, TRACE_PAIRS } from '../maths/trace-pairs.ts';
import type { TraceAnswer, TraceAsked, TraceRemoval, TraceSources } from '../maths/trace.ts';
import { emojiUrl, OWN, picker } from './trace-picker.ts';
import { emojiPixels } from './trace-pixels.ts';
import { quoted, rankingOf, removalOf, sidesOf, sourcesOf } from './trace-tables.ts';

/** The caption that suits the picture: its own, or for a picture of the reader what the model says. */
const SUITS = EMOJI.length;

const PARAMS = {
  /** Whether the model is loaded. */
  on: { kind: 'flag', default: false },
  swaps: { kind: 'whole', least: 0, most: MOST_SWAPS, default: MOST_SWAPS },
  picture: { kind: 'whole', least: 0, most: OWN, default: FIRST_ASKED },
  caption: { kind: 'whole', least: 0, most: SUITS, default: SUITS },
  by: { kind: 'choice', choices: ['relative', 'score'], default: 'relative' },
  remove: { kind: 'set', most: TRACE_PAIRS.length - 1, size: TRACE_PAIRS.length, default: [] },
  retrain: { kind: 'flag', default: false },
} as const;

type Values = ValuesOf<typeof PARAMS>;

/** What was computed for the values that are shown. */
interface Found {
  answer: TraceAnswer | null;
  sources: TraceSources | null;
  removal: TraceRemoval | null;
}

/** Pairs that the button removes. */
const FIRST = 3;
/** What ends with another question. */
const FRESH = { remove: [], retrain: false } as const;

/** The controls above the figure. */
function questionControls(host: Host<typeof PARAMS>) {
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
    set: (values: Values): void => {
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
function removalPart(host: Host<typeof PARAMS>, first: () => number[]) {
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
    set: ({ remove: rows, retrain: again }: Values): void => {
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

export const traceFigure = defineFigure({
  name: 'trace',
  title: 'Where did this mistake come from?',
  params: PARAMS,
  mount: (el, firstValues, host) => {
    let [values, own, turn]: [Values, DecodedImage | null, number] = [firstValues, null, 0];
    let found: Found = { answer: null, sources: null, removal: null };
    const status = new Status();
    const progress = h('progress', { max: 1, 'aria-label': 'progress', hidden: true });
    const question = questionControls(host);
    const pictures = picker({
      emoji: (picture) => host.change({ picture, caption: SUITS, ...FRESH }),
      own: (picture) => {
        own = picture;
        if (values.picture === OWN && values.caption === SUITS && values.remove.length === 0) set(values);
        else host.change({ picture: OWN, caption: SUITS, ...FRESH });
      },
    });
    const asked = preview();
    const [ranking, about] = [h('div', { class: 'scroll' }), h('p', { class: 'trace-about' })];
    const list = h('div');
    const removal = removalPart(host, () =>
      found.sources === null
        ? []
        : sidesOf(found.sources, values.by)
            .against.slice(0, FIRST)
            .map(({ row }) => row),
    );
    const load = button('Load the small CLIP (1.8 MB)', () => host.change({ on: true }));
    const gate = h(
      'div',
      { class: 'trace-gate' },
      h(
        'p',
        {},
        'This figure runs a whole CLIP model in the page, and trains an adapter for it: some seconds of work.',
      ),
      load,
    );
    const work = h(
      'div',
      { class: 'trace-work' },
      question.el,
      pictures.el,
      h(
        'div',
        { class: 'columns' },
        h('section', {}, h('h3', {}, 'What it says'), asked.el, ranking, about),
        h('section', {}, h('h3', {}, 'The training pairs behind it'), list),
      ),
      removal.el,
    );
    el.append(gate, work, progress, status.el);
    pictures.dropOn(work);

    const draw = (): void => {
      const { answer, sources } = found;
      asked.says(answer);
      ranking.replaceChildren(...(answer === null ? [] : rankingOf(answer)));
      about.textContent = answer === null ? '' : aboutOf(answer);
      const focused = document.activeElement?.getAttribute('data-row');
      list.replaceChildren(
        ...(sources === null
          ? []
          : [
              sourcesOf(sources, {
                ...{ by: values.by, swaps: values.swaps, removed: values.remove },
                remove: (rows) => host.change({ remove: rows }),
              }),
            ]),
      );
      if (focused != null) list.querySelector<HTMLElement>(`[data-row="${focused}"]`)?.focus();
      removal.draw(found);
    };

    /** Calls a function, with progress; null where another question has come. */
    const call = async <N extends FunctionName>(
      mine: number,
      name: N,
      argument: Functions[N]['argument'],
    ): Promise<Functions[N]['result'] | null> => {
      const onProgress = (text: string, share: number | null): void => {
        if (mine !== turn) return;
        status.busy(share === null ? `${text}…` : `${text}: ${Math.round(100 * share)} %`, 0);
        progress.hidden = share === null;
        progress.value = share ?? 0;
      };
      const computed = await host.engine.call('trace', name, argument, { onProgress });
      if (mine !== turn) return null;
      device = computed.device;
      return computed.value;
    };
    let device: Parameters<Status['done']>[0];

    /** Computes all that is shown, what is quick first. */
    const compute = async (mine: number): Promise<void> => {
      const { swaps, picture, caption, remove, retrain } = values;
      const model = new URL('model/', document.baseURI).href;
      const decoded = await Promise.all(TRACE_PAIRS.map((i) => emojiPixels(EMOJI[i].code)));
      const pixels = picture === OWN ? own : await emojiPixels(EMOJI[picture].code);
      if (mine !== turn || pixels === null) return;
      const suiting = picture === OWN ? null : picture;
      const argument: TraceAsked = {
        ...{ model, pictures: decoded, swaps, picture: pixels },
        caption: caption === SUITS ? suiting : caption,
      };
      const answer = await call(mine, 'traceAnswer', argument);
      if (answer === null) return;
      found = { ...found, answer };
      draw();
      const sources = await call(mine, 'traceSources', argument);
      if (sources === null) return;
      found = { ...found, sources };
      draw();
      if (remove.length > 0) {
        const after = await call(mine, 'traceRemoval', { ...argument, remove, retrain });
        if (after === null) return;
        found = { ...found, removal: after };
        draw();
      }
      progress.hidden = true;
      status.done(device);
    };

    const set = (next: Values): void => {
      const same = (...keys: readonly (keyof Values)[]): boolean =>
        keys.every((key) => JSON.stringify(values[key]) === JSON.stringify(next[key]));
      if (!same('swaps', 'picture', 'caption') || next.picture === OWN)
        found = { answer: null, sources: null, removal: null };
      else if (!same('remove', 'retrain')) found = { ...found, removal: null };
      values = next;
      const mine = ++turn;
      gate.hidden = values.on;
      work.hidden = !values.on;
      progress.hidden = true;
      question.set(values);
      pictures.set(values.picture);
      asked.set(values.picture, own);
      removal.set(values);
      draw();
      if (!values.on) return;
      const missing = values.picture === OWN && own === null;
      pictures.say(missing ? 'A picture of your own is not part of the address: choose it again.' : '');
      if (missing) return;
      status.busy();
      compute(mine).catch((error: unknown) => {
        if (mine !== turn || error instanceof Outdated) return;
        progress.hidden = true;
        status.failed(error instanceof Error ? error.message : String(error));
      });
    };
    set(firstValues);
    return {
      set,
      dispose: () => {
        turn++;
        el.replaceChildren();
      },
    };
  },
});
