// docs/teaching.md: every link is a state of the playground, and every answer is what the figures' own functions compute there.

import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { type DecodedImage, type Device, openDevice } from '../../src/index.ts';
import { fileFolder } from '../../src/node.ts';
import { hashOf, stateOf, tableOf } from '../../web/app/state.ts';
import { EMOJI } from '../../web/data/emoji.gen.ts';
import { BATCH_PAIRS, batchFigure } from '../../web/figures/batch.ts';
import { questionsOf } from '../../web/figures/bounds-params.ts';
import { questionOf } from '../../web/figures/game-params.ts';
import { FIGURES } from '../../web/figures/index.ts';
import { problemOf } from '../../web/figures/removal.ts';
import { scratchAsked } from '../../web/figures/scratch.ts';
import { roundOf } from '../../web/maths/game-round.ts';
import { FUNCTIONS } from '../../web/maths/index.ts';
import type { Functions } from '../../web/maths/protocol.ts';
import { TRACE_PAIRS, traceCaptions } from '../../web/maths/trace-pairs.ts';
import { page } from './blocks.ts';

type Found = Readonly<Record<string, number | string>>;
// Values of a figure as its state holds them; each exercise knows those of its own.
type Values = Readonly<Record<string, never>>;

let device: Device;
/** Calls a function of the page as its worker would, on the CPU. */
const call = <N extends keyof Functions>(
  name: N,
  argument: Functions[N]['argument'],
): Promise<Functions[N]['result']> =>
  (FUNCTIONS[name].run as (...asked: unknown[]) => Promise<Functions[N]['result']>)(device, argument, () => undefined);

const captionOf = (emoji: number): string => EMOJI[emoji].caption;
const least = (values: readonly number[]): number => values.indexOf(Math.min(...values));
const most = (values: readonly number[]): number => values.indexOf(Math.max(...values));

const BATCH = { texts: batchFigure.params.texts.default, images: batchFigure.params.images.default };
const roles = ({ pair, t, zeta, eps, form }: Values) =>
  call('roles', { ...BATCH, temperature: t, pair, zeta, epsilon: eps, form });

/** The picture of an emoji as the page draws it, without a page. */
async function draw(emoji: number): Promise<DecodedImage> {
  const file = createRequire(import.meta.url).resolve(`@twemoji/svg/${EMOJI[emoji].code}.svg`);
  const drawn = sharp(file, { density: 144 }).resize(72, 72).flatten({ background: '#fff' }).removeAlpha();
  return { width: 72, height: 72, channels: 3, data: new Uint8Array(await drawn.raw().toBuffer()) };
}

/** An expression that can be read. */
async function scratch(values: Values) {
  const found = await call('scratch', scratchAsked(values as never));
  if (found.kind === 'wrong') throw new Error(found.message);
  return found;
}

