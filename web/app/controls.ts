// Controls that change parameters: sliders, choices, switches, buttons, each with its label.

import { formatted, h } from './dom.ts';

/** A control: its element, and how it shows a value. */
export interface Control<V> {
  readonly el: HTMLElement;
  set(value: V): void;
}

/** What a slider is made of. */
export interface SliderOptions {
  readonly label: string;
  /** Letter of the formulas, shown behind the label. */
  readonly symbol?: string;
  readonly least: number;
  readonly most: number;
  /** Steps of the whole way; 100 unless given. Whole numbers only where `whole`. */
  readonly steps?: number;
  readonly whole?: boolean;
  /** Equal steps multiply. */
  readonly log?: boolean;
  readonly format?: (x: number) => string;
  /** @param done false while the slider is moved */
  onChange(value: number, done: boolean): void;
}

let made = 0;
/** A name that no other element has. */
export const uniqueId = (prefix: string): string => `${prefix}-${made++}`;

/** A slider with its label and value. */
export function slider(options: SliderOptions): Control<number> {
  const { label, symbol, least, most, whole = false, log = false, onChange } = options;
  const steps = whole ? most - least : (options.steps ?? 100);
  const format = options.format ?? ((x: number): string => (whole ? String(x) : formatted(x, 3)));
  const at = (x: number): number =>
    Math.round(steps * (log ? Math.log(x / least) / Math.log(most / least) : (x - least) / (most - least)));
  const value = (step: number): number => {
    const share = step / steps;
    const x = log ? least * (most / least) ** share : least + share * (most - least);
    return whole ? Math.round(x) : Number(x.toPrecision(3));
  };
  const id = uniqueId('slider');
  const input = h('input', { type: 'range', id, min: 0, max: steps, step: 1 });
  const output = h('output', { for: id, 'aria-live': 'off' });
  const tell = (x: number): void => {
    output.textContent = format(x);
    input.setAttribute('aria-valuetext', format(x));
  };
  input.addEventListener('input', () => {
    tell(value(input.valueAsNumber));
    onChange(value(input.valueAsNumber), false);
  });
  input.addEventListener('change', () => onChange(value(input.valueAsNumber), true));
  const name = h('label', { for: id }, label, ...(symbol === undefined ? [] : [' ', h('i', {}, symbol)]));
  return {
    el: h('div', { class: 'control slider' }, name, input, output),
    set: (x) => {
      const step = String(at(x));
      if (input.value !== step) input.value = step;
      tell(x);
    },
  };
}

/** One of several. */
export function choice<C extends string>(
  label: string,
  choices: Readonly<Record<C, string>>,
  onChange: (value: C) => void,
): Control<C> {
  const id = uniqueId('choice');
  const options = Object.entries<string>(choices).map(([value, text]) => h('option', { value }, text));
  const select = h('select', { id, onchange: () => onChange(select.value as C) }, ...options);
  return {
    el: h('div', { class: 'control choice' }, h('label', { for: id }, label), select),
    set: (value) => {
      select.value = value;
    },
  };
}

/** Yes or no. */
export function toggle(label: string, onChange: (value: boolean) => void): Control<boolean> {
  const input = h('input', { type: 'checkbox', onchange: () => onChange(input.checked) });
  return {
    el: h('div', { class: 'control toggle' }, h('label', {}, input, ' ', label)),
    set: (value) => {
      input.checked = value;
    },
  };
}

/** A button. */
export const button = (label: string, onClick: () => void): HTMLButtonElement =>
  h('button', { type: 'button', onclick: onClick }, label);

/** Controls in a row that wraps. */
export const controls = (...children: readonly HTMLElement[]): HTMLElement =>
  h('div', { class: 'controls' }, ...children);
