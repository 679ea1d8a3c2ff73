// Character references of HTML turned into text, as Python's html.unescape does it.

import { htmlEntities } from './html-entities.ts';

const REFERENCE = /&(#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[^\t\n\f <&#;]{1,32};?)/gu;
const UNKNOWN = '\ufffd';

/** What 0x80…0x9f mean: the characters Windows has there, where it has one. */
const WINDOWS =
  '\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f' +
  '\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178';

let table: ReadonlyMap<string, string> | undefined;

/** True for control characters and for codes that Unicode keeps for no character. */
function isNoCharacter(code: number): boolean {
  const control = (code < 0x20 && ![0x9, 0xa, 0xc].includes(code)) || code === 0x7f;
  return control || (code >= 0xfdd0 && code <= 0xfdef) || (code & 0xfffe) === 0xfffe;
}

function fromCode(code: number): string {
  if (code === 0xd) return '\r';
  if (code >= 0x80 && code <= 0x9f) return WINDOWS[code - 0x80];
  if (code === 0 || (code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff) return UNKNOWN;
  return isNoCharacter(code) ? '' : String.fromCodePoint(code);
}

/** The text of a name, or of the longest name it begins with. */
function fromName(name: string): string {
  table ??= htmlEntities();
  for (let end = name.length; end > 1; end--) {
    const text = table.get(name.slice(0, end));
    if (text !== undefined) return text + name.slice(end);
  }
  return `&${name}`;
}

/**
 * Text with the character references in it replaced.
 * @example unescapeHtml('&lt;b&gt; &#233;'); // '<b> é'
 */
export function unescapeHtml(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(REFERENCE, (_, reference: string) => {
    if (!reference.startsWith('#')) return fromName(reference);
    const hexadecimal = /^#[xX]/.test(reference);
    return fromCode(parseInt(reference.slice(hexadecimal ? 2 : 1), hexadecimal ? 16 : 10));
  });
}
