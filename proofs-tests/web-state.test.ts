// The playground's state table and the address: every state is a link, and no address does harm.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Param, type Params, read, tidy, written } from '../web/app/params.ts';
import { changed, hashOf, stateOf, tableOf } from '../web/app/state.ts';
import { FIGURES } from '../web/figures/index.ts';

const table = tableOf(FIGURES);

/** Values that a control could ask for, in range or not. */
function wished(param: Param): fc.Arbitrary<unknown> {
  if (param.kind === 'choice') return fc.constantFrom(...param.choices);
  if (param.kind === 'flag') return fc.boolean();
  if (param.kind === 'text') return fc.string({ maxLength: 300, unit: 'binary' });
  if (param.kind === 'set') return fc.array(fc.integer({ min: -2, max: param.most + 5 }), { maxLength: 40 });
  const number = fc.oneof(
    fc.integer({ min: -2000, max: 2000 }).map((x) => x / 64),
    fc.constantFrom(1e300, -1e300, 1e-300),
  );
  return param.kind === 'list' ? fc.array(number, { minLength: param.size, maxLength: param.size }) : number;
}

const patches = fc.constantFrom(...table).chain(([name, params]) =>
  fc
    .record(Object.fromEntries(Object.entries(params).map(([key, param]) => [key, wished(param)])), {
      requiredKeys: [],
    })
    .map((patch) => ({ name, patch })),
);

/** Whether a value is one that its parameter may have. */
function allowed(param: Param, value: unknown): boolean {
  if (param.kind === 'choice') return param.choices.includes(value as string);
  if (param.kind === 'flag') return typeof value === 'boolean';
  if (param.kind === 'text') return typeof value === 'string' && value.length <= param.longest;
  const within = (x: unknown, least: number, most: number): boolean => typeof x === 'number' && x >= least && x <= most;
  if (param.kind === 'number') return within(value, param.least, param.most);
  if (param.kind === 'whole') return within(value, param.least, param.most) && Number.isInteger(value);
  const list = value as readonly number[];
  if (param.kind === 'list') return list.length === param.size && list.every((x) => within(x, param.least, param.most));
  const whole = list.every((x) => Number.isInteger(x) && within(x, 0, param.most));
  return whole && list.length <= param.size && new Set(list).size === list.length;
}

describe('the address of the playground', () => {
  it('has figures of different names', () => {
    expect(FIGURES.length).toBeGreaterThan(0);
    expect(new Set(FIGURES.map(({ name }) => name)).size).toBe(FIGURES.length);
  });

  it('is empty where all is as unless told', () => {
    expect(hashOf(table, stateOf(table, ''))).toBe('');
  });

  it('holds every state', () => {
    fc.assert(
      fc.property(fc.array(patches, { maxLength: 6 }), (list) => {
        const state = list.reduce((now, { name, patch }) => changed(table, now, name, patch), stateOf(table, ''));
        const hash = hashOf(table, state);
        expect(stateOf(table, hash)).toEqual(state);
        expect(hashOf(table, stateOf(table, hash))).toBe(hash);
      }),
      { numRuns: 200 },
    );
  });

  it('gives allowed values whatever it says', () => {
    const names = [...table].flatMap(([name, params]) =>
      Object.keys(params).map((key) => (name === '' ? key : `${name}.${key}`)),
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('NaN', '1e999', '-5', '%', '%zz', '0_1_2', '__', '1_x', '<script>'),
    );
    const part = fc.tuple(
      fc.oneof(fc.constantFrom(...names), fc.constantFrom('__proto__', 'constructor', 'batch.__proto__')),
      text,
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const state = stateOf(table, `#${parts.map(([name, value]) => `${name}=${value}`).join('&')}`);
        for (const [name, params] of table) {
          for (const [key, param] of Object.entries(params)) {
            expect(allowed(param, (state.get(name) as Record<string, unknown>)[key])).toBe(true);
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('parameters', () => {
  const PARAMS = {
    x: { kind: 'number', least: 0, most: 2, default: 1 },
    n: { kind: 'whole', least: 1, most: 9, default: 3 },
    some: { kind: 'set', most: 5, size: 3, default: [] },
    order: { kind: 'set', most: 5, size: 6, default: [0], ordered: true },
  } as const satisfies Params;

  it('are brought into their ranges, sets without repeats', () => {
    expect(tidy(PARAMS, { x: 7, n: 2.4, some: [4, 4, 1, 9, -1, 0, 2] })).toEqual({
      x: 2,
      n: 2,
      some: [0, 1, 4],
      order: [0],
    });
    expect(tidy(PARAMS, { order: [3, 1, 2] }).order).toEqual([3, 1, 2]);
  });

  it('are written only where they differ', () => {
    expect(written(PARAMS, tidy(PARAMS, { x: 1 / 3 }))).toEqual({ x: '0.3333' });
  });

  it('are read from texts, wrong ones passed over', () => {
    expect(read(PARAMS, { x: 'abc', n: '4', some: '2_1', more: '1' })).toEqual({
      x: 1,
      n: 4,
      some: [1, 2],
      order: [0],
    });
  });
});