/** What each exercise asks for, at the state that its link leads to. */
const EXERCISES: Readonly<Record<string, (values: Values) => Promise<Found>>> = {
  'batch-share': async ({ texts, images, t, pair }) => {
    const { loss, rows } = await call('batch', { texts, images, temperature: t });
    const n = BATCH_PAIRS.length;
    const row = rows.slice(pair * n, (pair + 1) * n);
    const rival = most(row.map((p, j) => (j === pair ? 0 : p)));
    return { loss, own: row[pair], rival: captionOf(BATCH_PAIRS[rival]), share: row[rival] };
  },
  'batch-warm': async ({ texts, images, t }) => {
    const n = BATCH_PAIRS.length;
    return { loss: (await call('batch', { texts, images, temperature: t })).loss, limit: 2 * n * Math.log(n) };
  },
  'roles-forms': async (values) => {
    const { neg } = await roles(values);
    const others = await Promise.all(BATCH_PAIRS.map((_, pair) => roles({ ...values, pair: pair as never })));
    const [corrected, published] = (['corrected', 'published'] as const).map((form) =>
      others.map((one) => one.neg[form]),
    );
    return {
      ...{ corrected: neg.corrected, exact: neg.exact, published: neg.published },
      leastCorrected: captionOf(BATCH_PAIRS[least(corrected)]),
      mostPublished: captionOf(BATCH_PAIRS[most(published)]),
    };
  },
  'roles-gone': async (values) => {
    const { loss, removed, full, pos, neg } = await roles(values);
    return { loss, removed, full, pos, exact: neg.exact };
  },
  'removal-ladder': async ({ t, d, batch, remove }) => {
    const problem = problemOf({ t, d, batch });
    const { theta } = await call('trained', problem);
    const { edits } = await call('removal', { problem, theta, remove });
    return {
      ...{ published: edits.published.error ?? NaN, corrected: edits.corrected.error ?? NaN },
      ...{ exact: edits['exact gradient'].error ?? NaN, newton: edits.Newton.error ?? NaN },
    };
  },
  'removal-decay': (values) => EXERCISES['removal-ladder'](values),
  'removal-score': async ({ t, d, batch }) => {
    const problem = problemOf({ t, d, batch });
    const { theta, scores } = await call('trained', problem);
    const best = most(scores.corrected);
    const { actual, newton } = await call('leftOut', { problem, theta, pair: best });
    return { pair: captionOf(problem.pairs[best]), score: scores.corrected[best], actual, newton };
  },
  'bounds-loose': async (values) => {
    const [{ error, printed, p3 }] = await call('bounds', questionsOf(values as never).here);
    return { printed: (printed ?? NaN) / error, p3: (p3 ?? NaN) / error };
  },
  'bounds-broken': async (values) => {
    const [{ error, printed, surrogate, p1 }] = await call('bounds', questionsOf(values as never).here);
    return { error, printed: printed ?? NaN, surrogate: surrogate ?? NaN, p1 };
  },
  'game-round': async (values) => {
    const asked = questionOf(values as never);
    const { detections } = await call('game', asked);
    const of = (name: string): number => detections.find(({ detector }) => detector === name)?.auroc ?? NaN;
    const { pictures, captions, wrong } = roundOf(asked);
    const first = wrong.indexOf(true);
    return {
      ecif: of('ecif'),
      clipscore: of('clipscore'),
      picture: captionOf(pictures[first]),
      caption: captionOf(captions[first]),
    };
  },
  'game-many': async (values) => {
    const { means, cosineBetter, rounds } = await call('gameRounds', { ...questionOf(values as never), rounds: 20 });
    return { ecif: means.ecif, clipscore: means.clipscore, cosine: cosineBetter, rounds };
  },
  'trace-clock': async ({ swaps, picture }) => {
    const model = await fileFolder(fileURLToPath(new URL('../../models/small-clip', import.meta.url)));
    const pictures = await Promise.all(TRACE_PAIRS.map(draw));
    const asked = { model, pictures, swaps, picture: await draw(picture), caption: picture as number };
    const { before, after } = await call('traceAnswer', asked);
    await model.close();
    const heart = EMOJI.findIndex(({ caption }) => caption === 'beating heart');
    const row = traceCaptions(swaps).indexOf(heart);
    return { before: captionOf(most(before)), after: captionOf(most(after)), source: captionOf(TRACE_PAIRS[row]) };
  },
  'scratch-passes': async (values) => {
    const ops = async (view: string): Promise<number> =>
      (await scratch({ ...values, view: view as never })).graph.nodes.filter(({ op }) => op !== null).length;
    const { graph } = await scratch({ ...values, view: 'gradient' as never });
    const first = graph.nodes.find(({ pass }) => pass === 'backward')?.op ?? '';
    return { value: await ops('value'), gradient: await ops('gradient'), product: await ops('product'), first };
  },
  'scratch-squares': async (values) => {
    const { product, variables } = await scratch(values);
    const x = variables.find(({ name }) => name === 'x')!.values;
    const byHand = 2 * [0, 1, 2, 3].reduce((sum, i) => sum + x[3 * i] ** 2, 0);
    return { product: product[0], byHand, zero: Math.max(...[1, 3, 5].map((i) => Math.abs(product[i]))) };
  },
  'scratch-step': async (values) => {
    const { differences } = await scratch(values);
    const at = (step: number): number =>
      differences.curve.find((one) => Math.abs(one.step / step - 1) < 1e-9)?.slope ?? NaN;
    return {
      best: Math.log10(differences.curve[least(differences.curve.map(({ slope }) => slope))].step),
      large: at(0.1) / at(0.01),
    };
  },
};

