// Preprocessing: the bytes Pillow gives, by any preprocessor_config.json, and nothing computed that the crop drops.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { EcifError } from '../src/array/errors.ts';
import { parsePreprocessConfig } from '../src/models/clip/formats/preprocess-config.ts';
import { checkPreprocess } from '../src/models/clip/formats/vector-checks.ts';
import {
  CLIP_NORMALIZE,
  clipPreprocess,
  type DecodedImage,
  preprocess,
  type PreprocessConfig,
  resizeAndCrop,
} from '../src/models/clip/preprocess.ts';
import { resizeImage } from '../src/models/clip/resize.ts';

const folder = new URL('./vectors/preprocess/', import.meta.url);
const vectors = JSON.parse(readFileSync(new URL('vectors.json', folder), 'utf8')) as {
  imageSize: number;
  cases: { file: string; uint8: number[]; pixelValues: number[] }[];
};

async function decode(file: string): Promise<DecodedImage> {
  const { data, info } = await sharp(fileURLToPath(new URL(file, folder)))
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height, channels: info.channels };
}

/** Levels by which the bytes of a case differ at most under some settings. */
async function levels(index: number, change: Partial<PreprocessConfig>): Promise<number> {
  const { file, uint8 } = vectors.cases[index];
  const { data } = resizeAndCrop(await decode(file), { ...clipPreprocess(vectors.imageSize), ...change });
  return uint8.reduce((most, x, i) => Math.max(most, Math.abs(x - data[i])), 0);
}

describe('the reference pictures', () => {
  it('are found, every byte of them', async () => {
    const results = await checkPreprocess(vectors, decode);
    expect(results).toHaveLength(2 * vectors.cases.length);
    expect(results.filter(({ pass }) => !pass)).toEqual([]);
    for (const i of vectors.cases.keys()) expect(await levels(i, {})).toBe(0);
  });

  it('are not found with bilinear weights, except where nothing is resized', async () => {
    for (const [i, { file }] of vectors.cases.entries()) {
      const { width, height } = await decode(file);
      const untouched = Math.min(width, height) === vectors.imageSize;
      expect((await levels(i, { resampling: 'bilinear' })) > 1, file).toBe(!untouched);
    }
  });

  it('are not found without antialiasing, with another side, or one column beside the centre', async () => {
    const { file } = vectors.cases[0];
    const { width, height, data } = await decode(file);
    const nearest = new Uint8Array(32 * 32 * 3).map(
      (_, i) => data[(Math.floor((Math.floor(i / 96) * height) / 32) * width + Math.floor((i / 3) % 32)) * 3 + (i % 3)],
    );
    const away = vectors.cases[0].uint8.reduce((most, x, i) => Math.max(most, Math.abs(x - nearest[i])), 0);
    expect(away).toBeGreaterThan(1);
    expect(await levels(0, { resize: { shortestEdge: 33 } })).toBeGreaterThan(1);
    // 17 × 23 becomes 32 × 43, of which 11 rows go: 6 above, the even one of 5 and 6.
    const image = await decode(vectors.cases[3].file);
    const beside = resizeImage(image, { width: 32, height: 43 }, 'bicubic', { left: 0, top: 5, width: 32, height: 32 });
    expect(vectors.cases[3].uint8.some((x, i) => Math.abs(x - beside[i]) > 1)).toBe(true);
  });

  it('are told apart from altered ones', async () => {
    const [first] = vectors.cases;
    const altered = (change: object) => checkPreprocess({ ...vectors, cases: [{ ...first, ...change }] }, decode);
    const passes = async (change: object) => (await altered(change)).map(({ pass }) => pass);
    expect(await passes({ uint8: first.uint8.with(5, first.uint8[5] + 1) })).toEqual([true, true]);
    expect(await passes({ uint8: first.uint8.with(5, first.uint8[5] + 2) })).toEqual([false, true]);
    expect(await passes({ uint8: first.uint8.slice(1) })).toEqual([false, true]);
    expect(await passes({ pixelValues: first.pixelValues.with(9, first.pixelValues[9] + 0.02) })).toEqual([
      true,
      false,
    ]);
    await expect(altered({ file: '../img0.png' })).rejects.toThrow('vectors.json: cases[0].file: found "../img0.png"');
    await expect(checkPreprocess({ ...vectors, imageSize: 0 }, decode)).rejects.toThrow(
      'vectors.json: imageSize: found 0',
    );
  });
});

/** A picture of random bytes. */
const picture = (width: number, height: number, channels: 1 | 2 | 3 | 4 = 3): DecodedImage => ({
  width,
  height,
  channels,
  data: Uint8Array.from({ length: width * height * channels }, (_, i) => (i * i * 31 + i * 17) % 256),
});

