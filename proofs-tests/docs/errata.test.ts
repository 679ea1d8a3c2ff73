// docs/errata.md: its program prints what it says, its quotations are those of `ecif verify`, and no claim is left out.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CpuDevice } from '../../src/device/cpu.ts';
import type { Claim } from '../../src/verify/claim.ts';
import { CLAIMS } from '../../src/verify/claims/index.ts';
import { randomInstance } from '../../src/verify/instance.ts';
import { judge, measureOn } from '../../src/verify/run.ts';
import { blocksOf, page, printedBy, root } from './blocks.ts';

const text = page('docs/errata.md');
const device = new CpuDevice();
/** The defaults of `ecif verify`. */
const [SEED, INSTANCES] = [1, 16];

const claimOf = (id: string): Claim => {
  const claim = CLAIMS.find((c) => c.id === id);
  if (claim === undefined) throw new Error(`docs/errata.md quotes ${id}; no such claim`);
  return claim;
};

/** Lines `ID  counterexample` of the text blocks. */
const quoted = [...text.matchAll(/^((?:eq|prop|thm|alg|erratum)-[\w-]+) {2,}(.+)$/gm)].map(
  (m) => [m[1], m[2]] as const,
);

/** The page by erratum. */
const sections = new Map(
  text
    .split(/<a id="erratum-(\d+)"><\/a>/)
    .slice(1)
    .reduce<[number, string][]>(
      (all, part, i, parts) => (i % 2 === 0 ? [...all, [Number(part), parts[i + 1]]] : all),
      [],
    ),
);

describe('docs/errata.md', () => {
  it('prints what it says', () => {
    const blocks = blocksOf(text);
    expect(blocks.length).toBeGreaterThan(5);
    expect(printedBy(blocks)).toEqual(blocks.map(({ claimed }) => claimed));
  });

  it('quotes many claims', () => {
    expect(quoted.length).toBeGreaterThan(20);
  });

  it.each(quoted)('quotes what `ecif verify` says of %s', async (id, line) => {
    expect((await judge(claimOf(id), device, SEED, INSTANCES)).counterexample).toBe(line);
  });

  it('has the fourteen errata in order, each with its claims and their proofs', () => {
    expect([...sections.keys()]).toEqual(Array.from({ length: 14 }, (_, i) => i + 1));
    for (const { id, erratum } of CLAIMS) {
      if (erratum !== undefined) expect(sections.get(erratum), id).toContain(`(../proofs-tests/${id}.test.ts)`);
    }
  });

  it('links to files and places that exist', () => {
    const links = [...text.matchAll(/\]\(([^)#]+)\)/g)].map((m) => join(root, 'docs', m[1]));
    expect(links.filter((file) => !existsSync(file))).toEqual([]);
    expect(text).toMatch(/^## Bounds that hold$/m);
  });

  it('says how many claims there are', () => {
    expect(text).toContain(`(${CLAIMS.length} claims,`);
  });

  /** Errors of the printed form on the instances of `ecif verify`. */
  const printedErrors = (id: string): Promise<number[]> => {
    const claim = claimOf(id);
    const files = Array.from({ length: INSTANCES }, (_, i) => randomInstance(SEED * 10_007 + i, claim.shape));
    return Promise.all(files.map(async (file) => (await measureOn(claim, file, device)).printed));
  };

  it('5 (a): the second term is above the whole change in all instances', async () => {
    expect(Math.min(...(await printedErrors('erratum-05-vacuous')))).toBeGreaterThan(0);
  });

  it('4: the error is 1 + √2/2 on every instance', async () => {
    for (const error of await printedErrors('erratum-04-root-half')) expect(error).toBeCloseTo(1 + Math.SQRT1_2, 6);
  });

  it('5 (d): L⁻ is not convex at θ̂ in most instances', async () => {
    const errors = await printedErrors('erratum-05-convexity');
    expect(errors.filter((x) => x > 1e-9).length).toBeGreaterThan(INSTANCES / 2);
  });
});
