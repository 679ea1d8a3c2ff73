// The sizes of a CLIP of a few hundred parameters.

import type { ClipConfig, TowerConfig } from '../../src/models/clip/config.ts';

/** What the tiny models of the tests differ in. */
export interface TinySizes extends Pick<ClipConfig, 'projection' | 'logitScale'>, Pick<TowerConfig, 'layers' | 'act'> {
  readonly channels: number;
  /** The last token ends a text. */
  readonly vocabulary: number;
}

/** Towers of width 8 with two heads, pictures of 8 × 8 in four patches, texts of up to six tokens. */
export function tinyConfig({ projection, logitScale, layers, act, channels, vocabulary }: TinySizes): ClipConfig {
  const tower = { width: 8, layers, heads: 2, inner: 12, act, eps: 1e-5 };
  return {
    projection,
    logitScale,
    vision: { ...tower, imageSize: 8, patchSize: 4, channels },
    text: { ...tower, vocabulary, positions: 6, eos: vocabulary - 1, pool: 'first-eos' },
  };
}
