// Captions as vectors: words and character n-grams, hashed.

/** FNV-1a over UTF-16 units. */
function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return (h ^ (h >>> 15)) >>> 0;
}

/** The words of a caption, and the character triples of each with its ends marked. */
function* tokens(caption: string): Generator<string> {
  for (const word of caption.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    yield word;
    const marked = `<${word}>`;
    for (let i = 0; i + 3 <= marked.length; i++) yield `#${marked.slice(i, i + 3)}`;
  }
}

/**
 * A caption as counts of hashed tokens with a hashed sign, of length one.
 * @param size number of features
 * @example captionFeatures('red apple', 256);
 */
export function captionFeatures(caption: string, size: number): Float32Array {
  const counts = new Float32Array(size);
  for (const token of tokens(caption)) {
    const h = hash(token);
    counts[h % size] += h >>> 31 === 0 ? 1 : -1;
  }
  const norm = Math.sqrt(counts.reduce((s, x) => s + x * x, 0));
  return norm === 0 ? counts : counts.map((x) => x / norm);
}
