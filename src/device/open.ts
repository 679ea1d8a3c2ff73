// Choosing a device: WebGPU where there is an adapter, the CPU otherwise.

import { DeviceError } from '../array/errors.ts';
import { CpuDevice } from './cpu.ts';
import { WebGpuDevice, type WebGpuOptions } from './webgpu/device.ts';
import { napping, wideAwake } from './webgpu/naps.ts';

/** A place where tensors live and ops run. */
export type Device = CpuDevice | WebGpuDevice;

/** Settings of {@link openDevice}. */
export interface DeviceOptions extends WebGpuOptions {
  /** `auto` takes WebGPU if there is an adapter, else the CPU. */
  kind?: 'auto' | 'cpu' | 'webgpu';
}

const PIN = Symbol.for('ecif.webgpu');

const underNode = (): boolean => typeof process !== 'undefined' && process.versions?.node !== undefined;

/** The page's `navigator.gpu`, else Dawn's under Node, else null. Dawn's object is pinned: collecting it crashes Node. */
async function findGpu(): Promise<GPU | null> {
  if (typeof navigator !== 'undefined' && 'gpu' in navigator && navigator.gpu != null) return navigator.gpu;
  if (!underNode()) return null;
  const pinned = globalThis as { [PIN]?: GPU };
  if (pinned[PIN] !== undefined) return pinned[PIN];
  const packageName = 'webgpu';
  try {
    const dawn = (await import(/* @vite-ignore */ packageName)) as { create(flags: string[]): GPU; globals: object };
    for (const [name, value] of Object.entries(dawn.globals)) (globalThis as Record<string, unknown>)[name] ??= value;
    return (pinned[PIN] = dawn.create([]));
  } catch {
    return null;
  }
}

async function openWebGpu(options: DeviceOptions): Promise<WebGpuDevice | string> {
  const gpu = await findGpu();
  const node = underNode();
  if (gpu === null) return node ? 'no WebGPU here (install the package `webgpu`)' : 'this browser has no WebGPU';
  const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
  if (adapter === null)
    return node
      ? 'no WebGPU adapter (under Linux, `npm run setup:gpu` installs software Vulkan)'
      : 'this browser offers no WebGPU adapter';
  const { maxBufferSize, maxStorageBufferBindingSize, maxStorageBuffersPerShaderStage } = adapter.limits;
  const device = await adapter.requestDevice({
    requiredFeatures: adapter.features.has('subgroups') ? ['subgroups'] : [],
    requiredLimits: { maxBufferSize, maxStorageBufferBindingSize, maxStorageBuffersPerShaderStage },
  });
  const { info } = adapter;
  return new WebGpuDevice(device, info, {
    ...options,
    wait: options.wait ?? (node && info.isFallbackAdapter ? napping() : wideAwake),
  });
}

/**
 * Opens a device. Its `name` says which one it is, its `reason` why.
 * @param options which kind, and settings of the WebGPU device
 * @throws DeviceError when WebGPU was asked for and there is none
 * @example const device = await openDevice(); console.log(device.name);
 */
export async function openDevice(options: DeviceOptions = {}): Promise<Device> {
  const { kind = 'auto', checkFinite = false } = options;
  if (kind === 'cpu') return new CpuDevice({ checkFinite });
  const found = await openWebGpu(options);
  if (typeof found !== 'string') return found;
  if (kind === 'webgpu') throw new DeviceError(`openDevice: ${found}; choose cpu, or auto to fall back`);
  return new CpuDevice({ checkFinite, reason: found });
}
