// Claims on the scores: task, self and relative, and Algorithms 2–5 that compute them.

import { createRng } from '../../array/rng.ts';
import { addScaled, dot, norm } from '../../array/vector.ts';
import {
  algorithm2Corrected,
  algorithm2Printed,
  algorithm3Corrected,
  algorithm3Printed,
  algorithm4Corrected,
  algorithm4Printed,
  algorithm5Corrected,
  algorithm5Printed,
  taskGradient,
} from '../../ecif/algorithms.ts';
import { relativeScore } from '../../ecif/relative.ts';
import { pairScores, taskScore } from '../../ecif/scores.ts';
import { solveFor } from '../../ecif/solver.ts';
import { CosineError } from '../../array/errors.ts';
import { numericGradient, plainMinimum } from '../plain.ts';
import { type Claim, off, say } from '../claim.ts';
import { plainProblem, type Setting } from '../setting.ts';
import { influences, removalDerivative } from './influence.ts';
import { treeAt } from './objective.ts';

type Vector = Float64Array;

/** How the evaluation loss starts to change on the way to removal, by training again. */
const lossDerivative = (setting: Setting): number =>
  dot(setting.plain.evaluation(setting.optimum).gradient, removalDerivative(setting));

export const taskScoreClaim: Claim = {
  id: 'prop-task-score',
  place: 'Property 5.1, Eq. 9',
  symbol: "IS(D', D*)",
  statement:
    'IS = −∇L_val·(positive-IF + negative-IF) is the first-order change of L_val if D* is removed, printed Neg.',
  correction: 'With the corrected Neg.',
  erratum: 1,
  expected: 'holds as corrected',
  async measure(setting) {
    const truth = lossDerivative(setting);
    const g = await taskGradient(setting.problem.model, setting.theta, [setting.validation]);
    const score = async (form: 'published' | 'corrected' | 'exact'): Promise<number> => {
      const { positive, negative } = await influences(setting, form);
      return taskScore(positive, negative, g);
    };
    const published = await score('published');
    return {
      printed: off(published, truth),
      corrected: off(await score('corrected'), truth),
      control: off(await score('exact'), truth),
      note: `L_val starts to change by ${say(truth)}, printed ${say(published)}`,
    };
  },
  tolerance: { float64: 1e-5, float32: 2e-2 },
  shape: { text: 3, image: 2 },
};

export const algorithm2Claim: Claim = {
  id: 'alg-2-task-score',
  place: 'Alg. 2, last step',
  symbol: 'IS',
  statement: 'IS = C·positive-IF + C·negative-IF, the score of Property 5.1.',
  correction: 'Minus that.',
  erratum: 3,
  expected: 'holds as corrected',
  async measure(setting) {
    const truth = lossDerivative(setting);
    const { positive, negative } = await influences(setting, 'corrected');
    const g = await taskGradient(setting.problem.model, setting.theta, [setting.validation]);
    const influence = { positiveIF: positive, negativeIF: negative };
    const printed = algorithm2Printed(influence, g);
    return {
      printed: off(printed, truth),
      corrected: off(algorithm2Corrected(influence, g), truth),
      control: off(-dot(g, positive), truth),
      note: `L_val starts to change by ${say(truth)}, printed ${say(printed)}`,
    };
  },
  tolerance: { float64: 1e-5, float32: 2e-2 },
  shape: { text: 3, image: 2 },
};

/** Change of the evaluation loss by retraining without each pair, and the score of each. */
async function changesAndScores(setting: Setting): Promise<number[][]> {
  const { file, problem, theta, h, optimum, validation } = setting;
  const g = await taskGradient(problem.model, theta, [validation]);
  const w = await solveFor(h, () => treeAt(setting, g));
  const scores = await pairScores(problem, theta, w, 'corrected');
  const changes = scores.map(({ batch, position }) => {
    const { removal, evaluation } = plainProblem({ ...file, remove: [file.batches[batch][position]] });
    return evaluation(plainMinimum(removal(1), optimum)).value - evaluation(optimum).value;
  });
  return [changes, scores.map((s) => s.score)];
}

export const remarkClaim: Claim = {
  id: 'erratum-03-signs',
  place: 'Remark after Property 5.1; experiments',
  symbol: 'argmax IS',
  statement: 'The most misaligned pair, the one whose removal helps most, has the largest IS, on most instances.',
  byMedian: true,
  correction: 'The smallest: IS > 0 means that removal hurts.',
  erratum: 3,
  expected: 'holds as corrected',
  tolerance: { float64: 0.05, float32: 0.05 },
  shape: { decay: 20, temperature: 1, pairs: 8, batches: 1, remove: 1, text: 2, image: 2 },
  async measure(setting) {
    const [changes, scores] = await changesAndScores(setting);
    const [best, worst] = [Math.min(...changes), Math.max(...changes)];
    const regret = (i: number): number => (changes[i] - best) / (worst - best);
    const largest = scores.indexOf(Math.max(...scores));
    const smallest = scores.indexOf(Math.min(...scores));
    const byOrder = [...scores.keys()].toSorted((a, b) => scores[a] - scores[b]);
    return {
      printed: regret(largest),
      corrected: regret(smallest),
      control: regret(byOrder[byOrder.length >> 1]),
      note: `removing argmax IS changes L_val by ${say(changes[largest])}, removing argmin by ${say(changes[smallest])}`,
    };
  },
};

