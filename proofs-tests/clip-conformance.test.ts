// CLIP reference folders: every quantity equals in float64, an altered number is named, a bad file is refused in one line.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { CpuDevice } from '../src/device/cpu.ts';
import { compareQuantities, type Comparison, type Quantities } from '../src/ecif/conformance.ts';
import { clipQuantities } from '../src/ecif/clip-conformance.ts';
import { parseClipVectors } from '../src/models/clip/conformance-file.ts';
import { openClipFolder } from '../src/models/clip/conformance.node.ts';

const folderOf = (i: number): string => fileURLToPath(new URL(`./vectors/clip-${i}`, import.meta.url));
const TOLERANCE = 1e-8;
const scratch = mkdtempSync(join(tmpdir(), 'ecif-'));
afterAll(() => rmSync(scratch, { recursive: true }));

async function quantitiesOf(path: string, config?: (text: string) => string): Promise<Quantities> {
  const folder = await openClipFolder(path);
  const device = new CpuDevice();
  try {
    return await clipQuantities({ ...folder, config: config?.(folder.config) ?? folder.config }, device);
  } finally {
    expect(device.memory().live).toBe(0);
    await folder.close();
  }
}

const failures = (actual: Quantities, expected: Quantities): Comparison[] =>
  compareQuantities(actual, expected, () => TOLERANCE).filter((c) => !c.pass);

const textOf = (i: number): string => readFileSync(join(folderOf(i), 'vectors.json'), 'utf8');
const expectedOf = (i: number): Quantities => parseClipVectors('f', textOf(i)).expected;

describe.each([1, 2, 3])('clip-%i', (i) => {
  it('has every quantity equal', async () => {
    const expected = expectedOf(i);
    expect(Object.keys(expected)).toEqual(
      expect.arrayContaining(['textEmbeds', 'imageEmbeds', 'similarity', 'loss', 'grad', 'hvp', 'ggnvp', 'pos', 'neg']),
    );
    const actual = await quantitiesOf(folderOf(i));
    expect(compareQuantities(actual, expected, () => TOLERANCE)).toHaveLength(178);
    expect(failures(actual, expected)).toEqual([]);
  });
});

describe('what must fail', () => {
  const actual = quantitiesOf(folderOf(1));

  it.each([
    ['textEmbeds', (e: Quantities) => ((e.textEmbeds as number[])[40] += 1e-7)],
    ['loss', (e: Quantities) => ((e.loss as number) *= 1 + 1e-7)],
    ['neg.exact', (e: Quantities) => (((e.neg as Quantities).exact as number) *= 1 + 1e-7)],
    ['pairDirectional.neg', (e: Quantities) => ((e.pairDirectional as Record<string, number[]>).neg[3] *= -1)],
    [
      'hvp.text_model.encoder.layers.1.self_attn.v_proj.lora_B.weight',
      (e: Quantities) =>
        (e.hvp as Record<string, number[]>)['text_model.encoder.layers.1.self_attn.v_proj.lora_B.weight'].pop(),
    ],
  ])('an altered %s is named alone', async (quantity, alter) => {
    const expected = expectedOf(1);
    alter(expected);
    expect(failures(await actual, expected).map((c) => c.quantity)).toEqual([quantity]);
  });

  it.each([
    ['the other activation', '"quick_gelu"', '"gelu"'],
    ['another epsilon', '1e-05', '1e-03'],
    ['other heads', '"num_attention_heads": 2', '"num_attention_heads": 4'],
  ])('%s gives other numbers', async (_what, from, to) => {
    const other = await quantitiesOf(folderOf(1), (text) => text.replaceAll(from, to));
    expect(failures(other, expectedOf(1)).map((c) => c.quantity)).toEqual(
      expect.arrayContaining(['textEmbeds', 'imageEmbeds', 'loss']),
    );
  });
});

describe('a bad folder', () => {
  const text = textOf(1);
  type Loose = Record<string, never> & { lora: Record<string, unknown>; vector: Record<string, number[]> };
  const altered = (change: (json: Loose) => unknown): string => {
    const json = JSON.parse(text) as Loose;
    change(json);
    return JSON.stringify(json);
  };
  const set = (field: string, value: unknown) => (json: object) => Object.assign(json, { [field]: value });

  it.each([
    ['cut off', text.slice(0, 300), 'f.json: JSON: not JSON'],
    ['of another kind', altered(set('kind', 'convex')), 'f.json: kind: found "convex"; give "clip"'],
    ['without rank', altered((j) => delete j.lora.rank), 'f.json: lora.rank: found nothing; give a whole number'],
    ['without texts', altered(set('inputIds', [])), 'f.json: inputIds: found a list of 0'],
    ['that removes nothing', altered(set('remove', [])), 'f.json: remove: found 0 of 6 pairs'],
    ['that removes pair 6', altered(set('remove', [6])), 'f.json: remove[0]: found 6; give a whole number in 0…5'],
    ['with fewer images', altered(set('pixelValues', { shape: [5, 3, 32, 32], data: [] })), 'found 5 images; give 6'],
    ['without expectations', altered(set('expected', undefined)), 'f.json: expected: found nothing; give an object'],
    ['with a null number', altered(set('expected', { loss: null })), 'f.json: expected.loss: found null'],
  ])('%s is refused with file, field and what to do', (_what, content, message) => {
    expect(() => parseClipVectors('f.json', content)).toThrow(message);
  });

  it.each([
    ['parameter of the direction', (j: Loose) => (j.vector.nothing = [1]), 'vector.nothing: no such parameter'],
    ['length of the direction', (j: Loose) => Object.values(j.vector)[0].pop(), 'found 63 numbers; give 64'],
  ])('an odd %s is refused', async (_what, change, message) => {
    const path = join(scratch, 'odd');
    cpSync(folderOf(1), path, { recursive: true });
    writeFileSync(join(path, 'vectors.json'), altered(change));
    const folder = await openClipFolder(path);
    await expect(clipQuantities(folder, new CpuDevice())).rejects.toThrow(message);
    await folder.close();
  });

  it('without an adapter is refused by its path', async () => {
    const path = join(scratch, 'missing');
    cpSync(folderOf(1), path, { recursive: true });
    rmSync(join(path, 'lora.safetensors'));
    await expect(openClipFolder(path)).rejects.toThrow('lora.safetensors: file: found nothing; add it to the folder');
  });
});
