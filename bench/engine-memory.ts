// 2,000 training steps leave device memory exactly where it was after step 20.

import * as ecif from '../src/index.ts';
import type { Bench } from './engine.ts';
import { mlp } from './models.ts';
import { note, print, type Row, target } from './report.ts';

const STEPS = 2000;

export async function memoryRows({ device }: Bench): Promise<Row[]> {
  const { theta: start, loss } = mlp(device, 32, 64);
  let theta = start;
  const before = await ecif.scope(() => loss(theta)).item();
  let early = device.memory();
  for (let step = 1; step <= STEPS; step++) {
    const next = ecif.scope(() => {
      const g = ecif.grad(loss)(theta);
      return theta.map(({ w, b }, i) => ({
        w: ecif.combine(1, w, -0.05, g[i].w),
        b: ecif.combine(1, b, -0.05, g[i].b),
      }));
    });
    ecif.disposeTree(theta);
    theta = next;
    await device.tick();
    if (step === 20) early = device.memory();
  }
  await device.sync();
  const late = device.memory();
  const after = await ecif.scope(() => loss(theta)).item();
  ecif.disposeTree(theta);
  const bytes = (m: ecif.MemoryUse): number => m.live + m.pooled;
  return [
    target(
      'memory',
      `bytes gained between step 20 and step ${STEPS}`,
      Math.abs(bytes(late) - bytes(early)),
      '≤',
      0,
      '',
      { early: bytes(early), late: bytes(late) },
    ),
    note('memory', 'loss before and after (the steps were real)', `${before.toFixed(3)} → ${after.toFixed(3)}`),
  ].map(print);
}
