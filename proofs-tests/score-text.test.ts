// Tables as text: the very bytes, what other programs write, and what is refused.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseCsv } from '../src/data/csv.ts';
import { readTable } from '../src/data/score-reader.node.ts';
import type { Column, Row } from '../src/data/score-table.ts';
import { openTable } from '../src/data/score-writer.node.ts';

const folder = mkdtempSync(join(tmpdir(), 'ecif-text-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('text', () => {
  const columns: Column[] = [
    { name: 'id', type: 'string' },
    { name: 'flag', type: 'string', nullable: true },
    { name: 'x', type: 'float64', nullable: true },
  ];
  const written: Row[] = [
    ['plain', null, -0],
    ['a,"b"\nc', '', 1e21],
    ['é', 'x y', NaN],
  ];

  async function read(path: string): Promise<Row[]> {
    const rows: Row[] = [];
    for await (const row of readTable(path, columns)) rows.push(row);
    return rows;
  }

  it('CSV and JSONL are these bytes', async () => {
    const texts = ['csv', 'jsonl'].map(async (format) => {
      const path = join(folder, `exact.${format}`);
      const table = await openTable(path, columns);
      await table.write(written);
      await table.close();
      return readFileSync(path, 'utf8');
    });
    const [csv, jsonl] = await Promise.all(texts);
    expect(csv).toBe('id,flag,x\nplain,,-0.0\n"a,""b""\nc","",1e+21\né,x y,\n');
    expect(jsonl).toBe(
      '{"id":"plain","flag":null,"x":-0.0}\n{"id":"a,\\"b\\"\\nc","flag":"","x":1e+21}\n{"id":"é","flag":"x y","x":null}\n',
    );
  });

  it.each([
    ['a.csv', '', 'empty; give a first line'],
    ['a.csv', 'id,flag,x\na,b', 'line 2: found 2 fields, the first line has 3'],
    ['a.csv', 'id,flag,x\na,b,0x10', 'line 2: "x": found "0x10"; give a finite number or no value'],
    ['a.csv', 'id,flag,x\na,"b,1', 'line 2: a quote is never closed'],
    ['a.csv', 'id,flag,x\na,"b"\r,1', 'line 2: "\\r" after a closing quote'],
    ['a.jsonl', '{"id":"a"}\n[1]', 'line 2: found [1]; give one object a line'],
    ['a.jsonl', '{"id":"a"}\n{"id":', 'line 2: no JSON'],
    ['a.jsonl', '{"id":7}', 'line 1: "id": found 7; give a text'],
    ['a.csv', Uint8Array.of(0xff, 0xfe, 0x41), 'not UTF-8 text'],
    ['a.txt', 'id', 'no known table; end the name with .parquet, .csv or .jsonl'],
  ])('%s with %j is refused', async (name, content, message) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    await expect((async () => read(path))()).rejects.toThrow(`${path}: ${message}`);
  });

  it('other programs end lines with CRLF, begin with a mark, and leave fields out', async () => {
    const csv = join(folder, 'other.csv');
    writeFileSync(csv, '\ufeffx,id,more,flag\r\n1.50,"a ""b""",?,\r\n\r\n+,c,?,d');
    await expect(read(csv)).rejects.toThrow('line 4: "x": found "+"');
    writeFileSync(csv, '\ufeffx,id,more,flag\r\n1.50,"a ""b""",?,\r\n\r\n-.5,c,?,d');
    expect(await read(csv)).toEqual([
      ['a "b"', null, 1.5],
      ['c', 'd', -0.5],
    ]);
    const jsonl = join(folder, 'other.jsonl');
    writeFileSync(jsonl, '\ufeff{"x": 1, "id": "a"}\r\n\n {"id": "b", "flag": "c"}');
    expect(await read(jsonl)).toEqual([
      ['a', null, 1],
      ['b', 'c', null],
    ]);
  });

  it('CSV that comes in pieces is that which comes whole, wherever it is cut', async () => {
    const path = join(folder, 'large.csv');
    const table = await openTable(path, columns);
    await table.write(Array.from({ length: 9000 }, (_, i): Row => [`"é😀\r\n${i}`, i % 2 ? null : '', i]));
    const { bytes } = await table.close();
    expect(bytes).toBeGreaterThan(3 * 65_536);
    const whole = parseCsv(path, readFileSync(path, 'utf8'), ',').slice(1);
    expect((await read(path)).map((cells) => cells[0])).toEqual(whole.map(({ fields }) => fields[0]));
  });
});
