// Chapter 6: which picture is asked about: an emoji, or one of the reader's own, chosen or dropped.

import type { DecodedImage } from '../../src/index.ts';
import { uniqueId } from '../app/controls.ts';
import { h } from '../app/dom.ts';
import { EMOJI } from '../data/emoji.gen.ts';
import { HELD_OUT, TRACE_PAIRS } from '../maths/trace-pairs.ts';
import { OWN } from './trace-params.ts';
import { filePixels } from './trace-pixels.ts';

/** What the picker tells. */
interface Picked {
  /** @param emoji by its place */
  emoji(emoji: number): void;
  own(picture: DecodedImage): void;
}

/** The address of an emoji's picture. */
export const emojiUrl = (i: number): string => `emoji/${EMOJI[i].code}.svg`;

/** One choice: a radio button behind a picture. */
function option(name: string, i: number, choose: (i: number) => void): { el: HTMLElement; input: HTMLInputElement } {
  const input = h('input', { type: 'radio', name, value: i, onchange: () => choose(i) });
  const { caption } = EMOJI[i];
  const image = h('img', { src: emojiUrl(i), alt: caption, title: caption, width: 30, height: 30, loading: 'lazy' });
  return { el: h('label', { class: 'trace-option' }, input, image), input };
}

/**
 * Keeps the browser from leaving the page for a file that is dropped where no figure takes it.
 * @returns ends that
 */
export function guardWindow(): () => void {
  const guard = new AbortController();
  for (const kind of ['dragover', 'drop'] as const) {
    const keep = (event: DragEvent): void => {
      if (event.defaultPrevented || !event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = 'none';
    };
    window.addEventListener(kind, keep, { signal: guard.signal });
  }
  return () => guard.abort();
}

/** The picker. */
export function picker(picked: Picked) {
  const name = uniqueId('trace-picture');
  const options = new Map([...HELD_OUT, ...TRACE_PAIRS].map((i) => [i, option(name, i, picked.emoji)] as const));
  const elements = (of: readonly number[]): HTMLElement[] => of.flatMap((i) => options.get(i)?.el ?? []);
  const problem = h('p', { class: 'trace-problem', role: 'alert' });
  const file = h('input', { type: 'file', accept: 'image/*', id: uniqueId('trace-file') });
  /** Files taken; what comes of an earlier one is not shown. */
  let taken = 0;
  const take = async (blob: Blob | null | undefined): Promise<void> => {
    if (blob == null) return;
    const turn = ++taken;
    problem.textContent = '';
    try {
      const picture = await filePixels(blob);
      if (turn === taken) picked.own(picture);
    } catch (error) {
      if (turn === taken) problem.textContent = `Not taken: ${error instanceof Error ? error.message : String(error)}.`;
    }
  };
  file.addEventListener('change', () => void take(file.files?.item(0)));
  const trained = h('details', {}, h('summary', {}, 'Or one that it was trained on'));
  trained.append(h('div', { class: 'trace-options' }, ...elements(TRACE_PAIRS)));
  const el = h(
    'fieldset',
    { class: 'trace-picker' },
    h('legend', {}, 'Ask about a picture that it was not trained on'),
    h('div', { class: 'trace-options' }, ...elements(HELD_OUT)),
    trained,
    h(
      'p',
      { class: 'trace-own' },
      h('label', { for: file.id }, 'Or a picture of your own, chosen or dropped here '),
      file,
    ),
    problem,
  );
  return {
    el,
    set: (picture: number): void => {
      options.forEach(({ input }, i) => (input.checked = i === picture));
      if (TRACE_PAIRS.includes(picture)) trained.open = true;
      if (picture !== OWN) file.value = '';
    },
    say: (text: string): void => {
      problem.textContent = text;
    },
    /** Takes what is dropped on an element. */
    dropOn: (place: HTMLElement): void => {
      for (const kind of ['dragenter', 'dragover', 'dragleave', 'drop'] as const) {
        place.addEventListener(kind, (event) => {
          event.preventDefault();
          el.classList.toggle('over', kind === 'dragenter' || kind === 'dragover');
          if (kind === 'drop') void take(event.dataTransfer?.files.item(0));
        });
      }
    },
  };
}

/** The picker on the page. */
export type Picker = ReturnType<typeof picker>;
