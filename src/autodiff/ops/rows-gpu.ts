// How rows are spread over invocations.

import type { WebGpuDevice } from '../../device/webgpu/device.ts';

/**
 * Lanes that share a row, and rows per workgroup. Software adapters (narrow subgroups) pay for barriers and not for
 * scattered loads, so there each row gets one lane unless there are too few rows to fill the cores.
 */
export function rowLayout(device: WebGpuDevice, rows: number, length: number): { lanes: number; perGroup: number } {
  const software = device.subgroupSize > 0 && device.subgroupSize <= 8;
  if (software ? rows >= 16 || length < 256 : length < 16) return { lanes: 1, perGroup: software ? 8 : 64 };
  return { lanes: 32, perGroup: 2 };
}
