// A model trained over many partitions has to be edited over them; one fresh partition stands for none of it.

import { expect, it } from 'vitest';
import { distance } from '../src/array/vector.ts';
import { algorithm1Corrected, randomPartition } from '../src/ecif/algorithms.ts';
import { createRng, overPartitions, minimise, totalLoss } from '../src/index.ts';
import { corpusOf } from '../src/verify/claims/algorithm.ts';
import { randomInstance } from '../src/verify/instance.ts';
import { plainMinimum } from '../src/verify/plain.ts';
import { plainProblem, settle } from '../src/verify/setting.ts';
import { cpu, median } from './support/hand.ts';
import { prove } from './support/proof.ts';

prove('erratum-13-partitions');

it('against retraining over all partitions: the average is clearly closer than one fresh partition', async () => {
  const [count, size, pairs] = [10, 4, 12];
  const errors: { average: number[]; fresh: number[] } = { average: [], fresh: [] };
  for (let seed = 0; seed < 15; seed++) {
    const shape = { text: 3, image: 3, pairs, batches: 3, temperature: 0.5, decay: 1, remove: 2 };
    const setting = await settle(randomInstance(seed, shape), cpu);
    const { file } = setting;
    const corpus = corpusOf(setting);
    const rng = createRng(seed);
    const partitions = Array.from({ length: count }, () => randomPartition(pairs, size, rng));
    const placed = partitions.map((partition) => partition.map((ids) => corpus.batchOf(ids)));
    const { theta } = await minimise(totalLoss(overPartitions(corpus, placed)), setting.theta);
    const w = Float64Array.from(await theta.w.data());
    const plain = plainProblem({ ...file, batches: partitions.flat(), delta: file.delta * count });
    const retrained = plainMinimum(plain.removal(1), w);
    const errorOver = async (over: typeof partitions): Promise<number> => {
      const { edited } = await algorithm1Corrected(corpus, theta, file.remove, over);
      return distance(edited, retrained) / distance(w, retrained);
    };
    errors.average.push(await errorOver(partitions));
    errors.fresh.push(await errorOver([randomPartition(pairs, size, rng)]));
    setting.dispose();
  }
  expect(median(errors.average)).toBeLessThan(0.5);
  expect(median(errors.fresh)).toBeGreaterThan(1.5 * median(errors.average));
});
