// ecif profile: what a CLIP folder costs on a device.

import { defineCommand } from '../command.ts';
import { withDevice } from '../devices.ts';
import { bytes, columns, table } from '../format.ts';
import { type Profile, profileClip } from './run.ts';
import { LORA_OPTIONS, loraOf } from '../train/options.ts';

function describe({ device, parameters, trained, pairs, stages, results, process: whole }: Profile): string {
  const rows = stages.map(({ name, seconds, devicePeak, hostPeak }) => [
    name,
    `${seconds.toFixed(2)} s`,
    bytes(devicePeak),
    bytes(hostPeak),
  ]);
  const last = stages[stages.length - 1];
  return [
    `${(parameters / 1e6).toFixed(1)} million weights, ${trained} trained, batches of ${pairs} pairs, on ${device}`,
    table([['', 'time', 'device, most so far', 'host, most so far'], ...rows]),
    columns([
      [
        'peak',
        `${bytes(last.devicePeak)} on the device, ${bytes(last.hostPeak)} on the host; the process in all ${bytes(whole)}`,
      ],
      ['results', Object.entries(results).reduce((t, [name, x]) => `${t}${name} ${x.toPrecision(5)}  `, '')],
    ]),
  ].join('\n\n');
}

export const profile = defineCommand({
  name: 'profile',
  summary: 'time and memory of a CLIP folder: load, embed, gradient and Hessian product of an adapter',
  example: 'ecif profile clip-vit-base-patch16 --pairs 2 --text-layers last:2 --vision-layers last:2',
  options: {
    pairs: { kind: 'number', whole: true, least: 2, most: 4096, default: 2, help: 'pairs of a batch' },
    ...LORA_OPTIONS,
  },
  operands: { label: 'DIR', help: 'CLIP folder in Hugging Face’s form', least: 1, most: 1 },
  run: (values, { device: kind, operands: [folder], progress }) =>
    withDevice(kind, async (device) => {
      const json = await profileClip(folder, device, (config) => loraOf(config, values), values.pairs, progress);
      return { json, text: describe(json), ok: true };
    }),
});
