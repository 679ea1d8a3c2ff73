// docs/metrics.md is one program that prints what the page says, and names every metric there is.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { blocksOf, page, printedBy, root } from './blocks.ts';

const folder = 'src/ecif/metrics';

describe('docs/metrics.md', () => {
  it('prints what it says', () => {
    const blocks = blocksOf(page('docs/metrics.md'));
    expect(blocks.filter(({ claimed }) => claimed !== '').length).toBeGreaterThan(3);
    expect(printedBy(blocks)).toEqual(blocks.map(({ claimed }) => claimed));
  });

  it('names every function that the folder of metrics exports and index.ts passes on', () => {
    const declared = readdirSync(join(root, folder)).flatMap((file) =>
      [...page(`${folder}/${file}`).matchAll(/^export (?:async )?(?:function|const) (\w+)/gm)].map((m) => m[1]),
    );
    const index = page('src/index.ts');
    const named = declared.filter((name) => new RegExp(String.raw`\b${name}\b`).test(index));
    expect(named.length).toBeGreaterThan(25);
    const text = page('docs/metrics.md');
    expect(named.filter((name) => !new RegExp(String.raw`\b${name}\b`).test(text))).toEqual([]);
  });
});
