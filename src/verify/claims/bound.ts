// Claims on the error bound of the appendix: its assumptions, its steps, the theorem, and what holds in its place.

import { addScaled, distance, norm } from '../../array/vector.ts';
import { hessian } from '../../autodiff/curvature.ts';
import type { Tensor } from '../../autodiff/tensor.ts';
import { certificates, priorBounds } from '../../ecif/bounds.ts';
import { lossOf } from '../../ecif/influence.ts';
import { printedTheorem, surrogateLoss, type TheoremConstants } from '../../ecif/printed-theorem.ts';
import { type Removal, removalOf, removeByNewton, removeLinear } from '../../ecif/removal.ts';
import { minimise } from '../../ecif/retrain.ts';
import { pairGradients, plus } from '../../ecif/sweep.ts';
import type { NegForm } from '../../ecif/terms.ts';
import { cholesky, choleskySolve } from '../../linalg/cholesky.ts';
import { symmetricEigen } from '../../linalg/symmetric-eigen.ts';
import type { Bilinear } from '../../models/bilinear.ts';
import type { ConvexFile } from '../../ecif/convex-file.ts';
import { apart, type Claim, NOISE, say } from '../claim.ts';
import { plainMinimum, similarity } from '../plain.ts';
import { settle, type Setting } from '../setting.ts';
import { singles } from './influence.ts';
import { anywhere, treeAt } from './objective.ts';

type Vector = Float64Array;

/** θ* of retraining, in plain float64. */
const retrained = ({ plain, optimum }: Setting): Vector => plainMinimum(plain.removal(1), optimum);

const removal = ({ problem, theta, seg, h }: Setting): Removal<Bilinear> => removalOf(problem, theta, seg, h);

/** Hessians after and before removal and the gradient that is lost, in plain float64 at θ̂. */
function plainSystem({ plain, optimum }: Setting): { after: Vector; before: Vector; g: Vector } {
  const [left, whole] = [plain.removal(1)(optimum), plain.total(optimum)];
  return { after: left.hessian, before: whole.hessian, g: addScaled(whole.gradient, -1, left.gradient) };
}

const solve = (a: Vector, b: Vector): Vector => choleskySolve(cholesky(a, b.length), b);

export const inversesClaim: Claim = {
  id: 'erratum-05-sum-of-inverses',
  place: 'App. D, proof of Theorem D.7, step 2',
  symbol: 'A⁻¹ + B⁻¹',
  statement: "The Newton step and the ECIF step differ by (A⁻¹ + B⁻¹)∇L'.",
  correction: "(A⁻¹ − B⁻¹)∇L'.",
  erratum: 5,
  expected: 'holds as corrected',
  async measure(setting) {
    const [newton, linear] = [await removeByNewton(removal(setting)), await removeLinear(removal(setting), 'exact')];
    const found = addScaled(await setting.read(() => newton), -1, await setting.read(() => linear));
    const { after, before, g } = plainSystem(setting);
    const [a, b] = [solve(after, g), solve(before, g)];
    const printed = addScaled(a, 1, b);
    return {
      printed: apart(printed, found),
      corrected: apart(addScaled(a, -1, b), found),
      control: apart(a, found),
      note: `they differ by ${say(norm(found))}, printed ${say(norm(printed))}`,
    };
  },
  tolerance: { float64: 1e-6, float32: 5e-2 },
};

export const vacuousClaim: Claim = {
  id: 'erratum-05-vacuous',
  place: 'App. D, remark after Theorem D.7',
  symbol: 'second term of the bound',
  statement: 'The bound is small: its second term is below the change that retraining makes.',
  erratum: 5,
  expected: 'fails as printed',
  tolerance: { float64: 0, float32: 0 },
  async measure(setting) {
    const { problem, theta, seg, optimum } = setting;
    const change = distance(retrained(setting), optimum);
    const { second } = await printedTheorem(problem, theta, seg, { batch: 1, pair: 1 });
    return {
      printed: Math.max(0, second / Math.max(change, NOISE) - 1),
      control: second / Math.max(change, NOISE),
      note: `second term ${say(second)}, the whole change is ${say(change)}`,
    };
  },
};

/** The same problem with the similarities c times as wide and θ 1/c as long. */
const widened = (file: ConvexFile, c: number): ConvexFile => ({
  ...file,
  temperature: file.temperature / c,
  delta: file.delta * c * c,
});

