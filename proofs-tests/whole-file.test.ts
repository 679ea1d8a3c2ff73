// Files that are written whole or not at all, by several processes to one path.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { writeTogetherSync, writeWhole, writeWholeSync } from '../src/array/whole-file.node.ts';
import { temporaryFolder } from './support/shapes.ts';

const module = fileURLToPath(new URL('../src/array/whole-file.node.ts', import.meta.url));

/** A process that writes a file of one letter again and again. */
const writer = (path: string, letter: string): Promise<number | null> =>
  new Promise((resolve) => {
    const text = `import { writeWhole, writeWholeSync } from ${JSON.stringify(module)};
      for (let i = 0; i < 300; i++) {
        await writeWhole(${JSON.stringify(path)}, '${letter}'.repeat(5000));
        writeWholeSync(${JSON.stringify(path)}, '${letter}'.repeat(5000));
      }`;
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', text], { stdio: 'inherit' });
    child.on('exit', resolve);
  });

it('is whole whoever of several writes last', async () => {
  const path = join(temporaryFolder(), 'file');
  expect(await Promise.all([writer(path, 'a'), writer(path, 'b')])).toEqual([0, 0]);
  expect(readFileSync(path, 'utf8')).toMatch(/^(a{5000}|b{5000})$/);
  expect(readdirSync(join(path, '..'))).toEqual(['file']);
});

it('leaves nothing of a failure, nor of a killed process of this machine, and all of others', async () => {
  const folder = temporaryFolder();
  const host = hostname().replace(/[^\w-]/g, '_');
  const [dead, alive, elsewhere] = [
    `a.${host}.999999999-1.part`,
    `a.${host}.${process.pid}-0.part`,
    'a.x-y.999999999-1.part',
  ];
  for (const name of [dead, alive, elsewhere]) writeFileSync(join(folder, name), 'half');
  await writeWhole(join(folder, 'b'), 'whole');
  expect(readdirSync(folder).sort()).toEqual([alive, elsewhere, 'b'].sort());
  expect(() => writeWholeSync(join(folder, 'no', 'file'), '')).toThrow('cannot be written');
  await expect(writeWhole(folder, '')).rejects.toThrow('cannot be written');
  expect(readdirSync(folder)).toHaveLength(3);
});

it('writes files together: all or none', () => {
  const folder = temporaryFolder();
  const [a, b] = [join(folder, 'a'), join(folder, 'b')];
  expect(() =>
    writeTogetherSync([
      [a, 'x'],
      [join(folder, 'no', 'b'), 'y'],
    ]),
  ).toThrow('no/b: cannot be written');
  expect(readdirSync(folder)).toEqual([]);
  writeTogetherSync([
    [a, 'x'],
    [b, 'y'],
  ]);
  expect([a, b].map((path) => readFileSync(path, 'utf8'))).toEqual(['x', 'y']);
});
