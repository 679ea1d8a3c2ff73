// docs/from-scratch.md is one program that prints what the page says.

import { describe, expect, it } from 'vitest';
import { blocksOf, page, printedBy } from './blocks.ts';

describe('docs/from-scratch.md', () => {
  it('prints what it says', () => {
    const blocks = blocksOf(page('docs/from-scratch.md'));
    expect(blocks.length).toBeGreaterThan(8);
    expect(blocks.filter(({ claimed }) => claimed !== '').length).toBeGreaterThan(8);
    expect(printedBy(blocks)).toEqual(blocks.map(({ claimed }) => claimed));
  });
});

describe('the reader of pages', () => {
  const text = [
    "```ts\nimport { createRng } from 'ecif';\nconsole.log(typeof createRng, 1 + 1);\n```",
    '```text\nfunction 3\n```',
    '```ts\nconst two = 2;\n```',
    'Words.',
    '```text\nnot of the block above\n```',
    '```ts\nconsole.log(two);\n```',
  ].join('\n\n');

  it('takes the text directly below a block as its claim', () => {
    expect(blocksOf(text).map(({ claimed }) => claimed)).toEqual(['function 3', '', '']);
  });

  it('runs the blocks as one program, and sees a wrong claim', () => {
    const blocks = blocksOf(text);
    expect(printedBy(blocks)).toEqual(['function 2', '', '2']);
    expect(printedBy(blocks)[0]).not.toBe(blocks[0].claimed);
  });
});
