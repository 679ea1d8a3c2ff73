// Tests that need a WebGPU adapter under Node: skipped loudly where there is none, failed under ECIF_REQUIRE_GPU=1.
import { describeWhere } from './where.ts';

const REASON = 'no WebGPU adapter; `npm run setup:gpu` installs a software one';

let probe: Promise<GPUAdapter | null> | undefined;

/** Whether Dawn gives an adapter in this process; asked once. */
export async function gpuAvailable(): Promise<boolean> {
  probe ??= requestAdapter();
  return (await probe) !== null;
}

/** `describe` for tests that need an adapter. Call it with `await` at the top level of a test file. */
export async function describeGpu(name: string, fn: () => void): Promise<void> {
  describeWhere(await gpuAvailable(), REASON, name, fn);
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
