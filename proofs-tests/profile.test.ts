// A random CLIP folder made by the script is complete, and `ecif profile` runs on it and reports what it measured.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { norm } from '../src/array/vector.ts';
import type { Profile } from '../src/cli/profile/run.ts';
import { fileSource } from '../src/models/clip/files.node.ts';
import { openSafetensors } from '../src/models/clip/safetensors.ts';
import { runCli } from './support/cli.ts';
import { temporaryFolder } from './support/shapes.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const script = (...words: string[]): string =>
  execFileSync(process.execPath, ['--import', 'tsx', join(root, 'scripts/random-clip.ts'), ...words], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });

describe('a random CLIP folder', () => {
  it('is written in the dtype asked for, refused where a model lies, and profiled', async () => {
    const folder = join(temporaryFolder(), 'tiny');
    expect(script(folder, 'tiny', 'BF16', '3')).toContain('random weights in BF16');
    const before = readFileSync(join(folder, 'model.safetensors'));
    expect(() => script(folder, 'tiny')).toThrow('holds a model');
    expect(readFileSync(join(folder, 'model.safetensors')).equals(before)).toBe(true);

    const source = await fileSource(join(folder, 'model.safetensors'));
    const weights = await openSafetensors(source);
    expect(new Set(Array.from(weights.tensors.values(), ({ dtype }) => dtype))).toEqual(new Set(['BF16']));
    const drawn = await weights.values('text_model.embeddings.token_embedding.weight');
    const deviation = norm(Float64Array.from(drawn)) / Math.sqrt(drawn.length);
    expect(deviation).toBeCloseTo(0.02, 4);
    await source.close();

    const { stdout, code } = await runCli(['profile', folder, '--pairs', '3', '--device', 'cpu', '--json']);
    expect(code).toBe(0);
    const { stages, results, pairs, trained } = JSON.parse(stdout) as Profile;
    expect(stages.map(({ name }) => name)).toEqual([
      'load the weights',
      'embed a picture',
      'embed a text',
      'gradient',
      'Hessian product',
      'frozen layers',
      'gradient after them',
      'Hessian product after them',
    ]);
    expect(stages.every(({ seconds, devicePeak, hostPeak }) => seconds > 0 && devicePeak > 0 && hostPeak > 0)).toBe(
      true,
    );
    expect(pairs).toBe(3);
    // q and v of two layers of two towers, A and B of rank 8 and width 64.
    expect(trained).toBe(2 * 2 * 2 * 2 * 8 * 64);
    // Three pairs of a model that knows nothing: near 2·3·ln 3.
    expect(Math.abs(results.loss / (6 * Math.log(3)) - 1)).toBeLessThan(0.5);
    expect(results.gradient).toBeGreaterThan(0);
    expect(Math.abs(results.cosine)).toBeLessThanOrEqual(1);
  });

  it('refuses sizes and dtypes it does not know', () => {
    const folder = temporaryFolder();
    expect(() => script(folder, 'vit-h-14')).toThrow('vit-b-16');
    expect(() => script(folder, 'tiny', 'F8')).toThrow('BF16');
  });
});
