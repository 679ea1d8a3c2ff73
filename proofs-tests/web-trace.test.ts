// Chapter 6 of the playground: answers, sources and removals against the library by other ways.

import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { openRanker } from '../examples/rank.ts';
import { Flat } from '../src/autodiff/flat.ts';
import * as ecif from '../src/index.ts';
import { type FileFolder, fileFolder } from '../src/node.ts';
import { EMOJI } from '../web/data/emoji.gen.ts';
import type { Report } from '../web/maths/computation.ts';
import { FUNCTIONS } from '../web/maths/index.ts';
import { trained } from '../web/maths/trace-model.ts';
import { FIRST_ASKED, HELD_OUT, TRACE_BATCH, TRACE_PAIRS, traceCaptions } from '../web/maths/trace-pairs.ts';
import type { TraceAnswer, TraceAsked, TraceRemoval, TraceSources } from '../web/maths/trace.ts';

const SIDE = 72;
const { resolve } = createRequire(import.meta.url);

/** The picture of an emoji. */
async function draw(emoji: number): Promise<ecif.DecodedImage> {
  const file = resolve(`@twemoji/svg/${EMOJI[emoji].code}.svg`);
  const drawn = sharp(file, { density: 144 }).resize(SIDE, SIDE).flatten({ background: '#fff' }).removeAlpha();
  return { width: SIDE, height: SIDE, channels: 3, data: new Uint8Array(await drawn.raw().toBuffer()) };
}

const place = (name: string): number => EMOJI.findIndex(({ caption }) => caption === name);
/** The training pair of a picture. */
const rowOf = (name: string): number => TRACE_PAIRS.indexOf(place(name));

