// Parameters of the playground as a table, and as the hash of an address; free of the DOM.

/** One parameter: what it may be, and what it is unless told. */
export type Param =
  | { readonly kind: 'number'; readonly least: number; readonly most: number; readonly default: number }
  | { readonly kind: 'whole'; readonly least: number; readonly most: number; readonly default: number }
  | { readonly kind: 'choice'; readonly choices: readonly string[]; readonly default: string }
  | { readonly kind: 'flag'; readonly default: boolean }
  /** Whole numbers in 0…most, each at most once; sorted unless `ordered`. */
  | {
      readonly kind: 'set';
      readonly most: number;
      readonly size: number;
      readonly default: readonly number[];
      readonly ordered?: boolean;
    }
  /** A list of numbers of one length, such as coordinates. */
  | {
      readonly kind: 'list';
      readonly least: number;
      readonly most: number;
      readonly size: number;
      readonly default: readonly number[];
    }
  | { readonly kind: 'text'; readonly longest: number; readonly default: string };

/** Parameters by name. */
export type Params = Readonly<Record<string, Param>>;

/** Value of a parameter. */
export type ValueOf<P extends Param> = P extends { kind: 'number' | 'whole' }
  ? number
  : P extends { kind: 'choice'; choices: readonly (infer C)[] }
    ? C
    : P extends { kind: 'flag' }
      ? boolean
      : P extends { kind: 'set' | 'list' }
        ? readonly number[]
        : string;

/** Values of all parameters. */
export type ValuesOf<P extends Params> = { readonly [K in keyof P]: ValueOf<P[K]> };

/** Digits that a number keeps in an address. */
const DIGITS = 4;

const rounded = (x: number): number => Number(x.toPrecision(DIGITS));

const inside = (x: number, { least, most }: { least: number; most: number }): number =>
  Math.min(most, Math.max(least, x));

/** The numbers of a text, null where one is none. */
function numbersOf(text: string): number[] | null {
  if (text === '') return [];
  const numbers = text.split('_').map((part) => (part.trim() === '' ? NaN : Number(part)));
  return numbers.every(Number.isFinite) ? numbers : null;
}

/** A set as it is kept. */
function setOf(numbers: readonly number[], { most, size, ordered = false }: Extract<Param, { kind: 'set' }>): number[] {
  const kept = [...new Set(numbers.filter((x) => Number.isInteger(x) && x >= 0 && x <= most))].slice(0, size);
  return ordered ? kept : kept.sort((a, b) => a - b);
}

/** The value that a text stands for; undefined where it stands for none. */
function parse(param: Param, text: string): unknown {
  if (param.kind === 'number' || param.kind === 'whole') {
    const x = text.trim() === '' ? NaN : Number(text);
    if (!Number.isFinite(x)) return undefined;
    return inside(param.kind === 'whole' ? Math.round(x) : x, param);
  }
  if (param.kind === 'choice') return param.choices.includes(text) ? text : undefined;
  if (param.kind === 'flag') return text === '1' ? true : text === '0' ? false : undefined;
  if (param.kind === 'text') return text.slice(0, param.longest).replace(/\p{Surrogate}/gu, '');
  const numbers = numbersOf(text);
  if (numbers === null) return undefined;
  if (param.kind === 'set') return setOf(numbers, param);
  return numbers.length === param.size ? numbers.map((x) => inside(x, param)) : undefined;
}

/** A value as a text, such that parsing it gives what {@link tidy} makes of it. */
function format(param: Param, value: unknown): string {
  if (param.kind === 'flag') return value === true ? '1' : '0';
  if (param.kind === 'set' || param.kind === 'list') return (value as readonly number[]).map(rounded).join('_');
  if (param.kind === 'number') return String(rounded(value as number));
  return String(value);
}

/** Values as an address can hold them: rounded, within their ranges; what is left out or wrong is as unless told. */
export function tidy<P extends Params>(params: P, values: Partial<ValuesOf<P>>): ValuesOf<P> {
  const entries = Object.entries(params).map(([name, param]) => {
    const value = (values as Record<string, unknown>)[name];
    const kept = value === undefined ? undefined : parse(param, format(param, value));
    return [name, kept ?? param.default];
  });
  return Object.fromEntries(entries) as ValuesOf<P>;
}

/** What of some values differs from what they are unless told, as texts. */
export function written<P extends Params>(params: P, values: ValuesOf<P>): Record<string, string> {
  const pairs = Object.entries(params).map(([name, param]) => {
    const [now, usual] = [format(param, (values as Record<string, unknown>)[name]), format(param, param.default)];
    return now === usual ? [] : [[name, now]];
  });
  return Object.fromEntries(pairs.flat()) as Record<string, string>;
}

/** Values from texts; unknown names and wrong values are passed over. */
export function read<P extends Params>(params: P, texts: Readonly<Record<string, string>>): ValuesOf<P> {
  const entries = Object.entries(params).flatMap(([name, param]) => {
    const value = Object.hasOwn(texts, name) ? parse(param, texts[name]) : undefined;
    return value === undefined ? [] : [[name, value]];
  });
  return tidy(params, Object.fromEntries(entries) as Partial<ValuesOf<P>>);
}
