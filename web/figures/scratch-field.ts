// The line of chapter 7 in which an expression is written: examples, help, and what is wrong with it.

import { button, choice, uniqueId } from '../app/controls.ts';
import { formatted, h } from '../app/dom.ts';
import type { ScratchWrong, Variable } from '../maths/scratch.ts';
import { EXAMPLES, FUNCTION_WORDS, shapesOf, shapeWords } from '../maths/scratch-words.ts';

/** Operations in words. */
const SIGNS: readonly (readonly [string, string])[] = [
  ['a * b', 'product of matrices; a number scales'],
  ['a . b', 'product of entries'],
  ['a + b, a - b, a / b', 'entry by entry'],
  ["a'", 'transpose'],
  ['a^2', 'power of entries'],
];

/** What the language has. */
function help(): HTMLElement {
  const shapes = Object.entries(shapesOf(0)).map(
    ([name, shape]) => `${name} (${shapeWords(shape).replace(/^0/, 'n')})`,
  );
  const rows: (readonly [string, string])[] = [
    ...SIGNS,
    ...Object.entries(FUNCTION_WORDS).map(([words, names]) => [names.join(', '), words] as const),
  ];
  return h(
    'details',
    { class: 'scratch-help' },
    h('summary', {}, 'What can be written'),
    h(
      'p',
      {},
      `Variables with values drawn by the seed: ${shapes.join(', ')}. The expression must come to one number.`,
    ),
    h(
      'dl',
      { class: 'scratch-rules' },
      ...rows.flatMap(([code, words]) => [h('dt', {}, h('code', {}, code)), h('dd', {}, words)]),
    ),
  );
}

/** The expression with what is wrong in it marked. */
const marked = (text: string, { at, end }: ScratchWrong): HTMLElement =>
  h(
    'code',
    { class: 'scratch-wrong' },
    text.slice(0, at),
    h('mark', {}, text.slice(at, Math.max(end, at + 1)) || '␣'),
    text.slice(Math.max(end, at + 1)),
  );

/** The field. */
export function expressionField(change: (text: string, done: boolean) => void) {
  const [id, told] = [uniqueId('scratch'), uniqueId('scratch-told')];
  const input = h('input', {
    ...{ type: 'text', id, maxlength: 200, spellcheck: 'false', autocomplete: 'off', autocapitalize: 'off' },
    ...{ class: 'scratch-input', 'aria-describedby': told },
  });
  input.addEventListener('input', () => change(input.value, false));
  input.addEventListener('change', () => change(input.value, true));
  const examples = choice<string>(
    'Examples',
    { '': 'choose one…', ...Object.fromEntries(Object.keys(EXAMPLES).map((name) => [name, name])) },
    (name) => {
      if (Object.hasOwn(EXAMPLES, name)) change(EXAMPLES[name], true);
    },
  );
  const problem = h('div', { id: told, class: 'scratch-problem', 'aria-live': 'polite' });
  const values = h('p', { class: 'scratch-note' });
  return {
    el: h(
      'div',
      {},
      h(
        'div',
        { class: 'controls scratch-line' },
        h('div', { class: 'control scratch-expression' }, h('label', { for: id }, 'f ='), input),
        examples.el,
      ),
      problem,
      help(),
      values,
    ),
    set: (text: string): void => {
      if (input.value !== text) input.value = text;
      examples.set(Object.keys(EXAMPLES).find((name) => EXAMPLES[name] === text) ?? '');
    },
    /** Says what is wrong, or nothing. */
    tell: (wrong: ScratchWrong | null): void => {
      input.setAttribute('aria-invalid', String(wrong !== null));
      if (wrong === null) {
        problem.replaceChildren();
        return;
      }
      const { fix } = wrong;
      problem.replaceChildren(
        h('p', {}, `${wrong.message}.`),
        h(
          'p',
          {},
          marked(input.value, wrong),
          ...(fix === null ? [] : [' ', button(`Use ${fix}`, () => change(fix, true))]),
        ),
      );
    },
    /** Tells the values of the variables in use. */
    variables: (all: readonly Variable[]): void => {
      const words = all.map(
        ({ name, shape, values: x }) =>
          `${name} is ${shapeWords(shape)}${x.length === 1 ? `, ${formatted(x[0], 3)}` : ''}`,
      );
      values.textContent = `${words.join('; ')}.`;
    },
  };
}
