// Step sizes along a training run: a linear warm-up, then constant or down a cosine to zero.

/** How the step size changes. */
export interface Schedule {
  readonly kind: 'constant' | 'cosine';
  /** Largest step size. */
  readonly rate: number;
  /** Steps over which it rises from 0; 0 unless told. */
  readonly warmup?: number;
  /** Steps in all. */
  readonly steps: number;
}

/**
 * The size of one step.
 * @param step from 0
 * @example rateAt({ kind: 'cosine', rate: 1e-3, warmup: 10, steps: 100 }, 0); // 1e-4
 */
export function rateAt({ kind, rate, warmup = 0, steps }: Schedule, step: number): number {
  if (step < warmup) return (rate * (step + 1)) / warmup;
  if (kind === 'constant') return rate;
  return (rate / 2) * (1 + Math.cos((Math.PI * (step - warmup)) / Math.max(1, steps - warmup)));
}
