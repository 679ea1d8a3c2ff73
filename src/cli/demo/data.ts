// The demo's data: Twemoji with their names, split at random into pairs to train on and pairs to measure on.

import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { EcifError } from '../../array/errors.ts';
import { createRng } from '../../array/rng.ts';
import { drawList, listEmoji, type PairToDraw } from '../../data/emoji.node.ts';
import type { DemoPlaces, DemoSettings } from './settings.ts';

/** Left out: at this size most are three stripes, and the small CLIP was not trained on them. */
const FLAGS = 'Flags';
/** Pixels a side, as the small CLIP takes them. */
const SIDE = 32;

/**
 * Chooses the pairs of a seed.
 * @throws EcifError when a package is missing or holds too few
 */
export async function choosePairs(
  { pairs, held }: DemoSettings,
  seed: number,
): Promise<{ readonly trained: PairToDraw[]; readonly held: PairToDraw[] }> {
  const all = (await listEmoji()).filter(({ group }) => group !== FLAGS);
  if (all.length < pairs + held) {
    throw new EcifError(`demo: ${all.length} emoji for ${pairs + held} pairs; install @twemoji/svg 15 or later`);
  }
  const chosen = Array.from(
    createRng(seed)
      .permutation(all.length)
      .slice(0, pairs + held),
    (i): PairToDraw => {
      const { caption, file } = all[i];
      const id = basename(file, '.svg');
      return { image: `${id}.png`, caption, id, picture: file };
    },
  );
  return { trained: chosen.slice(0, pairs), held: chosen.slice(pairs) };
}

/** Draws the pairs of a seed, unless their lists are there. */
export async function drawDemo(
  { pictures, trained, held }: DemoPlaces,
  chosen: Awaited<ReturnType<typeof choosePairs>>,
): Promise<void> {
  for (const [list, pairs] of [[trained, chosen.trained] as const, [held, chosen.held] as const]) {
    if (!existsSync(list)) await drawList(pictures, basename(list), pairs, SIDE);
  }
}
