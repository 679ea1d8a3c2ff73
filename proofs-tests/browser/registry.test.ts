// The engine's bundle in headless Chromium: a chosen set of the registry tests on its WebGPU.

import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { registry } from '../../src/autodiff/ops/registry.ts';
import { describeBrowser, runInBrowser } from '../support/browser.ts';
import { TOLERANCE } from '../support/op-checks.ts';
import type { main, PageResult } from './registry-page.ts';

const CHOSEN = [
  'affine',
  'exp',
  'gelu',
  'tanh',
  'erf',
  'pow',
  'add',
  'mul',
  'div',
  'maximum',
  'where',
  'sum',
  'logSumExp',
  'permute',
  'slice',
  'pad',
  'concat',
  'gather',
  'scatterAdd',
  'matmul',
  'activatedMatmul',
  'softmax',
  'layerNorm',
  'standardize',
  'attention',
  'contrastive',
  'contrastiveHvp',
];

describeBrowser('the engine in Chromium', () => {
  it('ops in the browser equal the CPU, to second order', async () => {
    expect(CHOSEN.filter((name) => !registry.some((op) => op.name === name))).toEqual([]);
    const page = fileURLToPath(new URL('./registry-page.ts', import.meta.url));
    const { device, automatic, results } = await runInBrowser<Awaited<ReturnType<typeof main>>>(page, {
      argument: CHOSEN,
      timeoutMs: 280_000,
    });
    console.log(`registry in Chromium on ${device}: ${CHOSEN.length} ops, ${results.length} cases`);
    expect(automatic).toBe('webgpu');
    expect(new Set(results.map((r) => r.op)).size).toBe(CHOSEN.length);
    const limit = TOLERANCE.webgpu;
    const wrong = (r: PageResult): boolean =>
      !(
        r.value <= limit.forward &&
        r.tangent <= limit.tangent &&
        r.gradient <= limit.gradient &&
        r.product <= limit.product
      );
    expect(results.filter(wrong)).toEqual([]);
  }, 300_000);

  it('with no WebGPU in the page, openDevice gives the CPU', async () => {
    const page = fileURLToPath(new URL('./no-gpu-page.ts', import.meta.url));
    expect(await runInBrowser(page)).toEqual({ kind: 'cpu', sum: 6 });
  });
});
