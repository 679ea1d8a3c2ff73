// One state table for the page, and the address that holds it: every state is a link.

import type { Figure } from './figure.ts';
import { type Params, read, tidy, type ValuesOf, written } from './params.ts';

/** What belongs to no figure. */
export const PAGE = {
  device: { kind: 'choice', choices: ['auto', 'cpu', 'webgpu'], default: 'auto' },
  /** Chapter that the address leads to. */
  at: { kind: 'text', longest: 40, default: '' },
} as const satisfies Params;

/** Values by figure; those of the page under `''`. */
export type State = ReadonlyMap<string, ValuesOf<Params>>;

/** Parameters of the page and of its figures, by the name before the dot. */
export type Table = ReadonlyMap<string, Params>;

/** The table of some figures. */
export const tableOf = (figures: readonly Figure[]): Table =>
  new Map<string, Params>([['', PAGE], ...figures.map(({ name, params }): [string, Params] => [name, params])]);

/** The hash of a state, `#batch.t=0.5&device=cpu`; empty where all is as unless told. */
export function hashOf(table: Table, state: State): string {
  const pairs = [...table].flatMap(([name, params]) =>
    Object.entries(written(params, state.get(name) ?? tidy(params, {}))).map(
      ([key, text]) => `${name === '' ? key : `${name}.${key}`}=${encodeURIComponent(text)}`,
    ),
  );
  return pairs.length === 0 ? '' : `#${pairs.join('&')}`;
}

/** The texts of a hash, by their names. */
function textsOf(hash: string): Record<string, string> {
  const pairs = hash
    .replace(/^#/, '')
    .split('&')
    .map((part) => {
      const at = part.indexOf('=');
      return at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)];
    });
  const decoded = pairs.map(([name, text]) => {
    try {
      return [name, decodeURIComponent(text)];
    } catch {
      return [name, ''];
    }
  });
  return Object.fromEntries(decoded) as Record<string, string>;
}

/** The state of a hash; unknown names and wrong values are passed over. */
export function stateOf(table: Table, hash: string): State {
  const texts = Object.entries(textsOf(hash));
  return new Map(
    [...table].map(([name, params]) => {
      const prefix = name === '' ? '' : `${name}.`;
      const own = texts
        .filter(([key]) => key.startsWith(prefix))
        .map(([key, text]) => [key.slice(prefix.length), text]);
      return [name, read(params, Object.fromEntries(own) as Record<string, string>)];
    }),
  );
}

/** A state in which a figure has other values. */
export function changed(table: Table, state: State, name: string, patch: Readonly<Record<string, unknown>>): State {
  const params = table.get(name) ?? {};
  return new Map([...state, [name, tidy(params, { ...state.get(name), ...patch } as Partial<ValuesOf<Params>>)]]);
}