export const strayConstantClaim: Claim = {
  id: 'erratum-05-stray-constant',
  place: 'Theorem D.7, first term',
  symbol: "C'_H·C_H⁻…",
  statement: "The first term, with the factor C'_H, has the unit of ‖θ‖.",
  correction: "Without C'_H.",
  erratum: 5,
  expected: 'holds as corrected',
  tolerance: { float64: 1e-6, float32: 2e-2 },
  shape: { text: 2, image: 2, pairs: 5, batches: 1 },
  async measure(setting, device) {
    const other = await settle(widened(setting.file, 2), device);
    const [a, b] = [
      await printedTheorem(setting.problem, setting.theta, setting.seg),
      await printedTheorem(other.problem, other.theta, other.seg),
    ];
    other.dispose();
    const power = (from: number, to: number): number => Math.log2(to / from);
    const printed = power(a.first, b.first);
    return {
      printed: Math.abs(printed + 1),
      corrected: Math.abs(power(a.first / a.constants.pair, b.first / b.constants.pair) + 1),
      control: Math.abs(power(a.gradient, b.gradient) + 1),
      note: `θ half as long scales the first term by 2^${say(printed)}, a length by 2^−1`,
    };
  },
};

export const decayTwiceClaim: Claim = {
  id: 'erratum-05-decay-twice',
  place: 'App. D, H_δ = δI + ∇²L⁻',
  symbol: 'H_δ',
  statement: "Newton's step is H_δ⁻¹∇L' with H_δ = δI + ∇²L⁻.",
  correction: 'With ∇²L⁻, which holds δI already.',
  erratum: 5,
  expected: 'holds as corrected',
  tolerance: { float64: 1e-6, float32: 1e-2 },
  async measure(setting) {
    const newton = await removeByNewton(removal(setting));
    const found = addScaled(await setting.read(() => newton), -1, setting.w);
    const { after, before, g } = plainSystem(setting);
    const n = g.length;
    const twice = after.map((x, i) => (i % (n + 1) === 0 ? x + setting.file.delta : x));
    const printed = solve(twice, g);
    return {
      printed: apart(printed, found),
      corrected: apart(solve(after, g), found),
      control: apart(solve(before, g), found),
      note: `Newton's step has length ${say(norm(found))}, printed ${say(norm(printed))}`,
    };
  },
};

/** −λ_min/max|λ| where the Hessian is not positive semi-definite, else 0. */
async function indefiniteness(f: (theta: Bilinear) => Tensor, at: Bilinear): Promise<number> {
  const { size, matrix } = await hessian(f, at);
  const { values } = symmetricEigen(matrix, size);
  const largest = Math.max(Math.abs(values[0]), Math.abs(values[size - 1]));
  return largest === 0 ? 0 : Math.max(0, -values[0] / largest);
}

export const pairConvexClaim: Claim = {
  id: 'prop-pair-loss-convex',
  place: 'Assumption D.4',
  symbol: "L'((x^T, x^I); θ)",
  statement: "L' = Pos + Neg of one pair is convex, where S is linear in θ and Neg is the printed one.",
  expected: 'holds',
  tolerance: { float64: 1e-9, float32: 1e-3 },
  shape: { text: 2, image: 2 },
  async measure(setting) {
    const { problem, seg } = setting;
    const at = treeAt(setting, anywhere(setting));
    const [first] = singles(seg);
    const of = (form: NegForm): Promise<number> => indefiniteness(lossOf(problem, first, form), at);
    return { printed: await of('published'), control: await of('corrected') };
  },
};

export const convexityClaim: Claim = {
  id: 'erratum-05-convexity',
  place: 'App. D, L⁻ = L_Total − L\' and "its minimiser"',
  symbol: '∇²L⁻(θ̂)',
  statement: 'L⁻ with the printed Neg is convex at θ̂, so that its minimiser exists.',
  correction: 'With the exact Neg, which makes L⁻ the loss after removal.',
  erratum: 5,
  expected: 'holds as corrected',
  tolerance: { float64: 1e-9, float32: 1e-3 },
  async measure({ problem, seg, theta }) {
    const of = (form: NegForm): Promise<number> => indefiniteness(surrogateLoss(problem, seg, form), theta);
    const published = await of('published');
    return {
      printed: published,
      corrected: await of('exact'),
      control: published,
      note: `−λ_min/max|λ| of ∇²L⁻(θ̂) is ${say(published)}`,
    };
  },
};