describe('the trace of a mistake', () => {
  let [device, folder, asked]: [ecif.Device, FileFolder, TraceAsked] = [] as never;
  let [answer, found, removal]: [TraceAnswer, TraceSources, TraceRemoval] = [] as never;
  const told: [string, number | null][] = [];
  const report: Report = (text, share) => void told.push([text, share]);
  const remove = ['seven o’clock', 'beating heart', 'weary face'].map(rowOf);

  beforeAll(async () => {
    device = await ecif.openDevice({ kind: 'cpu' });
    folder = await fileFolder(fileURLToPath(new URL('../models/small-clip', import.meta.url)));
    const pictures = await Promise.all(TRACE_PAIRS.map(draw));
    asked = { model: folder, pictures, swaps: 4, picture: await draw(FIRST_ASKED), caption: FIRST_ASKED };
    answer = await FUNCTIONS.traceAnswer.run(device, asked, report);
    found = await FUNCTIONS.traceSources.run(device, asked, report);
    removal = await FUNCTIONS.traceRemoval.run(device, { ...asked, remove, retrain: true }, report);
    return () => folder.close();
  }, 60_000);

  /** H⁻¹·∇ of the question and the objective, over pixels and all layers, none of them kept. */
  async function independent() {
    const { config, preprocess, tokenizer } = await ecif.openClipDirectory(folder);
    const { encode } = await tokenizer();
    const { clip, theta, start, loss } = await trained(device, asked, report);
    const captions = traceCaptions(asked.swaps).map((i) => encode(EMOJI[i].caption));
    const batch = async (rows: Uint32Array): Promise<ecif.ClipBatch> => {
      const pixels = Array.from(rows, (row) => [...ecif.preprocess(asked.pictures[row], preprocess)]);
      const ids = Array.from(rows, (row) => captions[row]);
      return ecif.clipBatch(config, device, ids, Float32Array.from(pixels.flat()));
    };
    const model = ecif.clipModel(clip.model.clip, clip.lora);
    const whole = { model, partitions: loss.partitions, batch, l2: loss.l2, centre: start };
    const pixels = Float32Array.from(ecif.preprocess(asked.picture, preprocess));
    const side = config.vision.imageSize;
    const texts = ecif.textBatch(
      config,
      device,
      EMOJI.map(({ caption }) => encode(caption)),
    );
    const g = ecif.grad((t: ecif.Adapter) => {
      const v = ecif.embedImages(model.net(t), config, ecif.tensor(device, pixels, [1, 3, side, side]));
      const s = ecif.mul(ecif.matmul(v, ecif.embedTexts(model.net(t), config, texts), { form: 'nt' }), model.scale(t));
      return ecif.sum(ecif.neg(ecif.slice(ecif.logSoftmax(s), [0, FIRST_ASKED], [1, 1])));
    })(theta);
    return { theta, whole, g };
  }

  it('trains on 32 pairs with 8 swapped captions until the gradient vanishes', () => {
    expect(new Set(TRACE_PAIRS).size).toBe(2 * TRACE_BATCH);
    expect(HELD_OUT).toHaveLength(EMOJI.length - 32);
    expect(traceCaptions(4).filter((caption, row) => caption !== TRACE_PAIRS[row])).toHaveLength(8);
    expect(traceCaptions(4).toSorted((a, b) => a - b)).toEqual(TRACE_PAIRS.toSorted((a, b) => a - b));
    expect(traceCaptions(0)).toEqual(TRACE_PAIRS);
    expect(answer.about).toMatchObject({ pairs: 32, swapped: 8, status: 'converged', parameters: 8 * (384 + 96) });
    expect(answer.about.gradientNorm).toBeLessThan(32e-5);
    expect(answer.about.objective.after).toBeLessThan(answer.about.objective.before);
    expect(told.every(([, share]) => share === null || (share >= 0 && share <= 1))).toBe(true);
  });

  it('answers before training as the small CLIP does through all its layers', async () => {
    const rank = await openRanker(folder, device);
    const captions = EMOJI.map(({ caption }) => caption);
    for (const { caption, probability } of await rank(asked.picture, captions)) {
      expect(Math.abs(answer.before[captions.indexOf(caption)] - probability)).toBeLessThan(1e-12);
    }
  });

  it('makes a mistake of a right answer, and names the swapped captions as its sources', () => {
    const best = (p: readonly number[]): string => EMOJI[p.indexOf(Math.max(...p))].caption;
    expect([best(answer.before), best(answer.after)]).toEqual(['twelve-thirty', 'broken heart']);
    const against = found.sources.filter(({ score }) => score < 0);
    const by = (key: 'score' | 'relative') => against.toSorted((a, b) => Math.abs(b[key]) - Math.abs(a[key]));
    const three = by('score').slice(0, 3);
    expect(new Set(three.map(({ row }) => row))).toEqual(new Set(remove));
    expect(by('relative')[0].row).toBe(rowOf('seven o’clock'));
  });

  it('scores and relative scores are those of solves and gradients over pixels', async () => {
    const { theta, whole, g } = await independent();
    const [h, flat] = [ecif.cgSolver(whole, theta, { tolerance: 1e-5, products: 'linearized' }), new Flat(theta)];
    const w = await h.solve(g);
    const sourceOf = (row: number) => found.sources.find((one) => one.row === row)!;
    for (const row of [remove[0], rowOf('skull')]) {
      const [score] = await ecif.removalScores(whole, theta, [row], [w]);
      expect(Math.abs(sourceOf(row).score - score)).toBeLessThan(1e-4 * Math.abs(score));
      expect(sourceOf(row).parts.positive + sourceOf(row).parts.negative).toBeCloseTo(sourceOf(row).score, 12);
    }
    const members = whole.partitions[0].find((rows) => rows.includes(remove[0]))!;
    const batch = await whole.batch(members);
    const influence = async (term: typeof ecif.posTerm): Promise<Float64Array> => {
      const at = ecif.grad((t: ecif.Adapter) => {
        const { t2i, i2t } = term(ecif.similarities(whole.model, t, batch), [members.indexOf(remove[0])]);
        return ecif.add(t2i, i2t);
      })(theta);
      return flat.toVector(await h.solve(at));
    };
    const [p, n] = [await influence(ecif.posTerm), await influence((s, e) => ecif.negTerm(s, e, 'corrected'))];
    const exact = ecif.relativeScore(p, n, await flat.toVector(g));
    const { relative, error } = sourceOf(remove[0]);
    expect(Math.abs(relative - exact)).toBeLessThan(3 * error);
    expect(error).toBeLessThan(exact / 4);
    h.dispose();
  });

  it('an edit in memory does what training again does, and more than the first order says', () => {
    const { before, predicted, edited, retrained } = removal;
    expect(before.loss).toBeCloseTo(answer.loss.after, 12);
    const scores = found.sources.filter(({ row }) => remove.includes(row)).reduce((sum, { score }) => sum + score, 0);
    expect(Math.sign(predicted - before.loss)).toBe(Math.sign(scores));
    expect(Math.abs(edited.loss - retrained!.loss)).toBeLessThan(0.02 * (before.loss - retrained!.loss));
    expect([before.says, edited.says, retrained!.says].map((i) => EMOJI[i].caption)).toEqual([
      'broken heart',
      'twelve-thirty',
      'twelve-thirty',
    ]);
    expect(edited.probability).toBeCloseTo(Math.exp(-edited.loss), 12);
  });

  it('is there at once when it is asked again, and takes the likeliest caption where none is given', async () => {
    expect(await FUNCTIONS.traceSources.run(device, asked, report)).toBe(found);
    const open = await FUNCTIONS.traceAnswer.run(device, { ...asked, caption: null }, report);
    expect(EMOJI[open.caption].caption).toBe('broken heart');
    expect(open.after).toEqual(answer.after);
    expect(open.loss.after).toBeCloseTo(-Math.log(open.after[open.caption]), 12);
  });

  it('refuses to remove all but a pair of every batch', async () => {
    const all = TRACE_PAIRS.map((_, row) => row).filter((row) => row % TRACE_BATCH > 0);
    const run = FUNCTIONS.traceRemoval.run(device, { ...asked, remove: all, retrain: false }, report);
    await expect(run).rejects.toThrow('no batch has two pairs left; remove fewer of them');
  });
});
