// Colours of a map: palettes that colour-blind readers can tell, one that goes from low to high, one about zero.

/** Cividis, dark to bright. */
const SEQUENTIAL = [0x00224e, 0x123570, 0x3b496c, 0x575d6d, 0x707173, 0x8a8678, 0xa59c74, 0xc3b369, 0xe1cc55, 0xfee838];

/** Blue below zero, near white at it, orange above. */
const DIVERGING = [0x0b4c8c, 0x3f83be, 0x8fbbdc, 0xf2f0ec, 0xeab884, 0xc9772f, 0x7f3f00];

/** Colours that a map is drawn in. */
export interface Palette {
  readonly kind: 'sequential' | 'diverging';
  /** Values of the first and of the last colour. */
  readonly domain: readonly [number, number];
  /** The colours, from the first to the last. */
  readonly colours: readonly string[];
  /** Which of them a value has. */
  level(value: number): number;
}

const LEVELS = 48;

/** A colour at a share of the way through some stops. */
function mixed(stops: readonly number[], share: number): string {
  const at = share * (stops.length - 1);
  const [low, high] = [stops[Math.floor(at)], stops[Math.ceil(at)]];
  const channel = (shift: number): number => {
    const [a, b] = [(low >> shift) & 255, (high >> shift) & 255];
    return Math.round(a + (at - Math.floor(at)) * (b - a));
  };
  return `#${((1 << 24) | (channel(16) << 16) | (channel(8) << 8) | channel(0)).toString(16).slice(1)}`;
}

/**
 * A palette for some values: about zero where they reach well to either side of it, else from the lowest to the highest.
 * @example paletteFor([-1, 1]).kind; // 'diverging'
 */
export function paletteFor(values: readonly number[]): Palette {
  let [low, high] = [Infinity, -Infinity];
  for (const v of values) [low, high] = [Math.min(low, v), Math.max(high, v)];
  if (!(low <= high)) [low, high] = [0, 1];
  const far = Math.max(-low, high);
  const diverging = Math.min(-low, high) > far / 4;
  const domain: readonly [number, number] = diverging
    ? [-far, far]
    : low < high
      ? [low, high]
      : [low - 0.5, high + 0.5];
  const stops = diverging ? DIVERGING : SEQUENTIAL;
  return {
    kind: diverging ? 'diverging' : 'sequential',
    domain,
    colours: Array.from({ length: LEVELS }, (_, i) => mixed(stops, i / (LEVELS - 1))),
    level: (v) =>
      Math.min(LEVELS - 1, Math.max(0, Math.floor(((v - domain[0]) / (domain[1] - domain[0])) * LEVELS) || 0)),
  };
}
