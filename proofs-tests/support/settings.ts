// Trained instances with a set to remove, for hand-made tests.

import { randomInstance } from '../../src/verify/instance.ts';
import { settle, type Setting } from '../../src/verify/setting.ts';
import { cpu } from './hand.ts';

/** Twelve pairs in three batches, four of them removed, at least one from every batch; `shift` takes other ones. */
export function acrossBatches(shift = 0): Promise<Setting> {
  const shape = { batches: 3, pairs: 12, text: 3, image: 2, temperature: 0.5, decay: 0.5, remove: 4 };
  const file = randomInstance(17, shape);
  const [a, b, c] = file.batches;
  return settle({ ...file, remove: [a[shift], a[shift + 2], b[1 + shift], c[2 + shift]] }, cpu);
}
