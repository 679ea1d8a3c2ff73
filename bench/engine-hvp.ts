// Hessian products over gradients and dual-number sweeps over forwards, each checked against float64.

import * as ecif from '../src/index.ts';
import type { Bench } from './engine.ts';
import { loraBlock, mlp, type Problem, VIT_B16 } from './models.ts';
import { readFlat, relativeError } from './errors.ts';
import { note, print, type Row, target } from './report.ts';
import { compare, ratio, type Timing } from './timing.ts';

interface Limits {
  readonly oneShot: number;
  readonly linearised: number;
  readonly sweep: number;
  readonly many: number;
}

const ALL_WEIGHTS: Limits = { oneShot: 3.0, linearised: 2.2, sweep: 3.4, many: 0.7 };
const LORA: Limits = { oneShot: 2.3, linearised: 1.4, sweep: 2.4, many: 0.7 };
const TANGENTS = 8;

/** Times one problem; `make` builds it on a device, so that float64 gives the expected product. */
async function measure<T>(
  { device, cpu }: Bench,
  make: (d: ecif.Device) => Problem<T>,
  limits: Limits,
  repeat: number,
): Promise<Row[]> {
  const { name, theta, direction, outputs, loss } = make(device);
  const lin = ecif.linearizeGrad(loss, theta);
  const tangents = Array.from({ length: TANGENTS }, () => direction);
  const repeated = (f: () => unknown) => async (): Promise<void> => {
    for (let i = 0; i < repeat; i++) ecif.disposeTree(ecif.scope(f));
    await device.sync();
  };
  const times = await compare([
    { name: 'forward', run: repeated(() => outputs(theta)) },
    { name: 'grad', run: repeated(() => ecif.grad(loss)(theta)) },
    { name: 'hvp', run: repeated(() => ecif.hvp(loss, theta, direction)) },
    { name: 'linearised', run: repeated(() => lin.hvp(direction)) },
    { name: 'jvp', run: repeated(() => Object.values(ecif.jvp(outputs, theta, direction))) },
    { name: 'jvpMany', run: repeated(() => Object.values(ecif.jvpMany(outputs, theta, tangents))) },
  ]);
  const [forward, gradient, product, linearised, sweep, many] = times;
  const ms = (t: Timing): number => t.median / repeat;
  const reference = make(cpu);
  const expected = await readFlat(ecif.hvp(reference.loss, reference.theta, reference.direction));
  const errors = [
    relativeError(await readFlat(ecif.hvp(loss, theta, direction)), expected),
    relativeError(await readFlat(lin.hvp(direction)), expected),
  ];
  lin.dispose();
  return [
    target('Hessian product', `${name}: hvp / grad`, ratio(product, gradient), '≤', limits.oneShot, '', {
      ms: ms(product),
      gradMs: ms(gradient),
    }),
    target('Hessian product', `${name}: linearised / grad`, ratio(linearised, gradient), '≤', limits.linearised, '', {
      ms: ms(linearised),
    }),
    target('Hessian product', `${name}: error to float64`, Math.max(...errors), '≤', 1e-4, ''),
    target('JVP sweep', `${name}: jvp / forward`, ratio(sweep, forward), '≤', limits.sweep, '', {
      ms: ms(sweep),
      forwardMs: ms(forward),
    }),
    target(
      'JVP sweep',
      `${name}: ${TANGENTS} tangents / ${TANGENTS} jvp`,
      ratio(many, sweep) / TANGENTS,
      '≤',
      limits.many,
      '',
    ),
    note('Hessian product', `${name}: ops in one linearised product`, String(lin.length)),
  ].map(print);
}

export async function hvpRows(bench: Bench): Promise<Row[]> {
  return [
    ...(await measure(bench, (d) => mlp(d, 64, 256), ALL_WEIGHTS, 10)),
    ...(await measure(bench, (d) => mlp(d, 128, 768), ALL_WEIGHTS, 2)),
    ...(await measure(bench, (d) => loraBlock(d, VIT_B16), LORA, 1)),
  ];
}
