// Elements in few words: HTML and SVG with attributes, children and listeners.

type Attributes = Readonly<Record<string, string | number | boolean | null | undefined | ((event: never) => void)>>;
type Child = Node | string;

/** Sets attributes; functions are listeners (`onclick`), false and null leave an attribute out. */
function attribute(el: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') el.addEventListener(name.slice(2), value as EventListener);
    else if (value === null || value === undefined || value === false) el.removeAttribute(name);
    else el.setAttribute(name, value === true ? '' : String(value));
  }
}

/** An HTML element; texts are never read as HTML. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const el = document.createElement(tag);
  attribute(el, attributes);
  el.append(...children);
  return el;
}

/** An SVG element. */
export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[K] {
  const el = document.createElementNS('http://www.w3.org/2000/svg', tag);
  attribute(el, attributes);
  el.append(...children);
  return el;
}

/** Changes attributes of an element that is there. */
export const update = (el: Element, attributes: Attributes): void => attribute(el, attributes);

/** A number for people; `data-value` beside it holds all its digits (`shown`). */
export function formatted(x: number, digits = 4): string {
  if (!Number.isFinite(x)) return x > 0 ? '∞' : x < 0 ? '−∞' : '–';
  const size = Math.abs(x);
  const text = size !== 0 && (size >= 1e5 || size < 1e-3) ? x.toExponential(digits - 1) : x.toPrecision(digits);
  return text.replace('e+', 'e').replaceAll('-', '−');
}

/** Shows a number in an element, with all its digits beside. */
export function show(el: HTMLElement | SVGElement, x: number, digits = 4): void {
  el.textContent = formatted(x, digits);
  el.dataset.value = String(x);
}

/** An element that shows a number, found by tests and style sheets by its name. */
export function shown(name: string, x?: number): HTMLOutputElement {
  const el = h('output', { 'data-name': name, 'aria-live': 'off' });
  if (x !== undefined) show(el, x);
  return el;
}
