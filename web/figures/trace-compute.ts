// Chapter 6: the questions that the figure asks its worker, what is quick first.

import type { DecodedImage } from '../../src/index.ts';
import type { CallOptions, Computed, Engine } from '../app/engine.ts';
import { EMOJI } from '../data/emoji.gen.ts';
import type { DeviceInfo, FunctionName, Functions } from '../maths/protocol.ts';
import { TRACE_PAIRS } from '../maths/trace-pairs.ts';
import type { TraceAnswer, TraceAsked, TraceRemoval, TraceSources } from '../maths/trace.ts';
import { OWN, SUITS, type TraceValues } from './trace-params.ts';
import { emojiPixels } from './trace-pixels.ts';

/** What is known of a question. */
export interface Found {
  readonly answer: TraceAnswer | null;
  readonly sources: TraceSources | null;
  readonly removal: TraceRemoval | null;
}

export const NOTHING: Found = { answer: null, sources: null, removal: null };

/** A question with all its pixels. */
async function askedOf({ swaps, picture, caption }: TraceValues, own: DecodedImage | null): Promise<TraceAsked | null> {
  const pictures = await Promise.all(TRACE_PAIRS.map((i) => emojiPixels(EMOJI[i].code)));
  const pixels = picture === OWN ? own : await emojiPixels(EMOJI[picture].code);
  if (pixels === null) return null;
  const suiting = picture === OWN ? null : picture;
  return {
    ...{ model: new URL('model/', document.baseURI).href, pictures, swaps, picture: pixels },
    caption: caption === SUITS ? suiting : caption,
  };
}

/** Answer, sources and removal of a question, one after the other as they are there. */
export async function* traced(
  engine: Engine,
  values: TraceValues,
  own: DecodedImage | null,
  onProgress: NonNullable<CallOptions['onProgress']>,
): AsyncGenerator<{ part: Partial<Found>; device: DeviceInfo }> {
  const asked = await askedOf(values, own);
  if (asked === null) return;
  const call = <N extends FunctionName>(
    name: N,
    argument: Functions[N]['argument'],
  ): Promise<Computed<Functions[N]['result']>> => engine.call('trace', name, argument, { onProgress });
  const answer = await call('traceAnswer', asked);
  yield { part: { answer: answer.value }, device: answer.device };
  const sources = await call('traceSources', asked);
  yield { part: { sources: sources.value }, device: sources.device };
  const { remove, retrain } = values;
  if (remove.length === 0) return;
  const removal = await call('traceRemoval', { ...asked, remove, retrain });
  yield { part: { removal: removal.value }, device: removal.device };
}
