// The journal of a scoring run: whatever it was cut off at, its complete blocks are found again.
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type Journal, openJournal } from '../src/data/score-journal.node.ts';
import type { Column } from '../src/data/score-table.ts';

const folder = mkdtempSync(join(tmpdir(), 'ecif-journal-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('a journal', () => {
  const place = join(folder, 'journal');
  const columns: readonly Column[] = [
    { name: 'id', type: 'string' },
    { name: 'x', type: 'float64', nullable: true },
  ];
  const blocks = [
    [['a', 1]],
    [],
    [
      ['b\n', null],
      ['', -0],
    ],
  ] as [string, number | null][][];
  const open = (signature = 's', cols = columns): Promise<Journal> => openJournal(place, cols, signature);
  const blockFile = join(place, 'blocks.bin');

  async function fill(): Promise<Buffer> {
    rmSync(place, { recursive: true, force: true });
    const journal = await open();
    for (const [i, rows] of blocks.entries()) await journal.append(i, rows);
    await journal.close();
    return readFileSync(blockFile);
  }

  async function contents(journal: Journal): Promise<unknown[]> {
    const rows: unknown[] = [];
    for await (const row of journal.rows()) rows.push(row);
    return rows;
  }

  it('gives back its blocks, and takes the next one only', async () => {
    await fill();
    const journal = await open();
    expect(journal.completed).toBe(3);
    expect(await contents(journal)).toEqual(blocks.flat());
    await expect(journal.append(4, [])).rejects.toThrow(`${place}: block 4 after 3 blocks; add block 3`);
    await expect(journal.append(3, [['a', 'b']])).rejects.toThrow(
      'block 3, row 0: "x": found "b"; give a finite number',
    );
    await journal.discard();
    expect(existsSync(place)).toBe(false);
  });

  it('cut off at any byte, or with any byte changed, keeps the blocks before it and goes on to the same bytes', async () => {
    const whole = await fill();
    const sizes = blocks.map((_, i) => i).map((i) => whole.indexOf(Uint8Array.of(0x45, 0x43, 0x46, 0x4a, i)));
    const ends = [...sizes.slice(1), whole.length];
    const resume = async (bytes: Uint8Array, complete: number): Promise<void> => {
      writeFileSync(blockFile, bytes);
      const journal = await open();
      expect(journal.completed).toBe(complete);
      for (let i = complete; i < blocks.length; i++) await journal.append(i, blocks[i]);
      await journal.close();
      expect(readFileSync(blockFile).equals(whole)).toBe(true);
    };
    for (let cut = 0; cut <= whole.length; cut += 3) {
      await resume(whole.subarray(0, cut), ends.filter((end) => end <= cut).length);
      if (cut >= whole.length) continue;
      const changed = Uint8Array.from(whole);
      changed[cut] ^= 0x40;
      await resume(changed, ends.filter((end) => end <= cut).length);
    }
    appendFileSync(blockFile, new Uint8Array(100));
    await resume(readFileSync(blockFile), 3);
  });

  it('of another run is refused, and so is a second writer', async () => {
    await fill();
    await expect(open('other')).rejects.toThrow(`${place}: was begun with other settings, data or columns`);
    await expect(open('s', columns.slice(1))).rejects.toThrow('was begun with other settings, data or columns');
    const [one, two] = [await open(), await open()];
    await one.append(3, [['c', 1]]);
    await expect(two.append(3, [['c', 1]])).rejects.toThrow(`${place}: another process writes to it`);
    await two.close();
    await one.discard();
  });

  it('says which folder it cannot write to', async () => {
    writeFileSync(join(folder, 'file'), '');
    const inside = join(folder, 'file', 'journal');
    await expect(openJournal(inside, columns, 's')).rejects.toThrow(`${inside}: cannot be written, ENOTDIR`);
  });
});
