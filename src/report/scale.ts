// Axes: from values to pixels, linear or logarithmic, with ticks at round numbers.

import { powerOfTen, withMinus } from './numbers.ts';

/** A labelled value of an axis. */
export interface Tick {
  readonly value: number;
  readonly label: string;
}

/** One axis. */
export interface Scale {
  /** Its two ends. */
  readonly domain: readonly [number, number];
  readonly ticks: readonly Tick[];
  /** Where a value lies, in pixels. */
  at(value: number): number;
}

/** Where an axis begins and ends, in pixels. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

const LARGEST = 1e300;

/** Whether a value can be drawn: within the range of axes and, on a logarithmic one, positive. */
export const drawable = (value: number, log: boolean): boolean =>
  Math.abs(value) <= LARGEST && (!log || value >= 1 / LARGEST);

/** 1, 2 or 5 times a power of ten, so that about `count` steps fill the span. */
function niceStep(span: number, count: number): number {
  const raw = span / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const ratio = raw / power;
  const factor = [1, 2, 5].find((f) => ratio <= f * (1 + 1e-9)) ?? 10;
  return factor * power;
}

function linearLabel(value: number, step: number): string {
  if (value === 0) return '0';
  const top = Math.floor(Math.log10(Math.abs(value)));
  if (top >= 5 || top < -4)
    return withMinus(value.toPrecision(3).replace(/e([+-]?\d+)$/, (_, n) => `·${powerOfTen(Number(n))}`));
  return withMinus(value.toFixed(Math.max(0, -Math.floor(Math.log10(step) + 1e-9))));
}

/**
 * A linear axis over all values that can be drawn, widened to round ends.
 * @example linearScale([0, 9], { from: 0, to: 100 }).at(5); // 50
 */
export function linearScale(values: readonly number[], { from, to }: Span): Scale {
  const known = values.filter((v) => drawable(v, false));
  let [low, high] = known.length === 0 ? [0, 1] : [Math.min(...known), Math.max(...known)];
  const size = Math.max(Math.abs(low), Math.abs(high));
  if (high - low <= Math.max(1e-9 * size, 1 / LARGEST)) {
    const half = size > 1e-280 ? size / 2 : 1;
    [low, high] = [low - half, high + half];
  }
  const step = niceStep(high - low, 6);
  const [first, last] = [Math.floor(low / step + 1e-9), Math.ceil(high / step - 1e-9)];
  const domain = [first * step, last * step] as const;
  const ticks = Array.from({ length: last - first + 1 }, (_, i) => {
    const value = (first + i) * step;
    return { value, label: linearLabel(first + i === 0 ? 0 : value, step) };
  });
  return { domain, ticks, at: (v) => from + ((v - domain[0]) / (domain[1] - domain[0])) * (to - from) };
}

/** Exponents of ten at which an axis of few decades has ticks: those of 1, 2 and 5. */
const FINE = [0, Math.log10(2), Math.log10(5)];
const fine = (i: number): number => Math.floor(i / 3) + FINE[((i % 3) + 3) % 3];

/** The last of the fine steps that is not above an exponent. */
function fineBelow(exponent: number): number {
  let i = 3 * Math.floor(exponent);
  while (fine(i + 1) <= exponent + 1e-9) i++;
  return i;
}

/** The first of the fine steps that is not below an exponent. */
function fineAbove(exponent: number): number {
  const below = fineBelow(exponent);
  return fine(below) >= exponent - 1e-9 ? below : below + 1;
}

/** Numbers near one as they are, powers of ten on an axis that goes far. */
function logLabel(exponent: number, far: boolean): string {
  const whole = Math.floor(exponent + 1e-9);
  if (Math.abs(whole) <= (far ? 1 : 3)) return String(Number((10 ** exponent).toPrecision(1)));
  const mantissa = Math.round(10 ** (exponent - whole));
  return mantissa === 1 ? powerOfTen(whole) : `${mantissa}·${powerOfTen(whole)}`;
}

/** Exponents of the ends and of the ticks of a logarithmic axis; 0 is a tick of every axis that reaches it. */
function logTicks(low: number, high: number): { ends: readonly [number, number]; at: number[] } {
  if (high - low <= 2) {
    const [first, last] = [fineBelow(low), fineAbove(high)];
    const at = Array.from({ length: last - first + 1 }, (_, i) => fine(first + i));
    return { ends: [at[0], at[at.length - 1]], at };
  }
  const [first, last] = [Math.floor(low + 1e-9), Math.ceil(high - 1e-9)];
  const stride = Math.ceil((last - first) / 7);
  const [from, to] = [Math.ceil(first / stride), Math.floor(last / stride)];
  return { ends: [first, last], at: Array.from({ length: to - from + 1 }, (_, i) => (from + i) * stride) };
}

/**
 * A logarithmic axis over all positive values, widened to whole decades, or to 1, 2 or 5 times one if it has few.
 * @example logScale([1, 1000], { from: 0, to: 90 }).at(10); // 30
 */
export function logScale(values: readonly number[], { from, to }: Span): Scale {
  const known = values.filter((v) => drawable(v, true)).map((v) => Math.log10(v));
  let [low, high] = known.length === 0 ? [0, 1] : [Math.min(...known), Math.max(...known)];
  if (high - low < 1e-9) [low, high] = [low - 0.5, high + 0.5];
  const { ends, at } = logTicks(low, high);
  const far = at.some((exponent) => Math.abs(exponent) > 3 + 1e-9);
  return {
    domain: [10 ** ends[0], 10 ** ends[1]],
    ticks: at.map((exponent) => ({ value: 10 ** exponent, label: logLabel(exponent, far) })),
    at: (v) => from + ((Math.log10(v) - ends[0]) / (ends[1] - ends[0])) * (to - from),
  };
}