export const surrogateClaim: Claim = {
  id: 'erratum-05-surrogate-minimiser',
  place: 'App. D, "θ̂(−D*) is the minimizer of L⁻, which is obtained from retraining"',
  symbol: 'argmin L⁻',
  statement: 'The minimiser of L⁻ (corrected Neg) is retraining.',
  correction: 'That of L⁻ with the exact Neg.',
  erratum: 5,
  expected: 'holds as corrected',
  tolerance: { float64: 1e-6, float32: 2e-2 },
  shape: { decay: 1, temperature: 0.5, text: 2, image: 2 },
  async measure(setting) {
    const { problem, seg, theta, optimum } = setting;
    const truth = addScaled(retrained(setting), -1, optimum);
    const changeOf = async (form: NegForm): Promise<Vector> => {
      const found = await minimise(surrogateLoss(problem, seg, form), theta, { indefinite: 'reflect' });
      return addScaled(await setting.read(() => found.theta), -1, setting.w);
    };
    const corrected = await changeOf('corrected');
    return {
      printed: apart(corrected, truth),
      corrected: apart(await changeOf('exact'), truth),
      control: apart(
        truth.map(() => 0),
        truth,
      ),
      note: `‖argmin L⁻ − θ̂‖ = ${say(norm(corrected))}, retraining moves by ${say(norm(truth))}`,
    };
  },
};

/** Counterexample to the bound on the gradient of a set: two texts twice, one image throughout. */
const TWINS: ConvexFile = {
  name: 'twins',
  temperature: 1,
  delta: 0.1,
  text: [[1], [1], [-1], [-1]],
  image: [[1], [1], [1], [1]],
  batches: [[0, 1, 2, 3]],
  remove: [0, 1],
  validation: { text: [[1], [-1]], image: [[1], [-1]] },
};

export const setGradientClaim: Claim = {
  id: 'erratum-10-set-gradient',
  place: 'App. D, proof of Theorem D.7, end of step 1',
  symbol: "‖∇L'(D*)‖ ≤ |D*|·C'_L",
  statement: "The gradient of L' of a set is at most |D*| times the largest of a pair.",
  correction: 'At most that sum plus the gradient of what Neg of the pairs counts within the set.',
  erratum: 10,
  expected: 'holds as corrected',
  tolerance: { float64: 1e-9, float32: 1e-4 },
  shape: { remove: 2, oneBatch: true, batches: 1, pairs: 6, text: 2, image: 2 },
  always: [TWINS],
  async measure({ problem, theta, seg, gradient }) {
    const set = await gradient(lossOf(problem, seg, 'corrected'));
    const pairs = await pairGradients(problem, theta, 'corrected');
    const sizes = pairs.map(({ pos, neg }) => norm(plus(pos, neg)));
    const removed = seg.reduce((n, { positions }) => n + positions.length, 0);
    let sum = new Float64Array(set.length) as Vector;
    for (const one of singles(seg)) sum = addScaled(sum, 1, await gradient(lossOf(problem, one, 'corrected')));
    const within = norm(addScaled(sum, -1, set));
    const limit = removed * Math.max(...sizes);
    const above = (x: number): number => Math.max(0, norm(set) / Math.max(x, NOISE) - 1);
    return {
      printed: above(limit),
      corrected: above(limit + within),
      control: above(norm(set) / 2),
      note: `‖∇L'(D*)‖ = ${say(norm(set))}, |D*|·C'_L = ${say(limit)}`,
    };
  },
};

/** Counterexample to the printed theorem: one feature each side, one batch, the third pair removed. */
export const ONE_DIMENSION: ConvexFile = {
  name: 'one dimension',
  temperature: 1,
  delta: 1e-3,
  text: [[1], [-1], [1]],
  image: [[1], [-1], [-1]],
  batches: [[0, 1, 2]],
  remove: [2],
  validation: { text: [[1], [-1]], image: [[1], [-1]] },
};

