// Tests that need a WebGPU adapter under Node: skipped loudly where there is none, failed under ECIF_REQUIRE_GPU=1.
import { describe, it } from 'vitest';

const REASON = 'no WebGPU adapter; `npm run setup:gpu` installs a software one';

let probe: Promise<GPUAdapter | null> | undefined;

/** Whether Dawn gives an adapter in this process; asked once. */
export async function gpuAvailable(): Promise<boolean> {
  probe ??= requestAdapter();
  return (await probe) !== null;
}

/** `describe` for tests that need an adapter. Call it with `await` at the top level of a test file. */
export async function describeGpu(name: string, fn: () => void): Promise<void> {
  if (await gpuAvailable()) {
    describe(name, fn);
  } else if (process.env.ECIF_REQUIRE_GPU === '1') {
    it(`${name} (needs a GPU)`, () => {
      throw new Error(`ECIF_REQUIRE_GPU=1: ${REASON}`);
    });
  } else {
    console.warn(`SKIPPED ${name}: ${REASON}`);
    describe.skip(`${name} (skipped: ${REASON})`, fn);
  }
}

async function requestAdapter(): Promise<GPUAdapter | null> {
  try {
    const { create } = await import('webgpu');
    // Dawn crashes if this object is collected while an adapter or device of it lives.
    const pinned = globalThis as { ecifTestGpu?: GPU };
    pinned.ecifTestGpu ??= create([]);
    return await pinned.ecifTestGpu.requestAdapter();
  } catch (error) {
    console.warn(`webgpu cannot be loaded: ${String(error)}`);
    return null;
  }
}
