// Strong-Wolfe line search that stays sound at rounding level (approximate Wolfe, Hager and Zhang 2005).

/** φ and φ' at a step t along the search direction. */
export interface Trial {
  readonly t: number;
  readonly value: number;
  readonly slope: number;
}

const DECREASE = 1e-4;
const CURVATURE = 0.9;
const MAX_TRIALS = 40;
/** Trials after which values within the noise are taken for all there is. */
const NOISE_TRIALS = 10;

/**
 * Finds t with φ(t) ≤ φ(0) + 1e-4·t·φ'(0) and |φ'(t)| ≤ 0.9·|φ'(0)|. Where φ(t) and φ(0) differ by no
 * more than `noise`, the first condition is replaced by φ'(t) ≤ (2e-4 − 1)·φ'(0), which needs slopes only.
 *
 * Invariant: `low` satisfies the first condition and descends, `high` fails it or ascends, so an acceptable t lies
 * between them. The returned trial is always the one probed last.
 *
 * @param probe evaluates a step.
 * @param start t = 0, with a negative slope.
 * @param first first step to try.
 * @param noise absolute rounding error of φ.
 * @returns the accepted trial, or null if none exists in this precision.
 * @example const hit = await wolfeSearch((t) => phi(t), { t: 0, value, slope }, 1, 1e-15);
 */
export async function wolfeSearch<T extends Trial>(
  probe: (t: number) => Promise<T>,
  start: Trial,
  first: number,
  noise: number,
): Promise<T | null> {
  let low: Trial = start;
  let high: Trial | null = null;
  let t = first;
  for (let trial = 1; trial <= MAX_TRIALS; trial++) {
    const at = await probe(t);
    const finite = Number.isFinite(at.value) && Number.isFinite(at.slope);
    const decreased = finite && at.value <= start.value + DECREASE * t * start.slope;
    const level = finite && Math.abs(at.value - start.value) <= noise;
    const flat = Math.abs(at.slope) <= CURVATURE * Math.abs(start.slope);
    if (flat && (decreased || (level && at.slope <= (2 * DECREASE - 1) * start.slope))) return at;
    if ((decreased || level) && at.slope < 0) low = at;
    else high = at;
    if (level && trial >= NOISE_TRIALS) break;
    t = nextStep(low, high, noise, trial);
    if (!(t > low.t) || !Number.isFinite(t) || (high !== null && t >= high.t)) break;
  }
  return low.t > 0 ? probe(low.t) : null;
}

function nextStep(low: Trial, high: Trial | null, noise: number, trial: number): number {
  if (high === null) return low.t * 4;
  const width = high.t - low.t;
  const middle = low.t + width / 2;
  if (trial % 3 === 0 || !Number.isFinite(high.value) || !Number.isFinite(high.slope)) return middle;
  const wanted = Math.abs(high.value - low.value) > 10 * noise ? cubicMinimum(low, high) : secantZero(low, high);
  if (!Number.isFinite(wanted)) return middle;
  return Math.min(Math.max(wanted, low.t + 0.1 * width), high.t - 0.1 * width);
}

/** Minimiser of the cubic through both values and slopes (Nocedal and Wright, eq. 3.59). */
function cubicMinimum(a: Trial, b: Trial): number {
  const d1 = a.slope + b.slope - (3 * (a.value - b.value)) / (a.t - b.t);
  const d2 = Math.sqrt(d1 * d1 - a.slope * b.slope);
  return b.t - ((b.t - a.t) * (b.slope + d2 - d1)) / (b.slope - a.slope + 2 * d2);
}

function secantZero(a: Trial, b: Trial): number {
  return b.slope > a.slope ? a.t - (a.slope * (b.t - a.t)) / (b.slope - a.slope) : NaN;
}