/** The largest |g·v| over v = a·p + b·n of length one, by a search over the directions (a, b). */
export function constrainedMaximum(p: Vector, n: Vector, g: Vector): number {
  const along = (angle: number): number => {
    const v = addScaled(
      p.map((x) => (x * Math.cos(angle)) / norm(p)),
      Math.sin(angle) / norm(n),
      n,
    );
    return norm(v) === 0 ? 0 : Math.abs(dot(g, v)) / norm(v);
  };
  const steps = 4000;
  let best = 0;
  for (let i = 0; i < steps; i++) if (along((Math.PI * i) / steps) > along((Math.PI * best) / steps)) best = i;
  let [low, high] = [(Math.PI * (best - 1)) / steps, (Math.PI * (best + 1)) / steps];
  for (let i = 0; i < 80; i++) {
    const [a, b] = [low + (high - low) / 3, high - (high - low) / 3];
    if (along(a) < along(b)) low = a;
    else high = b;
  }
  return along((low + high) / 2);
}

/** The influences of the first removed pair and the evaluation gradient. */
async function projection(setting: Setting): Promise<{ p: Vector; n: Vector; g: Vector }> {
  const { positive, negative } = await influences(setting, 'corrected');
  const g = await taskGradient(setting.problem.model, setting.theta, [setting.validation]);
  return { p: positive, n: negative, g };
}

export const relativeClaim: Claim = {
  id: 'prop-relative-score',
  place: 'Prop. 5.3, IᵀI invertible',
  symbol: 'relative-IS',
  statement: 'The largest |∇L_val·Δθ| with ‖Δθ‖ ≤ 1 over re-weightings of the pair is ‖Pg‖²/‖g‖.',
  correction: '‖Pg‖, P the projector on span(positive-IF, negative-IF).',
  erratum: 6,
  expected: 'holds as corrected',
  shape: { text: 3, image: 3 },
  async measure(setting) {
    const { p, n, g } = await projection(setting);
    const truth = constrainedMaximum(p, n, g);
    const printed = algorithm4Printed({ positiveIF: p, negativeIF: n }, g);
    return {
      printed: off(printed, truth),
      corrected: off(relativeScore(p, n, g), truth),
      control: off(norm(g), truth),
      note: `the maximum is ${say(truth)}, printed ${say(printed)}`,
    };
  },
};

export const parallelClaim: Claim = {
  id: 'prop-relative-parallel',
  place: 'Prop. 5.3, IᵀI not invertible',
  symbol: 'relative-IS',
  statement: 'Where the influences are parallel it is |∇L_val·negative-IF|/‖negative-IF‖.',
  expected: 'holds',
  shape: { text: 3, image: 2 },
  async measure(setting) {
    const { p, g } = await projection(setting);
    const n = p.map((x) => -2.5 * x);
    const truth = constrainedMaximum(p, n, g);
    return {
      printed: Math.max(off(Math.abs(dot(g, n)) / norm(n), truth), off(relativeScore(p, n, g), truth)),
      control: off(Math.abs(dot(g, n)) / norm(p), truth),
    };
  },
};

export const algorithm4Claim: Claim = {
  id: 'alg-4-relative-score',
  place: 'Alg. 4, both branches',
  symbol: 'relative-IS',
  statement: 'Parallel: |C·negative-IF|/‖positive-IF‖; else ‖Pg‖²/‖g‖; one ranking of both.',
  correction: '‖Pg‖ in both cases.',
  erratum: 6,
  expected: 'holds as corrected',
  shape: { text: 3, image: 3 },
  async measure(setting) {
    const { p, n, g } = await projection(setting);
    const parallel = p.map((x) => -2.5 * x);
    const cases = [
      { positiveIF: p, negativeIF: n },
      { positiveIF: p, negativeIF: parallel },
    ];
    const worst = (f: (c: (typeof cases)[number]) => number): number =>
      Math.max(...cases.map((c) => off(f(c), constrainedMaximum(c.positiveIF, c.negativeIF, g))));
    return {
      printed: worst((c) => algorithm4Printed(c, g)),
      corrected: worst((c) => algorithm4Corrected(c, g)),
      control: worst((c) => Math.abs(dot(g, c.positiveIF)) / norm(c.positiveIF)),
      note: `parallel case: ${say(algorithm4Printed(cases[1], g))} printed, ${say(algorithm4Corrected(cases[1], g))} is the maximum`,
    };
  },
};

