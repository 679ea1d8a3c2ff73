// Influence on the small CLIP measured: all scores, the one solve, removal against training again, what its error depends on, memory.
// `npm run bench:influence [-- scores solve removal effects memory]` runs all parts, or those named.

import * as ecif from '../src/index.ts';
import { effectRows } from './influence-effects.ts';
import { memoryRows } from './influence-memory.ts';
import { type EmojiProblem, emojiProblem } from './influence-problem.ts';
import { removalRows } from './influence-removal.ts';
import { scoreRows } from './influence-scores.ts';
import { solveRows } from './influence-solve.ts';
import { trainedEmoji, type TrainedEmoji } from './influence-training.ts';
import { chosenParts, type Parts, runParts } from './parts.ts';

/** δ for each pair: that of all parts, and a larger one beside it in the removal. */
const [L2, LARGER] = [0.5, 1];

type Train = (l2: number) => Promise<TrainedEmoji>;

const PARTS: Parts<Train> = {
  scores: async (trained) => scoreRows(await trained(L2)),
  solve: async (trained) => solveRows(await trained(L2)),
  removal: async (trained) => [
    ...(await removalRows(await trained(L2), `δ ${L2} a pair`)),
    ...(await removalRows(await trained(LARGER), `δ ${LARGER} a pair`)),
  ],
  effects: effectRows,
  memory: memoryRows,
};

const chosen = chosenParts('influence', PARTS);
const device = await ecif.openDevice();
console.log(`${device.name}\n`);
const made = new Map<number, TrainedEmoji>();
let problem: EmojiProblem | undefined;
const trained: Train = async (l2) => {
  problem ??= await emojiProblem(device);
  const found = made.get(l2) ?? (await trainedEmoji(problem, l2));
  made.set(l2, found);
  return found;
};
await runParts('influence', device.name, PARTS, chosen, trained);