describe('a picture', () => {
  it('has in part of it what it has there as a whole', () => {
    const side = fc.integer({ min: 1, max: 20 });
    fc.assert(
      fc.property(
        side,
        side,
        side,
        side,
        fc.constantFrom('bicubic', 'bilinear'),
        fc.infiniteStream(fc.nat(99)),
        (w, h, width, height, how, draw) => {
          const next = (most: number): number => (draw.next().value as number) % most;
          const [left, top] = [next(width), next(height)];
          const part = { left, top, width: 1 + next(width - left), height: 1 + next(height - top) };
          const whole = resizeImage(picture(w, h), { width, height }, how);
          const found = resizeImage(picture(w, h), { width, height }, how, part);
          const wanted = Array.from({ length: part.height }, (_, y) => {
            const start = ((top + y) * width + left) * 3;
            return [...whole.subarray(start, start + part.width * 3)];
          });
          expect([...found]).toEqual(wanted.flat());
        },
      ),
      { numRuns: 200 },
    );
  });

  it('of one colour keeps it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 60 }), fc.nat(255), (width, height, c) => {
        const data = new Uint8Array(width * height * 3).fill(c);
        const { data: found } = resizeAndCrop({ width, height, channels: 3, data }, clipPreprocess(16));
        expect(found.every((x) => x === c)).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  it('in grey is RGB of the same, and alpha does not count', () => {
    const grey = picture(13, 11, 1);
    const spread = (...rest: number[]): Uint8Array =>
      Uint8Array.from([...grey.data].flatMap((x) => [x, ...rest.map((r) => (r < 0 ? x : r))]));
    const same: DecodedImage[] = [
      { ...grey, channels: 2, data: spread(7) },
      { ...grey, channels: 3, data: spread(-1, -1) },
      { ...grey, channels: 4, data: spread(-1, -1, 99) },
    ];
    const wanted = preprocess(grey, clipPreprocess(8));
    for (const image of same) expect(preprocess(image, clipPreprocess(8))).toEqual(wanted);
  });

  it('of extreme proportions costs no more than its crop', () => {
    const thin = picture(1, 200_000);
    const found = resizeAndCrop(thin, clipPreprocess(224));
    expect(found.data).toHaveLength(224 * 224 * 3);
  });

  it('smaller than the crop gets black around it', () => {
    const config = { ...clipPreprocess(5), resize: null };
    const { data } = resizeAndCrop({ ...picture(2, 7), data: new Uint8Array(42).fill(9) }, config);
    const row = [0, 9, 9, 0, 0].flatMap((x) => [x, x, x]);
    expect([...data]).toEqual([row, row, row, row, row].flat());
  });

  it('is normalised channel by channel', () => {
    const image: DecodedImage = { width: 1, height: 1, channels: 3, data: Uint8Array.of(255, 0, 51) };
    const [mean, std] = [CLIP_NORMALIZE.mean, CLIP_NORMALIZE.std];
    const wanted = [1, 0, 0.2].map((x, c) => (x - mean[c]) / std[c]);
    expect(preprocess(image, clipPreprocess(1))).toEqual(Float32Array.from(wanted));
    expect(preprocess(image, { ...clipPreprocess(1), rescale: 1, normalize: null })).toEqual(
      Float32Array.of(255, 0, 51),
    );
  });

  it.each([
    ['too few bytes', { ...picture(4, 4), data: new Uint8Array(47) }],
    ['no width', { ...picture(4, 4), width: 0 }],
    ['a width that is no whole number', { ...picture(4, 4), width: 1.5 }],
    ['five channels', { ...picture(4, 4), channels: 5 as 4 }],
  ])('with %s is refused', (_what, image) => {
    expect(() => preprocess(image, clipPreprocess(8))).toThrow(EcifError);
    expect(() => preprocess(image, clipPreprocess(8))).toThrow('give width · height · channels bytes');
  });

  it('that would become too large is refused', () => {
    const config = { ...clipPreprocess(4096), crop: null };
    expect(() => preprocess(picture(1, 100), config)).toThrow(
      'the result has 4096 × 409600 pixels; give a smaller size',
    );
  });
});

describe('preprocessor_config.json', () => {
  const parse = (json: unknown): PreprocessConfig => parsePreprocessConfig('p.json', JSON.stringify(json));

  it('is read in its old and new forms', () => {
    expect(parse({})).toEqual(clipPreprocess(224));
    expect(parse({ size: 224, crop_size: 224, resample: 3 })).toEqual(clipPreprocess(224));
    const fresh = { size: { shortest_edge: 336 }, crop_size: { height: 336, width: 336 }, rescale_factor: 1 / 255 };
    expect(parse({ ...fresh, do_convert_rgb: true })).toEqual(clipPreprocess(336));
    expect(parse({ size: { height: 8, width: 9 }, resample: 2, do_center_crop: false, do_rescale: false })).toEqual({
      resize: { height: 8, width: 9 },
      resampling: 'bilinear',
      crop: null,
      rescale: 1,
      normalize: CLIP_NORMALIZE,
    });
    const bare = parse({ do_resize: false, do_normalize: false, image_mean: 'unused' });
    expect([bare.resize, bare.normalize]).toEqual([null, null]);
  });

  it.each([
    [{ resample: 1 }, 'p.json: resample: found 1; give 3 (bicubic) or 2 (bilinear)'],
    [{ size: -1 }, 'p.json: size: found -1; give a whole number in 1…4096'],
    [{ size: 1e9 }, 'p.json: size: found 1000000000'],
    [{ size: { shortest_edge: '224' } }, 'p.json: size.shortest_edge: found "224"'],
    [{ size: { height: 224 } }, 'p.json: size.width: found nothing'],
    [{ size: { longest_edge: 224 } }, 'p.json: size.longest_edge: not known here'],
    [{ crop_size: {} }, 'p.json: crop_size.height: found nothing'],
    [{ image_mean: [0, 0] }, 'p.json: image_mean: found a list of 2; give a list of 3 finite numbers'],
    [{ image_std: [1, 0, 1] }, 'p.json: image_std[1]: found 0; give a number > 0'],
    [{ do_resize: 'yes' }, 'p.json: do_resize: found "yes"; give true or false'],
    [{ rescale_factor: 0 }, 'p.json: rescale_factor: found 0; give a number > 0'],
    [[], 'p.json: JSON: found a list of 0; give an object'],
  ])('%j is refused', (json, message) => {
    expect(() => parse(json)).toThrow(message);
  });
});