/** The error of a score that may be undefined. */
async function errorOr(f: () => Promise<number>, truth: number): Promise<number> {
  try {
    return off(await f(), truth);
  } catch (error) {
    if (error instanceof CosineError) return Infinity;
    throw error;
  }
}

/** Mean of 1 − cos over the validation pairs, and its gradient by finite differences. */
function selfGradientPlain({ file, optimum }: Setting): Vector {
  const { text, image } = file.validation;
  const q = image[0].length;
  const loss = (w: Vector): number => {
    const cos = text.map((x, k) => {
      const u = image[k].map((_, b) => x.reduce((t, xa, a) => t + xa * w[a * q + b], 0));
      return u.reduce((t, ub, b) => t + ub * image[k][b], 0) / (Math.hypot(...u) * Math.hypot(...image[k]));
    });
    return cos.reduce((t, c) => t + 1 - c, 0) / cos.length;
  };
  return numericGradient(loss, optimum, 1e-4);
}

export const algorithm3Claim: Claim = {
  id: 'alg-3-self-score',
  place: 'Alg. 3',
  symbol: 'IS with −log cos',
  statement: "C is the mean gradient of −log cos over D'; IS = C·(positive-IF + negative-IF).",
  correction: 'The mean gradient of 1 − cos, and minus the product.',
  erratum: 7,
  expected: 'holds as corrected',
  tolerance: { float64: 1e-5, float32: 2e-2 },
  shape: { text: 4, image: 3, pairs: 8, batches: 2 },
  async measure(setting) {
    const { problem, theta, validation } = setting;
    const truth = dot(selfGradientPlain(setting), removalDerivative(setting));
    const { positive, negative } = await influences(setting, 'corrected');
    const influence = { positiveIF: positive, negativeIF: negative };
    const corrected = await algorithm3Corrected(influence, problem.model, theta, validation);
    return {
      printed: await errorOr(() => algorithm3Printed(influence, problem.model, theta, validation), truth),
      corrected: off(corrected, truth),
      control: off(-corrected, truth),
      note: "a pair of D' has cos ≤ 0, where the logarithm is undefined, or the sign is the other one",
    };
  },
};

export const algorithm5Claim: Claim = {
  id: 'alg-5-relative-self-score',
  place: 'Alg. 5',
  symbol: 'relative-IS with −log cos',
  statement: 'Algorithm 4 with the mean gradient of −log cos.',
  correction: '‖Pg‖ with that of 1 − cos.',
  erratum: 7,
  expected: 'holds as corrected',
  tolerance: { float64: 1e-5, float32: 2e-2 },
  shape: { text: 4, image: 3, pairs: 8, batches: 2 },
  async measure(setting) {
    const { problem, theta, validation } = setting;
    const { positive: p, negative: n } = await influences(setting, 'corrected');
    const influence = { positiveIF: p, negativeIF: n };
    const own = selfGradientPlain(setting);
    const truth = constrainedMaximum(p, n, own);
    return {
      printed: await errorOr(() => algorithm5Printed(influence, problem.model, theta, validation), truth),
      corrected: off(await algorithm5Corrected(influence, problem.model, theta, validation), truth),
      control: off(norm(own), truth),
      note: "a pair of D' has cos ≤ 0, where the logarithm is undefined, or the norm is the wrong one",
    };
  },
};

export const logCosineClaim: Claim = {
  id: 'erratum-07-log-cosine',
  place: 'Alg. 3 and 5, evaluation loss',
  symbol: '−log cos(u, v)',
  statement: '−log cos is defined for the mismatched pairs one looks for.',
  correction: '1 − cos is, for all.',
  erratum: 7,
  expected: 'holds as corrected',
  tolerance: { float64: 1e-9, float32: 1e-5 },
  shape: { text: 4, image: 3, pairs: 12, batches: 1, remove: 1 },
  async measure({ file, optimum }) {
    const rng = createRng(3);
    const q = file.image[0].length;
    const partner = [...rng.permutation(file.text.length)];
    const cos = file.text.map((x, k) => {
      const y = file.image[partner[k]];
      const u = y.map((_, b) => x.reduce((t, xa, a) => t + xa * optimum[a * q + b], 0));
      return u.reduce((t, ub, b) => t + ub * y[b], 0) / (Math.hypot(...u) * Math.hypot(...y));
    });
    const undefinedShare = (f: (c: number) => number): number =>
      cos.filter((c) => !Number.isFinite(f(c))).length / cos.length;
    const share = undefinedShare((c) => -Math.log(c));
    return {
      printed: share,
      corrected: undefinedShare((c) => 1 - c),
      control: undefinedShare(() => NaN),
      note: `undefined for ${say(100 * share)} % of the pairs with permuted partners`,
    };
  },
};
