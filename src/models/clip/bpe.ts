// Byte-pair encoding: words as bytes, joined pair by pair in the order of a list of merges.

/** What closes the last symbol of a word. */
export const WORD_END = '</w>';

/** Bytes that stand for themselves: the printable ones of Latin-1. */
const PRINTABLE = [
  [0x21, 0x7e],
  [0xa1, 0xac],
  [0xae, 0xff],
] as const;

/** Byte and symbol in the order of the vocabulary: printable bytes first, then the others as U+0100 and on. */
const BYTE_SYMBOLS: readonly (readonly [byte: number, symbol: string])[] = (() => {
  const bytes = Array.from({ length: 256 }, (_, byte) => byte);
  const isPrintable = (byte: number): boolean => PRINTABLE.some(([first, last]) => byte >= first && byte <= last);
  return [
    ...bytes.filter(isPrintable).map((byte) => [byte, String.fromCharCode(byte)] as const),
    ...bytes.filter((byte) => !isPrintable(byte)).map((byte, i) => [byte, String.fromCharCode(256 + i)] as const),
  ];
})();

const SYMBOL_OF: readonly string[] = [...BYTE_SYMBOLS].sort(([a], [b]) => a - b).map(([, symbol]) => symbol);

/** The 256 symbols of single bytes, in the order of the vocabulary. */
export const byteAlphabet: readonly string[] = BYTE_SYMBOLS.map(([, symbol]) => symbol);

/** The key of a pair of symbols in a table of merges. */
export const pairKey = (first: string, second: string): string => `${first} ${second}`;

/** A word as symbols in a doubly linked list, with the places of every pair that can be joined. */
class Word {
  readonly symbols: string[];
  private readonly previous: Int32Array;
  private readonly next: Int32Array;
  /** Places of pairs, by rank. */
  private readonly places = new Map<number, number[]>();
  private readonly ranks: ReadonlyMap<string, number>;

  constructor(symbols: string[], ranks: ReadonlyMap<string, number>) {
    const n = symbols.length;
    this.symbols = symbols;
    this.ranks = ranks;
    this.previous = Int32Array.from({ length: n }, (_, i) => i - 1);
    this.next = Int32Array.from({ length: n }, (_, i) => (i + 1 < n ? i + 1 : -1));
    for (let i = 0; i + 1 < n; i++) this.note(i);
  }

  /** The rank of the pair that begins at a place. */
  private rankAt(place: number): number | undefined {
    if (place < 0 || this.symbols[place] === '' || this.next[place] < 0) return undefined;
    return this.ranks.get(pairKey(this.symbols[place], this.symbols[this.next[place]]));
  }

  private note(place: number): void {
    const rank = this.rankAt(place);
    if (rank === undefined) return;
    const places = this.places.get(rank);
    if (places === undefined) this.places.set(rank, [place]);
    else places.push(place);
  }

  /** Joins the pair that begins at a place; the second place falls empty. */
  private join(place: number): void {
    const second = this.next[place];
    this.symbols[place] += this.symbols[second];
    this.symbols[second] = '';
    const after = this.next[second];
    this.next[place] = after;
    if (after >= 0) this.previous[after] = place;
  }

  /** Joins every pair of the lowest rank, from left to right; false if none is left. */
  joinBest(): boolean {
    if (this.places.size === 0) return false;
    let best = Infinity;
    for (const rank of this.places.keys()) if (rank < best) best = rank;
    const places = this.places.get(best) ?? [];
    this.places.delete(best);
    const joined = places.filter((place) => {
      const fits = this.rankAt(place) === best;
      if (fits) this.join(place);
      return fits;
    });
    for (const place of joined) {
      this.note(place);
      this.note(this.previous[place]);
    }
    return true;
  }
}

/**
 * The symbols of a word after all merges.
 * @param text of one word
 * @param ranks order of the merges, by {@link pairKey}
 * @example bytePairs('in', new Map([['i n</w>', 0]])); // ['in</w>']
 */
export function bytePairs(text: string, ranks: ReadonlyMap<string, number>): string[] {
  const symbols = Array.from(new TextEncoder().encode(text), (byte) => SYMBOL_OF[byte]);
  if (symbols.length === 0) return [];
  symbols[symbols.length - 1] += WORD_END;
  const word = new Word(symbols, ranks);
  while (word.joinBest());
  return word.symbols.filter((symbol) => symbol !== '');
}
