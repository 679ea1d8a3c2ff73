// ecif train --keep-checkpoints: what is kept after an epoch are the parameters that a run of so many epochs ends with.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readCheckpoints } from '../src/cli/train/kept-checkpoints.ts';
import { openDevice } from '../src/device/open.ts';
import { settingsOf, temporaryFolder, trainHere, writeBase } from './support/shapes.ts';
import { readTheta } from './support/runs.ts';

it('keeps the parameters of every checkpoint, with their step sizes', async () => {
  const folder = temporaryFolder();
  const { data, model } = await writeBase(folder);
  const recipe = { data, model, batch: 6, rate: 1e-2, seed: 5, 'checkpoint-every': 2, warmup: 3 };
  const constant = { ...recipe, schedule: 'constant' } as const;
  const [long, short] = [join(folder, 'long'), join(folder, 'short')];
  await trainHere({ ...constant, out: long, epochs: 3, 'keep-checkpoints': true });
  await trainHere({ ...constant, out: short, epochs: 2 });
  expect(readdirSync(join(long, 'checkpoints')).sort()).toEqual([2, 4, 6].map((n) => `step-${n}.safetensors`));

  const device = await openDevice({ kind: 'cpu' });
  const like = await readTheta(join(short, 'theta.safetensors'), 'theta', device);
  const kept = await readCheckpoints(long, like, settingsOf(constant), 6, device);
  const warming = (1e-2 * 2) / 3;
  expect(kept.map(({ rate }) => rate)).toEqual([warming, 1e-2, 1e-2]);
  for (const [name, values] of Object.entries(like)) {
    expect([...(await kept[1].theta[name].data())]).toEqual([...(await values.data())]);
    expect([...(await kept[2].theta[name].data())]).not.toEqual([...(await values.data())]);
  }
  expect(await readCheckpoints(short, like, settingsOf(constant), 4, device)).toEqual([]);
});
