// Chooses the matmul kernel, its constants, its parameters and its grid for one shape; pure, no device calls.

/** Operands as stored: nn A(M×K)·B(K×N), nt A(M×K)·B(N×K)ᵀ, tn A(K×M)ᵀ·B(K×N). */
export type MatmulForm = 'nn' | 'nt' | 'tn';

/** Applied to the result in the kernel's epilogue. */
export type MatmulAct = 'none' | 'gelu' | 'quickGelu' | 'tanh' | 'relu' | 'sigmoid';

/**
 * out[z,m,n] = act(alpha·Σ A·B + alpha2·Σ A2·B2 + C). Batch strides are in elements, 0 for a shared operand; `k2` is 0
 * without a second pair; C is element z·batch + m·row + n of its buffer (`row` 0 for a bias vector).
 */
export interface MatmulShape {
  readonly form: MatmulForm;
  readonly batch: number;
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly k2: number;
  readonly aBatch: number;
  readonly bBatch: number;
  readonly a2Batch: number;
  readonly b2Batch: number;
  readonly addend: { readonly row: number; readonly batch: number } | null;
  readonly act: MatmulAct;
  readonly alpha?: number;
  readonly alpha2?: number;
}

/** What the choice depends on: the adapter's subgroup size if it is fixed (min = max) and usable, else 0. */
export interface MatmulAdapter {
  readonly subgroupSize: number;
}

export interface MatmulParams {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly k2: number;
  readonly aBatch: number;
  readonly bBatch: number;
  readonly a2Batch: number;
  readonly b2Batch: number;
  readonly cRow: number;
  readonly cBatch: number;
  readonly tilesM: number;
  readonly tilesN: number;
  readonly tiles: number;
  readonly gridX: number;
  readonly rowsFirst: number;
  readonly alpha: number;
  readonly alpha2: number;
}

export interface MatmulPlan {
  readonly kernel: 'matmul' | 'matmulSubgroup';
  readonly constants: Record<string, number>;
  readonly params: MatmulParams;
  readonly workgroups: [number, number, number];
}

const FORMS = { nn: 0, nt: 1, tn: 2 } as const;
const ACTS = { none: 0, gelu: 1, quickGelu: 2, tanh: 3, relu: 4, sigmoid: 5 } as const;
const MAX_GROUPS = 65535;

/**
 * @param shape the product to compute
 * @param adapter what the device offers
 * @returns kernel name, override constants, uniform parameters and workgroup counts
 */
export function planMatmul(shape: MatmulShape, adapter: MatmulAdapter): MatmulPlan {
  const lanes = adapter.subgroupSize;
  return lanes === 4 || lanes === 8 ? planSubgroup(shape, lanes) : planPortable(shape);
}

/** For the software adapters, where loads are dear: SwiftShader has subgroups of 4, lavapipe of 8. */
function planSubgroup(shape: MatmulShape, lanes: 4 | 8): MatmulPlan {
  const { form, k, k2 } = shape;
  const columns = 4 * lanes;
  const rows = lanes === 4 ? 16 : subgroupRows(shape.m, Math.ceil(shape.n / columns) * shape.batch);
  const vec = (leading: number, batch: number): number => (leading % 4 === 0 && batch % 4 === 0 ? 1 : 0);
  const bLeading = (inner: number): number => (form === 'nt' ? inner : shape.n);
  const constants = {
    FORM: FORMS[form],
    LANES: lanes,
    ROWS: rows,
    A_VEC: form === 'tn' ? 0 : vec(k, shape.aBatch),
    B_VEC: vec(bLeading(k), shape.bBatch),
    PAIR: k2 > 0 ? 1 : 0,
    A2_VEC: k2 === 0 || form === 'tn' ? 0 : vec(k2, shape.a2Batch),
    B2_VEC: k2 === 0 ? 0 : vec(bLeading(k2), shape.b2Batch),
    TAIL: k % 4 !== 0 || k2 % 4 !== 0 ? 1 : 0,
    ADDEND: shape.addend ? 1 : 0,
    ACT: ACTS[shape.act],
  };
  return { kernel: 'matmulSubgroup', constants, ...grid(shape, rows, columns) };
}

/** Rows a subgroup may compute, with the measured time of one inner step relative to 16 rows. */
const ROW_COST = [
  [4, 0.4],
  [8, 0.6],
  [16, 1],
  [32, 1.68],
  [40, 2.11],
] as const;

/**
 * A taller tile loads B less often but wastes more of a ragged last tile: takes the cheapest, and short ones where
 * tall ones would be too few for every core to have work.
 */
function subgroupRows(m: number, tilesPerRow: number): number {
  let best = 4;
  let least = Infinity;
  for (const [rows, cost] of ROW_COST) {
    const tiles = Math.ceil(m / rows);
    if (rows > 8 && tiles * tilesPerRow < 8) break;
    if (tiles * cost <= least) [best, least] = [rows, tiles * cost];
  }
  return best;
}

/** Tiles of 64×64, or of 32×32 when those would be too few to fill a device. */
function planPortable(shape: MatmulShape): MatmulPlan {
  const large = Math.ceil(shape.m / 64) * Math.ceil(shape.n / 64) * shape.batch;
  const side = large >= 64 ? 16 : 8;
  const constants = {
    FORM: FORMS[shape.form],
    SIDE: side,
    PAIR: shape.k2 > 0 ? 1 : 0,
    ADDEND: shape.addend ? 1 : 0,
    ACT: ACTS[shape.act],
  };
  return { kernel: 'matmul', constants, ...grid(shape, 4 * side, 4 * side) };
}

function grid(shape: MatmulShape, rows: number, columns: number): Pick<MatmulPlan, 'params' | 'workgroups'> {
  const tilesM = Math.ceil(shape.m / rows);
  const tilesN = Math.ceil(shape.n / columns);
  const tiles = tilesM * tilesN * shape.batch;
  const gridY = Math.ceil(tiles / MAX_GROUPS);
  const gridX = Math.ceil(tiles / gridY);
  const { m, n, k, k2, aBatch, bBatch, a2Batch, b2Batch, addend, alpha = 1, alpha2 = 1 } = shape;
  const params = {
    ...{ m, n, k, k2, aBatch, bBatch, a2Batch, b2Batch, cRow: addend?.row ?? 0, cBatch: addend?.batch ?? 0 },
    ...{ tilesM, tilesN, tiles, gridX, rowsFirst: m <= n ? 1 : 0, alpha, alpha2 },
  };
  return { params, workgroups: [gridX, gridY, 1] };
}
