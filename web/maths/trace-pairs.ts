// Chapter 6: which emoji the adapter is trained on, which captions may be swapped, which pictures are left to ask about.

import { EMOJI } from '../data/emoji.gen.ts';

/** The place of an emoji by its name. */
function named(name: string): number {
  const at = EMOJI.findIndex(({ caption }) => caption === name);
  if (at < 0) throw new Error(`trace: no emoji “${name}” in web/data/emoji.gen.ts; choose another for chapter 6`);
  return at;
}

/** Pairs of a batch. */
export const TRACE_BATCH = 16;

/** Pictures of the training pairs, batch after batch. */
export const TRACE_PAIRS: readonly number[] = [
  ...['beating heart', 'skull', 'carrot', 'police car', 'pig nose', 'softball', 'wind face', 'birthday cake'],
  ...['Christmas tree', 'lacrosse', 'hedgehog', 'money bag', 'tomato', 'roller skate', 'sweat droplets', 'diving mask'],
  ...['seven o’clock', 'weary face', 'white flower', 'cat face', 'bread', 'pear', 'passenger ship', 'flying disc'],
  ...['military medal', 'party popper', 'rat', 'cut of meat', 'flag in hole', 'clapper board', 'nut and bolt'],
  'disguised face',
].map(named);

/** Twosomes whose captions are exchanged, in the order in which they join. */
const SWAPS: readonly (readonly [string, string])[] = [
  ['beating heart', 'seven o’clock'],
  ['weary face', 'carrot'],
  ['tomato', 'police car'],
  ['cat face', 'softball'],
];

/** Twosomes at most. */
export const MOST_SWAPS = SWAPS.length;

/** Whose caption each training pair has, when so many twosomes are exchanged. */
export function traceCaptions(swaps: number): number[] {
  const other = new Map(
    SWAPS.slice(0, swaps).flatMap(([a, b]) => [[named(a), named(b)] as const, [named(b), named(a)]]),
  );
  return TRACE_PAIRS.map((picture) => other.get(picture) ?? picture);
}

/** Emoji that are not trained on. */
export const HELD_OUT: readonly number[] = [...EMOJI.keys()].filter((i) => !TRACE_PAIRS.includes(i));

/** The picture that is asked about at first. */
export const FIRST_ASKED = named('twelve-thirty');
