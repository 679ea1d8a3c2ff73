// JSON files read strictly: UTF-8, bounded size and depth, no key twice.

import type { ByteSource } from '../byte-source.ts';
import { bad, isObject, type Json, shown } from './fields.ts';

/** Files of settings beyond this are not what they seem. */
const LARGEST_FILE = 64 * 2 ** 20;
const DEEPEST = 64;

const codes = (text: string): number[] => Array.from(text, (c) => c.charCodeAt(0));
const [QUOTE, BACKSLASH, COLON, OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = codes('"\\:{}[]');
const BLANK = new Set(codes(' \t\r\n'));

/**
 * Text of UTF-8 bytes.
 * @throws EcifError that names the file and the field for bytes that are not UTF-8
 */
export function decodeUtf8(file: string, field: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    bad(file, field, 'found bytes that are not UTF-8', 'save the file as UTF-8');
  }
}

/** Where the string that opens at `start` closes, or the end of the text. */
function closingQuote(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === BACKSLASH) i++;
    else if (code === QUOTE) return i;
  }
  return text.length;
}

/** True if a colon follows, so that the string that ends here is a key. */
function isKey(text: string, from: number): boolean {
  let i = from;
  while (BLANK.has(text.charCodeAt(i))) i++;
  return text.charCodeAt(i) === COLON;
}

/** The key a string token stands for; a wrong escape is left for the parser to find. */
function keyOf(token: string): string {
  if (!token.includes('\\')) return token.slice(1, -1);
  try {
    return JSON.parse(token) as string;
  } catch {
    return token;
  }
}

/** Finds keys that occur twice and nesting beyond `deepest`, before anything is built from the text. */
function scan(file: string, field: string, text: string, deepest: number): void {
  const keys: (Set<string> | null)[] = [];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      const start = i;
      i = closingQuote(text, start);
      const seen = keys.at(-1);
      if (seen == null || !isKey(text, i + 1)) continue;
      const key = keyOf(text.slice(start, i + 1));
      if (seen.has(key)) bad(file, `${field} ${shown(key)}`.trim(), 'the key stands there twice', 'keep one of them');
      seen.add(key);
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      keys.push(code === OPEN_OBJECT ? new Set() : null);
      if (keys.length > deepest) {
        bad(file, field, `nested deeper than ${deepest}`, 'is this the right file?');
      }
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) keys.pop();
  }
}

/**
 * The object that JSON text holds.
 * @param file its name, for messages
 * @param field the part of the file the text is, for messages
 * @throws EcifError for text that is not JSON or no object, a key that occurs twice, or nesting too deep
 * @example parseObject('config.json', '{"projection_dim": 512}').projection_dim
 */
export function parseObject(file: string, text: string, field = 'JSON', deepest = DEEPEST): Json {
  scan(file, field, text, deepest);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    bad(file, field, `not JSON, ${(error as Error).message.slice(0, 120)}`, 'is the file complete?');
  }
  if (!isObject(value)) bad(file, field, `found ${shown(value)}`, 'give an object');
  return value;
}

/**
 * The whole of a text file.
 * @throws EcifError for a file above `largest` bytes or not in UTF-8
 */
export async function readText(source: ByteSource, largest = LARGEST_FILE): Promise<string> {
  const { name, size } = source;
  if (size > largest) bad(name, 'size', `${size} bytes, at most ${largest}`, 'is this the right file?');
  return decodeUtf8(name, 'text', await source.read(0, size));
}

/**
 * The object in a JSON file.
 * @throws EcifError that names the file and what is wrong with it
 */
export async function readObject(source: ByteSource, largest = LARGEST_FILE): Promise<Json> {
  return parseObject(source.name, await readText(source, largest));
}
