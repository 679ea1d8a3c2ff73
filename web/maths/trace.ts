// Chapter 6: what the trained model answers about a picture, the training pairs behind it, and what removing some does.

import * as ecif from '../../src/index.ts';
import { EMOJI } from '../data/emoji.gen.ts';
import type { Report } from './computation.ts';
import { fingerprint, rowsOf, type Trained, trained, type TrainedAbout, type TrainingAsked } from './trace-model.ts';

/** A question about a picture. */
export interface TraceAsked extends TrainingAsked {
  readonly picture: ecif.DecodedImage;
  /** Whose caption is asked about; the one that the model finds likeliest unless given. */
  readonly caption: number | null;
}

/** What the model makes of a picture, before training and after. */
export interface TraceAnswer {
  readonly about: TrainedAbout;
  /** Whose caption was asked about. */
  readonly caption: number;
  /** Probability of each caption, in the order of `EMOJI`. */
  readonly before: readonly number[];
  readonly after: readonly number[];
  /** −log of the probability of the caption that was asked about. */
  readonly loss: { readonly before: number; readonly after: number };
}

/** A training pair behind an answer. */
export interface TraceSource {
  /** Place among the training pairs. */
  readonly row: number;
  /** Predicted change of the loss if the pair is removed; negative: the pair speaks against the caption. */
  readonly score: number;
  /** As the pair that is asked about, and as a negative of the others. */
  readonly parts: { readonly positive: number; readonly negative: number };
  /** The largest change of the loss for a unit of parameter change that re-weighting the pair can make. */
  readonly relative: number;
  /** Standard error of it. */
  readonly error: number;
}

/** Every training pair as a source. */
export interface TraceSources {
  readonly caption: number;
  readonly loss: number;
  /** Products with the Hessian, or with its Gauss-Newton form where it is not positive definite. */
  readonly curvature: string;
  readonly iterations: number;
  readonly sources: readonly TraceSource[];
}

/** A question with training pairs to remove. */
export interface TraceRemovalAsked extends TraceAsked {
  /** Places among the training pairs. */
  readonly remove: readonly number[];
  /** Whether to train again without them. */
  readonly retrain: boolean;
}

/** An answer after a removal. */
export interface TraceEdited {
  readonly loss: number;
  /** Of the caption that was asked about. */
  readonly probability: number;
  /** What the model then finds likeliest, and how likely. */
  readonly says: number;
  readonly saysProbability: number;
}

/** What a removal does to an answer. */
export interface TraceRemoval {
  readonly caption: number;
  readonly before: TraceEdited;
  /** Loss to first order. */
  readonly predicted: number;
  /** One Newton step on the loss without the pairs. */
  readonly edited: TraceEdited;
  readonly retrained: TraceEdited | null;
}

/** Random probes of relative scores. */
const PROBES = 24;

const likeliest = (probabilities: ArrayLike<number>): number =>
  Array.from(probabilities).reduce((best, p, i, all) => (p > all[best] ? i : best), 0);

/** A question as the library asks it: candidates are all captions, and the picture is one row more. */
type Question = ecif.Questions<ecif.Adapter, ecif.Prefix>;

function questionOf({ clip, loss }: Trained, image: ecif.Tensor, caption: number): Question {
  return {
    model: loss.model,
    batch: async (rows) => ({
      text: rowsOf(
        clip.texts,
        Array.from(rows, (row) => Math.min(row, EMOJI.length - 1)),
      ),
      image: ecif.keep(ecif.affine(image, 1, 0)),
      ends: new Int32Array(rows.length),
    }),
    candidates: Uint32Array.from(EMOJI.keys()),
    questions: [{ row: EMOJI.length, truth: caption }],
    size: EMOJI.length,
  };
}

/** A question that was opened. */
interface Opened {
  readonly at: Trained;
  readonly caption: number;
  readonly question: Question;
  readonly answer: ecif.Answer;
  close(): void;
}

async function open(at: Trained, asked: TraceAsked): Promise<Opened> {
  const image = at.clip.images([asked.picture]);
  const [first] = await ecif.answersOf(questionOf(at, image, asked.caption ?? 0), at.theta);
  const caption = asked.caption ?? likeliest(first.probabilities);
  const loss = -Math.log(first.probabilities[caption]);
  const answer = asked.caption === null ? { ...first, loss } : first;
  return { at, caption, question: questionOf(at, image, caption), answer, close: () => image.dispose() };
}

/** Answers that are kept for each trained adapter, so that what is asked again is there at once. */
const KEPT = 64;
const answered = new WeakMap<Trained, Map<string, unknown>>();

/** What `make` makes of a question, or what it made of the same one before. */
async function remembered<R>(
  device: ecif.Device,
  asked: TraceAsked,
  report: Report,
  kind: string,
  make: (opened: Opened) => Promise<R>,
): Promise<R> {
  const at = await trained(device, asked, report);
  const known = answered.get(at) ?? new Map<string, unknown>();
  answered.set(at, known);
  const key = `${kind} ${asked.caption} ${fingerprint([asked.picture])}`;
  const found = known.get(key) as R | undefined;
  if (found !== undefined) return found;
  const opened = await open(at, asked);
  try {
    const made = await make(opened);
    if (known.size >= KEPT) known.clear();
    known.set(key, made);
    return made;
  } finally {
    opened.close();
  }
}

