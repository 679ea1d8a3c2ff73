// Runs in the page: the engine where the browser has no WebGPU.

import { openDevice, sum, tensor } from '../../src/index.ts';

export async function main(): Promise<{ kind: string; sum: number }> {
  Object.defineProperty(navigator, 'gpu', { value: undefined, configurable: true });
  const device = await openDevice();
  return { kind: device.kind, sum: await sum(tensor(device, [1, 2, 3])).item() };
}
