// The two pictures of chapter 4: curves over the decay, and beside them curves over the number removed or, with one
// parameter, the loss itself.

import { formatted, h } from '../app/dom.ts';
import type { Engine } from '../app/engine.ts';
import { ask, type Status } from '../app/status.ts';
import { boundsLoss } from './bounds-loss.ts';
import { questionsOf, type Values } from './bounds-params.ts';
import { type Across, type BoundsDrawing, boundsPlot } from './bounds-plot.ts';
import { curveInWords } from './bounds-table.ts';

/** Milliseconds of quiet before pictures are computed again. */
const QUIET = 150;

const BY_DECAY: Across = { label: 'weight decay δ', log: true, of: ({ decay }) => decay };
const BY_REMOVED: Across = { label: 'pairs removed |D*|', log: false, of: ({ removed }) => removed };

/** A picture, and what it was asked for. */
class Picture {
  readonly el = h('div', { class: 'bounds-picture' });
  #key = '';

  /** Whether it answers a question; it is faint while it does not. */
  answers(question: unknown): boolean {
    const same = this.#key === JSON.stringify(question);
    this.el.classList.toggle('bounds-stale', !same);
    return same;
  }

  take(question: unknown, drawn: Element): void {
    this.#key = JSON.stringify(question);
    this.el.replaceChildren(drawn);
    this.answers(question);
  }

  forget(): void {
    this.#key = '';
  }
}

/** The pictures. */
export function boundsCurves(engine: Engine, status: Status) {
  const pictures = { decay: new Picture(), removed: new Picture(), loss: new Picture() };
  const drawings: { decay?: BoundsDrawing; removed?: BoundsDrawing } = {};
  const [loss, heading, along] = [boundsLoss(), h('h3'), h('span')];
  let [turn, timer]: [number, ReturnType<typeof setTimeout> | undefined] = [0, undefined];

  /** Lets the upright lines follow the sliders. */
  const choose = ({ decay, removed }: Values): void => {
    drawings.decay?.choose(decay);
    drawings.removed?.choose(removed);
  };

  /** Asks for those pictures that do not answer the values. */
  const follow = async (values: Values, mine: number): Promise<void> => {
    const { byDecay, byRemoved, loss: curve } = questionsOf(values);
    if (!pictures.decay.answers(byDecay)) {
      await ask(engine, status, 'bounds.decay', 'bounds', byDecay, (all) => {
        drawings.decay = boundsPlot(all, BY_DECAY);
        pictures.decay.take(byDecay, drawings.decay.el);
        along.textContent = curveInWords(all);
        choose(values);
      });
    }
    if (mine !== turn) return;
    if (values.problem === 'emoji' && !pictures.removed.answers(byRemoved)) {
      await ask(engine, status, 'bounds.removed', 'bounds', byRemoved, (all) => {
        drawings.removed = boundsPlot(all, BY_REMOVED);
        pictures.removed.take(byRemoved, drawings.removed.el);
        choose(values);
      });
    }
    if (values.problem === 'line' && !pictures.loss.answers(curve)) {
      await ask(engine, status, 'bounds.loss', 'boundsLine', curve, (found) => {
        loss.set(found);
        pictures.loss.take(curve, loss.el);
      });
    }
  };

  return {
    el: h(
      'div',
      { class: 'columns bounds-columns' },
      h('div', {}, h('h3', {}, 'Over the weight decay'), pictures.decay.el),
      h('div', {}, heading, pictures.removed.el, pictures.loss.el),
    ),
    /** Where along the decay the printed theorem is broken, in words. */
    along,
    /**
     * @param again whether pictures that answer the values already are computed again
     * @returns whether one has to be computed
     */
    set: (values: Values, again: boolean): boolean => {
      const emoji = values.problem === 'emoji';
      pictures.removed.el.hidden = !emoji;
      pictures.loss.el.hidden = emoji;
      heading.textContent = emoji
        ? 'Over the number of pairs removed'
        : `Why: the loss after removal, δ = ${formatted(values.decay, 3)}`;
      if (again) Object.values(pictures).forEach((picture) => picture.forget());
      const { byDecay, byRemoved, loss: curve } = questionsOf(values);
      const known = [
        pictures.decay.answers(byDecay),
        emoji ? pictures.removed.answers(byRemoved) : pictures.loss.answers(curve),
      ];
      choose(values);
      const mine = ++turn;
      clearTimeout(timer);
      timer = setTimeout(() => void follow(values, mine), QUIET);
      return known.includes(false);
    },
    dispose: () => clearTimeout(timer),
  };
}
