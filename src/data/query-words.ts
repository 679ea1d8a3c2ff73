// The words of a query: names of columns, numbers, texts and marks, each with its place.

import { EcifError } from '../array/errors.ts';
import { shown } from './dataset.ts';

/** One word of a query. */
export interface QueryWord {
  /** A name may be a column or a keyword; a column in backquotes is no keyword. */
  readonly kind: 'name' | 'column' | 'number' | 'percent' | 'text' | 'mark' | 'end';
  readonly text: string;
  /** Where it begins, from 1. */
  readonly at: number;
}

/** Letters of a query at most. */
const LONGEST = 1000;

const WORDS: readonly (readonly [QueryWord['kind'], RegExp])[] = [
  ['percent', /^(-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*%/],
  ['number', /^(-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?![\w.])/],
  ['name', /^([A-Za-z_][\w.]*)/],
  ['column', /^`([^`]+)`/],
  ['text', /^'([^']*)'/],
  ['text', /^"([^"]*)"/],
  ['mark', /^(<=|>=|!=|<|>|=|\(|\))/],
];

/**
 * What is wrong with a query, and where.
 * @param at character, from 1
 */
export const queryError = (query: string, at: number, what: string, fix: string): EcifError =>
  new EcifError(`query ${shown(query)}: ${what} at character ${at}; ${fix}`);

/**
 * The words of a query, an empty one at the end.
 * @throws EcifError for a letter that begins no word
 */
export function queryWords(query: string): QueryWord[] {
  if (query.length > LONGEST) {
    throw new EcifError(`query: ${query.length} letters, at most ${LONGEST}; give a shorter one`);
  }
  const words: QueryWord[] = [];
  for (let at = 0; at < query.length;) {
    const rest = query.slice(at);
    const space = /^\s+/.exec(rest)?.[0].length ?? 0;
    if (space > 0) {
      at += space;
      continue;
    }
    const found = WORDS.map(([kind, form]) => ({ kind, match: form.exec(rest) })).find(({ match }) => match !== null);
    if (found === undefined || found.match === null) {
      const fix = /^['"`]/.test(rest) ? 'close the quote' : "give columns, numbers, 'texts', < <= > >= = != and ( )";
      throw queryError(query, at + 1, `found ${shown(rest[0])}`, fix);
    }
    words.push({ kind: found.kind, text: found.match[1], at: at + 1 });
    at += found.match[0].length;
  }
  return [...words, { kind: 'end', text: '', at: query.length + 1 }];
}
