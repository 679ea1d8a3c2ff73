// Chapter 2: one pair of a batch as positive and as negative; its terms, their gradients, and the loss as it fades out.

import * as ecif from '../../src/index.ts';
import { computation } from './computation.ts';

/** A batch in the plane, the pair that is looked at, and how far it has faded out. */
export interface RolesAsked {
  /** x, y of each caption, then of the next. */
  readonly texts: readonly number[];
  /** x, y of each picture. */
  readonly images: readonly number[];
  readonly temperature: number;
  /** Position of the pair, n. */
  readonly pair: number;
  /** Weight of n as candidate of the others, 1 … 0. */
  readonly zeta: number;
  /** What is added of n's own terms, 0 … −1. */
  readonly epsilon: number;
  /** Which ∇Neg is given: that of what n does as negative at this ζ, or that of a formula. */
  readonly form: ecif.NegForm;
}

/** A movement of every point, as the coordinates are given. */
export interface Movement {
  readonly texts: readonly number[];
  readonly images: readonly number[];
}

/** What comes of it; matrices row by row, captions in rows. */
export interface RolesFound {
  /** Softmax of each caption over pictures, n weighted by ζ for the others. */
  readonly rows: readonly number[];
  /** Softmax of each picture over captions, n weighted by ζ for the others. */
  readonly columns: readonly number[];
  readonly pos: number;
  readonly neg: Readonly<Record<ecif.NegForm, number>>;
  /** L, of the whole batch. */
  readonly full: number;
  /** L(ζ) + ε·Pos. */
  readonly loss: number;
  /** The part of it that the other anchors have. */
  readonly kept: number;
  /** The loss with row and column of n dropped. */
  readonly removed: number;
  /** −(1 + ε)·∇Pos. */
  readonly positive: Movement;
  /** −∇Neg of the form; for `exact` of L(ζ) − L(0), which is Neg at ζ = 1 and nothing at ζ = 0. */
  readonly negative: Movement;
  /** ζ, and the loss of the other anchors at it. */
  readonly fading: readonly (readonly [zeta: number, kept: number])[];
}

interface Points {
  readonly u: ecif.Tensor;
  readonly v: ecif.Tensor;
}

function place(device: ecif.Device, { texts, images }: RolesAsked): Points {
  const points = (xy: readonly number[]): ecif.Tensor => ecif.tensor(device, Float64Array.from(xy), [xy.length / 2, 2]);
  return { u: points(texts), v: points(images) };
}

const matrixAt =
  (temperature: number) =>
  ({ u, v }: Points): ecif.Tensor =>
    ecif.matmul(u, v, { form: 'nt', alpha: 1 / temperature });

const total = ({ t2i, i2t }: ecif.Directions): ecif.Tensor => ecif.add(t2i, i2t);

/** log ζ in column n, but not in row n: what the others see of n. */
function weights(device: ecif.Device, size: number, pair: number, zeta: number): ecif.Tensor {
  const log = Math.max(Math.log(zeta), -1e30);
  const values = Float64Array.from({ length: size * size }, (_, at) =>
    at % size === pair && Math.floor(at / size) !== pair ? log : 0,
  );
  return ecif.tensor(device, values, [size, size]);
}

/** Softmax of rows and of columns, n weighted by ζ. */
function shares(s: ecif.Tensor, pair: number, zeta: number): [ecif.Tensor, ecif.Tensor] {
  const w = weights(s.device, s.shape[0], pair, zeta);
  return [ecif.softmax(ecif.add(s, w)), ecif.permute(ecif.softmax(ecif.add(ecif.permute(s), w)))];
}

/** What n does as negative: at this ζ, or as a formula has it. */
function negativeOf(s: ecif.Tensor, { pair, zeta, form }: RolesAsked): ecif.Tensor {
  if (form !== 'exact') return total(ecif.negTerm(s, [pair], form));
  return ecif.sub(ecif.zetaLoss(s, [pair], zeta), ecif.zetaLoss(s, [pair], 0));
}

/** Weights at which the loss is drawn. */
const ZETAS = Array.from({ length: 25 }, (_, i) => i / 24);

export const rolesFound = computation<RolesAsked, RolesFound>({
  wants: 'any',
  run: async (device, asked) => {
    const { temperature, pair, zeta, epsilon } = asked;
    const theta = place(device, asked);
    const matrix = matrixAt(temperature);
    const made = ecif.scope(() => {
      const s = matrix(theta);
      const pos = (m: ecif.Tensor): ecif.Tensor => total(ecif.posTerm(m, [pair]));
      const neg = (form: ecif.NegForm): ecif.Tensor => total(ecif.negTerm(s, [pair], form));
      const down = (f: (m: ecif.Tensor) => ecif.Tensor, weight: number): ecif.Tensor[] => {
        const { u, v } = ecif.grad((t: Points) => f(matrix(t)))(theta);
        return [ecif.affine(u, -weight, 0), ecif.affine(v, -weight, 0)];
      };
      const faded = ecif.zetaLoss(s, [pair], zeta);
      return [
        ...shares(s, pair, zeta),
        ...[pos(s), neg('corrected'), neg('exact'), neg('published')],
        ...[ecif.contrastive(s), faded, ecif.removedLoss(s, [pair])],
        ...down(pos, 1 + epsilon),
        ...down((m) => negativeOf(m, asked), 1),
        ...ZETAS.map((at) => ecif.zetaLoss(s, [pair], at)),
      ];
    });
    const read = (await ecif.readAll(made)).map((x) => Array.from(x));
    ecif.disposeTree([made, theta]);
    const [rows, columns, [pos], [corrected], [exact], [published], [full], [faded], [removed], ...rest] = read;
    return {
      ...{ rows, columns, pos, full, removed },
      neg: { corrected, exact, published },
      loss: faded + epsilon * pos,
      kept: faded - pos,
      positive: { texts: rest[0], images: rest[1] },
      negative: { texts: rest[2], images: rest[3] },
      fading: ZETAS.map((at, i) => [at, rest[4 + i][0] - pos]),
    };
  },
});