/** The smallest C_H and C'_H of a one-parameter problem: the largest third derivatives, by a scan. */
export function scannedConstants({ file }: Pick<Setting, 'file'>): TheoremConstants {
  const third = (f: (w: number) => number): number => {
    let largest = 0;
    const h = 5e-3;
    for (let w = -12; w <= 12; w += 0.02) {
      const value = (f(w + 2 * h) - 2 * f(w + h) + 2 * f(w - h) - f(w - 2 * h)) / (2 * h ** 3);
      largest = Math.max(largest, Math.abs(value));
    }
    return largest;
  };
  const lse = (v: readonly number[]): number => Math.log(v.reduce((t, x) => t + Math.exp(x), 0));
  const tables = (ids: readonly number[], w: number): number[][] => {
    const pairs = { text: ids.map((i) => file.text[i]), image: ids.map((i) => file.image[i]) };
    const s = similarity(pairs, Float64Array.of(w), file.temperature);
    return [...s, ...s.map((_, k) => s.map((row) => row[k]))];
  };
  const batch = file.batches.map((ids) =>
    third((w) => tables(ids, w).reduce((t, v, i) => t + lse(v) - v[i % ids.length], 0)),
  );
  const pair = file.batches.flatMap((ids) =>
    ids.flatMap((id, n) => {
      if (!file.remove.includes(id)) return [];
      const lost = (w: number): number =>
        tables(ids, w).reduce((t, v, i) => {
          const k = i % ids.length;
          return t + (k === n ? lse(v) - v[k] : Math.exp(v[n] - lse(v)));
        }, 0);
      return [third(lost)];
    }),
  );
  return { batch: Math.max(...batch), pair: Math.max(...pair) };
}

const beyond = (error: number, bound: number | null): number =>
  bound === null ? 0 : Math.max(0, error / Math.max(bound, NOISE) - 1);

export const theoremClaim: Claim = {
  id: 'thm-error-bound',
  place: 'Theorem D.7',
  symbol: '‖θ̂(−D*) − θ_if‖ ≤ …',
  statement: 'The printed bound, with the smallest constants there are, is above the error of ECIF.',
  correction: 'C/(2δ)·‖A⁻¹g‖² + ‖(A⁻¹ − B⁻¹)g‖ + ‖B⁻¹e‖, and its self-concordant form.',
  erratum: 5,
  expected: 'holds as corrected',
  tolerance: { float64: 1e-9, float32: 1e-3 },
  shape: { text: 1, image: 1, batches: 1, temperature: 1 },
  always: [ONE_DIMENSION],
  async measure(setting) {
    const { problem, theta, seg, read } = setting;
    const edited = await removeLinear(removal(setting), 'corrected');
    const { p3 } = await certificates(problem, edited, seg);
    const at = await read(() => edited);
    const surrogate = await minimise(surrogateLoss(problem, seg, 'corrected'), theta, { indefinite: 'reflect' });
    const toSurrogate = distance(at, await read(() => surrogate.theta));
    const error = distance(at, retrained(setting));
    const { total } = await printedTheorem(problem, theta, seg, scannedConstants(setting));
    const { lipschitz, selfConcordant } = await priorBounds(problem, theta, seg);
    return {
      printed: beyond(toSurrogate, total),
      corrected: Math.max(beyond(error, lipschitz), beyond(error, selfConcordant)),
      control: beyond(error, p3 === null ? error / 2 : p3 / 2),
      note: `error ${say(toSurrogate)}, printed bound ${say(total)}`,
    };
  },
};

export const certificateClaim: Claim = {
  id: 'thm-certificates',
  place: 'in place of the theorem',
  symbol: 'P1, P2, P3',
  statement: 'Each certificate, from the edited model alone, is above its distance to retraining.',
  expected: 'holds',
  tolerance: { float64: 1e-9, float32: 1e-2 },
  async measure(setting) {
    const { problem, seg, read } = setting;
    const truth = retrained(setting);
    const violations: number[] = [];
    const halved: number[] = [];
    for (const edit of [
      () => removeLinear(removal(setting), 'corrected'),
      () => removeLinear(removal(setting), 'exact'),
    ]) {
      const edited = await edit();
      const { p1, p2, p3 } = await certificates(problem, edited, seg);
      const error = distance(await read(() => edited), truth);
      violations.push(...[p1, p2, p3].map((bound) => beyond(error, bound)));
      halved.push(...[p1, p2, p3].map((bound) => beyond(error, bound === null ? null : bound / 2)));
    }
    return { printed: Math.max(...violations), control: Math.max(...halved) };
  },
};
