// The registry checks catch planted faults: in every op a wrong vjp, jvp and vjp wrong alike, a detached second order.

import { afterAll, describe, expect, it } from 'vitest';
import type { Fused, Op, Primitive, Tangent } from '../src/autodiff/op.ts';
import { stopGradient } from '../src/autodiff/ops/layout.ts';
import { registry } from '../src/autodiff/ops/registry.ts';
import { affine } from '../src/autodiff/ops/unary.ts';
import { CpuDevice } from '../src/device/cpu.ts';
import { Case, checkRules, hasRules, TOLERANCE } from './support/op-checks.ts';

const device = new CpuDevice();
const scaled = (t: Tangent): Tangent => t && affine(t, 1.001, 0);
let planted = 0;

type Rules = Primitive<unknown>;

const dropFirst = (cts: readonly Tangent[]): Tangent[] =>
  cts.map((t, i) => (i === cts.findIndex((c) => c !== null) ? null : t));
type Mutant = readonly [name: string, plant: (op: Rules) => Rules];

const MUTANTS: readonly Mutant[] = [
  ['vjp off by 0.1 %', (op) => ({ ...op, vjp: (...a) => op.vjp(...a).map(scaled) })],
  [
    'jvp off by 0.1 %',
    (op) => ({
      ...op,
      jvp:
        (...a) =>
        (dx) =>
          scaled(op.jvp(...a)(dx)),
    }),
  ],
  [
    'jvp and vjp off alike',
    (op) => ({
      ...op,
      jvp:
        (...a) =>
        (dx) =>
          scaled(op.jvp(...a)(dx)),
      vjp: (...a) => op.vjp(...a).map(scaled),
    }),
  ],
  ['a cotangent dropped', (op) => ({ ...op, vjp: (...a) => dropFirst(op.vjp(...a)) })],
  ['vjp negated', (op) => ({ ...op, vjp: (...a) => op.vjp(...a).map((t) => t && affine(t, -1, 0)) })],
];

/** Rules that see their primals as constants: right at first order, wrong at second. */
const detached = (op: Rules): Rules => ({
  ...op,
  keeps: 'both',
  jvp: (x, y, p) => op.jvp(x.map(stopGradient), stopGradient(y), p),
  vjp: (ct, x, y, p, needs) => op.vjp(ct, x.map(stopGradient), stopGradient(y), p, needs),
});

/** Whether any check of any sample fails. */
async function caught(op: Op<unknown>): Promise<boolean> {
  planted++;
  for (const [i, sample] of op.samples.entries()) {
    const kase = new Case(op, sample, 100 * i);
    if (kase.free.length === 0) continue;
    const errors = await checkRules(kase, device);
    if ((['adjoint', 'jvp', 'hvp', 'symmetry'] as const).some((kind) => !(errors[kind] <= TOLERANCE.cpu[kind])))
      return true;
  }
  return false;
}

/** Ops that are linear in each input alone, or piecewise so: there is no second-order term to detach. */
const LINEAR = new Set([
  'affine',
  'neg',
  'abs',
  'relu',
  'clamp',
  'add',
  'sub',
  'combine',
  'maximum',
  'minimum',
  'where',
  'sum',
  'mean',
  'max',
  'reshape',
  'permute',
  'broadcastTo',
  'slice',
  'pad',
  'concat',
  'gather',
  'scatterAdd',
  'take',
  'put',
]);

const primitives = registry.filter((op): op is Rules => 'jvp' in op);
const fused = registry.filter((op): op is Fused<unknown> => 'define' in op);

describe.each(primitives.map((op) => [op.name, op] as const))('%s', (name, op) => {
  it('passes unharmed', async () => {
    planted--;
    expect(await caught(op)).toBe(false);
  });
  it.each(MUTANTS)('is caught with %s', async (_fault, plant) => {
    expect(await caught(plant(op))).toBe(true);
  });
  if (LINEAR.has(name)) {
    it('has no second order to detach', async () => {
      planted--;
      expect(await caught(detached(op))).toBe(false);
    });
  } else {
    it('is caught with its second order detached', async () => {
      expect(await caught(detached(op))).toBe(true);
    });
  }
});

describe.each(fused.map((op) => [op.name, op] as const))('%s (fused)', (_name, op) => {
  it('is caught with a definition off by 0.1 %', async () => {
    expect(await caught({ ...op, define: (x, p) => affine(op.define(x, p), 1.001, 0) })).toBe(true);
  });
  it('is caught with a definition of an input detached', async () => {
    expect(await caught({ ...op, define: (x, p) => op.define([stopGradient(x[0]), ...x.slice(1)], p) })).toBe(true);
  });
});

it('covers every op that has a derivative', () => {
  const covered = new Set([...primitives, ...fused].map((op) => op.name));
  const rest = registry.filter((op) => !covered.has(op.name) && hasRules(op));
  expect(rest.every((op) => 'derivative' in op && op.derivative === 'zero')).toBe(true);
});

afterAll(() => console.log(`mutants: ${planted} planted in ${primitives.length + fused.length} ops`));