/** An exercise of the page: its name, where its link leads, the answers it gives. */
interface Exercise {
  readonly name: string;
  readonly hash: string;
  readonly answers: Readonly<Record<string, string>>;
}

const ADDRESS = 'http://127.0.0.1:8080/';

/** Hashes of the links to the playground in a text. */
const linksIn = (text: string): string[] =>
  [...text.matchAll(/\]\((?:<([^>]*)>|([^)]*))\)/g)]
    .map(([, quoted, bare]) => quoted ?? bare)
    .filter((link) => link.startsWith(ADDRESS))
    .map((link) => link.slice(ADDRESS.length));

/** The exercises of a page, each from its mark to the next. */
function exercisesIn(text: string): Exercise[] {
  const parts = text.split(/<!-- exercise: ([\w-]+) -->/).slice(1);
  return Array.from({ length: parts.length / 2 }, (_, i) => {
    const [name, body] = [parts[2 * i], parts[2 * i + 1]];
    const hash = linksIn(body)[0] ?? '';
    const answers = [...body.matchAll(/<!-- answer: ([\w-]+) -->\*\*([^*\n]+)\*\*/g)].map(([, key, value]) => [
      key,
      value,
    ]);
    return { name, hash, answers: Object.fromEntries(answers) as Record<string, string> };
  });
}

/** A number as the page writes it, with as many digits as it gives. */
function asWritten(x: number, like: string): string {
  const digits = /\.(\d+)/.exec(like)?.[1].length ?? 0;
  return x.toFixed(digits).replace('-', '−');
}

const plain = (text: string): string => text.replaceAll(/[,\s]/g, '');

const text = page('docs/teaching.md');
const exercises = exercisesIn(text);
const table = tableOf(FIGURES);

describe('docs/teaching.md', () => {
  beforeAll(async () => {
    device = await openDevice({ kind: 'cpu' });
  });

  it('has the exercises that are computed here, in every chapter', () => {
    expect(exercises.map(({ name }) => name).toSorted()).toEqual(Object.keys(EXERCISES).toSorted());
    expect(new Set(exercises.map(({ name }) => name.split('-')[0]))).toEqual(new Set(FIGURES.map(({ name }) => name)));
    expect(text.match(/<!-- answer: /g)).toHaveLength(
      exercises.reduce((sum, { answers }) => sum + Object.keys(answers).length, 0),
    );
  });

  it('has links to states, each written as the page itself writes it', () => {
    const links = linksIn(text);
    expect(links.length).toBeGreaterThanOrEqual(exercises.length);
    for (const hash of links) expect(hashOf(table, stateOf(table, hash))).toBe(hash);
    for (const { name, hash } of exercises) {
      expect((stateOf(table, hash).get('') as unknown as { at: string }).at, name).toBe(name.split('-')[0]);
    }
  });

  it('divides 45 minutes', () => {
    const minutes = [...text.matchAll(/^\| (\d+)–(\d+) \|/gm)].map(([, from, to]) => [Number(from), Number(to)]);
    expect(minutes.length).toBeGreaterThan(5);
    minutes.forEach(([from, to], i) => expect([from, to > from]).toEqual([i === 0 ? 0 : minutes[i - 1][1], true]));
    expect(minutes.at(-1)?.[1]).toBe(45);
  });

  it.each(exercises)('answers $name as the figure does', async ({ name, hash, answers }) => {
    const found = await EXERCISES[name](stateOf(table, hash).get(name.split('-')[0]) as never);
    expect(Object.keys(answers).toSorted()).toEqual(Object.keys(found).toSorted());
    for (const [key, value] of Object.entries(found)) {
      const said = answers[key];
      expect(plain(said), `${name}, ${key}`).toBe(plain(typeof value === 'string' ? value : asWritten(value, said)));
    }
  });
});
