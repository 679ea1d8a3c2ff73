// ecif demo: the whole workflow on emoji whose captions are partly swapped, in minutes.

import { relative } from 'node:path';
import { defineCommand } from '../command.ts';
import { runDemo } from './run.ts';
import { SETTINGS } from './settings.ts';
import { demoText } from './text.ts';
import { onDevice } from '../devices.ts';
import { smallClipFolder } from '../versions.ts';

/** The small CLIP of this package, as seen from here. */
const smallClip = (): string => relative(process.cwd(), smallClipFolder());

export const demo = defineCommand({
  name: 'demo',
  summary: 'find swapped captions among emoji, trace a mistake, remove the harmful pairs beside training again',
  example: 'ecif demo --seed 3 --out .cache/demo-3',
  options: {
    out: {
      kind: 'text',
      label: 'DIR',
      default: '.cache/demo',
      help: 'folder to write; a demo that was killed goes on there, one that is done is shown again',
    },
    fresh: { kind: 'flag', help: 'begin anew where the folder holds a demo' },
    quick: { kind: 'flag', help: 'fewer pairs, as without an adapter' },
    seed: {
      kind: 'number',
      whole: true,
      least: 0,
      most: 2 ** 32 - 1,
      default: 0,
      help: 'of the pairs, the swaps and the start; equal seeds give equal results on one device',
    },
  },
  run: ({ out, fresh, quick, seed }, context) =>
    onDevice(context, async (device) => {
      const settings = SETTINGS[quick ? 'cpu' : device.kind];
      const json = await runDemo({ out, model: smallClip(), seed, settings, fresh }, device, context.progress);
      return { json, text: demoText(json), ok: true };
    }),
});
