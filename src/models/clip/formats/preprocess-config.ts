// `preprocessor_config.json`: what to do to a picture before the model sees it.

import { CLIP_NORMALIZE, clipPreprocess, type PreprocessConfig } from '../preprocess.ts';
import type { Resampling } from '../resize.ts';
import { bad, flagField, isObject, type Json, numbersField, positiveField, shown, wholeField } from './fields.ts';
import { parseObject } from './json.ts';

const LARGEST_SIDE = 4096;
const DEFAULT_SIDE = 224;

/** Pillow's numbers of the ways to resize. */
const RESAMPLING: ReadonlyMap<unknown, Resampling> = new Map<unknown, Resampling>([
  [2, 'bilinear'],
  [3, 'bicubic'],
]);

/** Height and width from `{height, width}`. */
function sides(file: string, field: string, json: Json): { height: number; width: number } {
  const side = (name: 'height' | 'width'): number => wholeField(file, `${field}.${name}`, json[name], 1, LARGEST_SIDE);
  return { height: side('height'), width: side('width') };
}

/** `size`: a number or `shortest_edge` for the shorter side, or height and width. */
function resizeOf(file: string, size: unknown): NonNullable<PreprocessConfig['resize']> {
  if (!isObject(size)) return { shortestEdge: wholeField(file, 'size', size, 1, LARGEST_SIDE) };
  if ('longest_edge' in size)
    bad(file, 'size.longest_edge', 'not known here', 'give shortest_edge or height and width');
  if (!('shortest_edge' in size)) return sides(file, 'size', size);
  return { shortestEdge: wholeField(file, 'size.shortest_edge', size.shortest_edge, 1, LARGEST_SIDE) };
}

/** `crop_size`: a number for both sides, or height and width. */
function cropOf(file: string, size: unknown): { height: number; width: number } {
  if (isObject(size)) return sides(file, 'crop_size', size);
  const side = wholeField(file, 'crop_size', size, 1, LARGEST_SIDE);
  return { height: side, width: side };
}

function normalizeOf(file: string, json: Json): NonNullable<PreprocessConfig['normalize']> {
  const mean = numbersField(file, 'image_mean', json.image_mean ?? CLIP_NORMALIZE.mean, 3);
  const std = numbersField(file, 'image_std', json.image_std ?? CLIP_NORMALIZE.std, 3);
  std.forEach((s, i) => positiveField(file, `image_std[${i}]`, s));
  return { mean, std };
}

/**
 * Reads `preprocessor_config.json`; what it leaves out is as CLIP has it.
 * @param file its name, for messages
 * @throws EcifError with file, field, what was found and what to do
 * @example parsePreprocessConfig('preprocessor_config.json', '{"size": {"shortest_edge": 224}}').resize
 */
export function parsePreprocessConfig(file: string, text: string): PreprocessConfig {
  const json = parseObject(file, text);
  const does = (step: string): boolean => flagField(file, `do_${step}`, json[`do_${step}`], true);
  const resampling = RESAMPLING.get(json.resample ?? 3);
  if (resampling === undefined) {
    bad(file, 'resample', `found ${shown(json.resample)}`, 'give 3 (bicubic) or 2 (bilinear)');
  }
  const factor = json.rescale_factor ?? clipPreprocess(1).rescale;
  return {
    resize: does('resize') ? resizeOf(file, json.size ?? DEFAULT_SIDE) : null,
    resampling,
    crop: does('center_crop') ? cropOf(file, json.crop_size ?? DEFAULT_SIDE) : null,
    rescale: does('rescale') ? positiveField(file, 'rescale_factor', factor) : 1,
    normalize: does('normalize') ? normalizeOf(file, json) : null,
  };
}