/** What the model answers. */
export const traceAnswer = (device: ecif.Device, asked: TraceAsked, report: Report): Promise<TraceAnswer> =>
  remembered(device, asked, report, 'answer', answerOf);

async function answerOf({ at, caption, question, answer }: Opened): Promise<TraceAnswer> {
  const [untrained] = await ecif.answersOf(question, at.start);
  return {
    about: at.about,
    caption,
    before: [...untrained.probabilities],
    after: [...answer.probabilities],
    loss: { before: untrained.loss, after: answer.loss },
  };
}

/** w = H⁻¹·∇ of the loss of a question. */
async function solvedFor({ at: { h, theta }, question }: Opened, report: Report) {
  report('solving H·w = ∇', null);
  const [{ gradient }] = await ecif.questionGradients(question, theta);
  const w = await h.solve(gradient);
  ecif.disposeTree(gradient);
  const { curvature, iterations } = h.history[h.history.length - 1];
  return { w, curvature, iterations };
}

const probesOf = new WeakMap<Trained, Awaited<ReturnType<typeof drawn>>>();

/** Relative residual of the solves for probes, whose own spread is far larger. */
const ROUGH = 0.01;

/** Probes with H⁻¹ of each: the same for every question. */
async function drawn({ theta, loss }: Trained, report: Report) {
  const rng = ecif.createRng(1);
  const h = ecif.cgSolver(loss, theta, { tolerance: ROUGH, products: 'linearized' });
  const [probes, solved]: [ecif.Adapter[], ecif.Adapter[]] = [[], []];
  for (let i = 0; i < PROBES; i++) {
    report('probes for relative influence', i / PROBES);
    const entries = Object.entries(theta).map(([name, { device, shape, size }]) => {
      const values = Float64Array.from({ length: size }, () => rng.normal());
      return [name, ecif.keep(ecif.tensor(device, values, shape))] as const;
    });
    const probe = Object.fromEntries(entries);
    probes.push(probe);
    solved.push(await h.solve(probe));
  }
  h.dispose();
  return { exact: false, probes, solved };
}

/** Every training pair as a source of the answer: one solve, and one sweep. */
export const traceSources = (device: ecif.Device, asked: TraceAsked, report: Report): Promise<TraceSources> =>
  remembered(device, asked, report, 'sources', (opened) => sourcesOf(opened, report));

async function sourcesOf(opened: Opened, report: Report): Promise<TraceSources> {
  const { at, caption, answer } = opened;
  const { w, curvature, iterations } = await solvedFor(opened, report);
  const probes = probesOf.get(at) ?? (await drawn(at, report));
  probesOf.set(at, probes);
  report('one sweep over the training pairs', null);
  const sources: TraceSource[] = [];
  for await (const { pairs } of ecif.streamScores(at.loss, at.theta, { targets: [w], probes })) {
    for (const { row, scores, relative } of pairs) {
      const [{ score, positive, negative }, { value, standardError }] = [scores[0], relative[0]];
      sources.push({ row, score, parts: { positive, negative }, relative: value, error: standardError });
    }
  }
  ecif.disposeTree(w);
  return { caption, loss: answer.loss, curvature, iterations, sources };
}

/** An answer for the page. */
function editedOf({ loss, probabilities }: ecif.Answer, caption: number): TraceEdited {
  const says = likeliest(probabilities);
  return { loss, probability: probabilities[caption], says, saysProbability: probabilities[says] };
}

/** The answer of the model at other parameters, which are given back. */
async function answerAt({ question, caption }: Opened, theta: ecif.Adapter): Promise<TraceEdited> {
  const [answer] = await ecif.answersOf(question, theta);
  ecif.disposeTree(theta);
  return editedOf(answer, caption);
}

/** What removing pairs does to the answer: predicted, edited, and trained again if asked for. */
export function traceRemoval(device: ecif.Device, asked: TraceRemovalAsked, report: Report): Promise<TraceRemoval> {
  const rows = [...new Set(asked.remove)].sort((a, b) => a - b);
  return remembered(device, asked, report, `removal ${rows.join()} ${asked.retrain}`, (opened) =>
    removalOf(opened, rows, asked.retrain, report),
  );
}

async function removalOf(
  opened: Opened,
  rows: readonly number[],
  retrain: boolean,
  report: Report,
): Promise<TraceRemoval> {
  const { at, caption, answer } = opened;
  const { loss, theta, h, solverAt } = at;
  if (ecif.batchesLeft(loss, rows).whole === 0)
    throw new ecif.EcifError('trace: no batch has two pairs left; remove fewer of them');
  const { w } = await solvedFor(opened, report);
  const [change] = await ecif.removalScores(loss, theta, rows, [w]);
  ecif.disposeTree(w);
  report('one Newton step without the pairs', null);
  const edited = await ecif.removeByRung(loss, theta, rows, 'newton', { h, solverAt });
  const without = ecif.withoutRows(loss, rows);
  const again = retrain ? await at.settle(without, theta, report, 'training again without them') : null;
  return {
    ...{ caption, before: editedOf(answer, caption), predicted: answer.loss + change },
    edited: await answerAt(opened, edited.theta),
    retrained: again === null ? null : await answerAt(opened, again.theta),
  };
}
