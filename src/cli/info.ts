// ecif info: the device that would be used, its limits, and the versions in play.

import { availableParallelism } from 'node:os';
import type { Device } from '../device/open.ts';
import { defineCommand } from './command.ts';
import { withDevice } from './devices.ts';
import { bytes, columns } from './format.ts';
import { ownVersion, packageVersion } from './versions.ts';

const LIMITS = [
  'maxBufferSize',
  'maxStorageBufferBindingSize',
  'maxStorageBuffersPerShaderStage',
  'maxComputeWorkgroupStorageSize',
  'maxComputeInvocationsPerWorkgroup',
] as const;

/** What there is to know about a WebGPU adapter. */
function describeAdapter(device: Device) {
  if (device.kind === 'cpu') return null;
  const { vendor, architecture, device: model, description, isFallbackAdapter } = device.gpu.adapterInfo;
  return {
    vendor,
    architecture,
    model,
    description,
    software: isFallbackAdapter,
    subgroupSize: device.subgroupSize,
    features: [...device.gpu.features].sort(),
    limits: Object.fromEntries(LIMITS.map((name) => [name, device.gpu.limits[name]])),
  };
}

function gather(device: Device) {
  return {
    device: {
      kind: device.kind,
      name: device.name,
      precision: device.kind === 'cpu' ? 'float64' : 'float32',
      reason: device.reason,
    },
    adapter: describeAdapter(device),
    versions: { ecif: ownVersion(), node: process.versions.node, webgpu: packageVersion('webgpu') },
    platform: { os: process.platform, arch: process.arch, cores: availableParallelism() },
  };
}

function describe({ device, adapter, versions, platform }: ReturnType<typeof gather>): string {
  const rows: [string, string][] = [
    ['device', device.name],
    ['why', device.reason],
  ];
  if (adapter !== null) {
    const { vendor, architecture, software, subgroupSize, limits } = adapter;
    const kind = (software ? vendor : `${vendor} ${architecture}`).trim() || 'unnamed';
    rows.push(
      ['adapter', `${kind}${software ? ' (software, no GPU)' : ''}`],
      [
        'subgroups',
        subgroupSize === 0 ? 'none of one fixed size; portable kernels' : `${subgroupSize} lanes; subgroup kernels`,
      ],
      [
        'one buffer',
        `${bytes(limits.maxBufferSize)} at most, ${bytes(limits.maxStorageBufferBindingSize)} bound at once`,
      ],
      [
        'workgroup',
        `${bytes(limits.maxComputeWorkgroupStorageSize)}, ${limits.maxComputeInvocationsPerWorkgroup} invocations`,
      ],
    );
  }
  rows.push(
    ['versions', `ecif ${versions.ecif}, node ${versions.node}, webgpu ${versions.webgpu ?? 'not installed'}`],
    ['platform', `${platform.os} ${platform.arch}, ${platform.cores} cores`],
  );
  return columns(rows);
}

export const info = defineCommand({
  name: 'info',
  summary: 'the device that would be used and why, its limits, versions',
  example: 'ecif info --json',
  options: {},
  run: (_values, { device }) =>
    withDevice(device, (opened) => {
      const json = gather(opened);
      return Promise.resolve({ json, text: describe(json), ok: true });
    }),
});
