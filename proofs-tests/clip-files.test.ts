// A Hugging Face CLIP folder and a PEFT adapter, on disk and in memory: read, written, refused; and the memory they take.

import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { EcifError } from '../src/array/errors.ts';
import { blobFolder, blobSource, bytesFolder, bytesSource, isPlainName } from '../src/models/clip/byte-source.ts';
import { type FileFolder, fileFolder, fileSource, saveFile, saveSafetensors } from '../src/models/clip/files.node.ts';
import { openAdapterDirectory, openClipDirectory, openClipWeights } from '../src/models/clip/hf-directory.ts';
import { saveAdapter, saveClip } from '../src/models/clip/hf-directory.node.ts';
import {
  openSafetensors,
  planSafetensors,
  type Safetensors,
  writeSafetensors,
} from '../src/models/clip/safetensors.ts';
import { type FetchProgress, urlFolder } from '../src/models/clip/url-folder.ts';

const scratch = mkdtempSync(join(tmpdir(), 'ecif-clip-'));
afterAll(() => rmSync(scratch, { recursive: true }));
let count = 0;
/** A new empty folder. */
function emptyFolder(): string {
  const path = join(scratch, `${count++}`);
  mkdirSync(path);
  return path;
}

const model = fileURLToPath(new URL('./vectors/clip-1', import.meta.url));
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const json = (value: unknown): Uint8Array => utf8(JSON.stringify(value));
const files = {
  'config.json': new Uint8Array(readFileSync(join(model, 'config.json'))),
  'model.safetensors': new Uint8Array(readFileSync(join(model, 'model.safetensors'))),
};

/** Every tensor of a file, by name. */
async function allOf(file: Safetensors): Promise<Map<string, number[]>> {
  const all = new Map<string, number[]>();
  for (const name of [...file.tensors.keys()].toSorted()) all.set(name, [...(await file.values(name))]);
  return all;
}

async function withFolder<R>(path: string, use: (folder: FileFolder) => Promise<R>): Promise<R> {
  const folder = await fileFolder(path);
  try {
    return await use(folder);
  } finally {
    await folder.close();
  }
}

/** The tiny model in two shards, with its index. */
async function sharded(): Promise<Record<string, Uint8Array>> {
  const file = await openSafetensors(bytesSource('m', files['model.safetensors']));
  const parts = await Promise.all(
    [...file.tensors.values()].map(async ({ name, shape }) => ({ name, shape, values: await file.values(name) })),
  );
  const names = ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors'];
  const shardOf = (i: number): 0 | 1 => (i % 3 === 0 ? 0 : 1);
  const weight_map = Object.fromEntries(parts.map(({ name }, i) => [name, names[shardOf(i)]]));
  return {
    'config.json': files['config.json'],
    'model.safetensors.index.json': json({ metadata: { total_size: 1 }, weight_map }),
    ...Object.fromEntries(names.map((name, s) => [name, writeSafetensors(parts.filter((_, i) => shardOf(i) === s))])),
  };
}

describe('a CLIP folder', () => {
  it('on disk gives its settings and its weights', async () => {
    await withFolder(model, async (folder) => {
      const { config, weights, preprocess, tokenizer } = await openClipDirectory(folder);
      expect([config.projection, config.vision.imageSize, preprocess.crop]).toEqual([
        16,
        32,
        { height: 32, width: 32 },
      ]);
      expect([...(await weights.values('logit_scale'))]).toEqual([2]);
      await expect(tokenizer()).rejects.toThrow('tokenizer: no vocabulary in the folder; add vocab.json');
    });
  });

  it('in shards is the same as in one file', async () => {
    const whole = await openClipWeights(bytesFolder('m', files));
    const parts = await openClipDirectory(bytesFolder('s', await sharded()));
    expect(await allOf(parts.weights)).toEqual(await allOf(whole));
    await expect(parts.weights.values('none')).rejects.toThrow('s/model.safetensors.index.json: tensor "none": not in');
  });

  it('with a tokenizer gives one of the length the model takes, if it is of the model', async () => {
    const vocab = { '<|startoftext|>': 94, '<|endoftext|>': 95, 'a</w>': 1 };
    const tokenizers = { 'vocab.json': json(vocab), 'merges.txt': utf8('#version: 0.2\n') };
    const { tokenizer } = await openClipDirectory(bytesFolder('m', { ...files, ...tokenizers }));
    expect((await tokenizer()).encodeBatch(['a a'])).toHaveLength(12);
    const larger = { ...tokenizers, 'vocab.json': json({ ...vocab, b: 96 }) };
    const other = await openClipDirectory(bytesFolder('m', { ...files, ...larger }));
    await expect(other.tokenizer()).rejects.toThrow(
      'm: tokenizer: 97 tokens, the model has 96; give files of one model',
    );
  });

  const without = (name: keyof typeof files): Record<string, Uint8Array> =>
    Object.fromEntries(Object.entries(files).filter(([file]) => file !== name));
  const wider = JSON.parse(new TextDecoder().decode(files['config.json'])) as Record<string, unknown>;

  it.each([
    ['no config', without('config.json'), 'm: config.json: not in the folder; name the folder of a CLIP model'],
    ['no weights', without('model.safetensors'), 'm: model.safetensors: not in the folder; download it'],
    [
      'a key twice',
      { ...files, 'config.json': utf8('{"a":1,"a":2}') },
      'm/config.json: JSON "a": the key stands there',
    ],
    ['a config cut off', { ...files, 'config.json': utf8('{"a":') }, 'm/config.json: JSON: not JSON'],
    ['a config too large', { ...files, 'config.json': new Uint8Array(2 ** 21) }, 'm/config.json: size: 2097152 bytes'],
    [
      'the config of another model',
      { ...files, 'config.json': json({ ...wider, projection_dim: 8 }) },
      'm/model.safetensors: tensor "visual_projection.weight": shape: found [16, 32], the model needs [8, 32]',
    ],
    [
      'the preprocessing of another model',
      { ...files, 'preprocessor_config.json': json({ crop_size: 224 }) },
      'm/preprocessor_config.json: crop_size: pictures become 224 × 224, the model takes 32 × 32',
    ],
  ])('with %s is refused', async (_what, content, message) => {
    await expect(openClipDirectory(bytesFolder('m', content))).rejects.toThrow(message);
  });

  it('lacking a tensor is refused by its name', async () => {
    const file = await openSafetensors(bytesSource('m', files['model.safetensors']));
    const kept = [...file.tensors.values()].filter(({ name }) => name !== 'text_projection.weight');
    const tensors = await Promise.all(
      kept.map(async (t) => ({ name: t.name, shape: t.shape, values: await file.values(t.name) })),
    );
    const folder = bytesFolder('m', { ...files, 'model.safetensors': writeSafetensors(tensors) });
    await expect(openClipDirectory(folder)).rejects.toThrow(
      'm/model.safetensors: tensor "text_projection.weight": not among',
    );
  });
});

describe('an index of shards', () => {
  const index = 'model.safetensors.index.json';
  const open = async (weight_map: unknown): Promise<Safetensors> =>
    openClipWeights(bytesFolder('s', { ...(await sharded()), [index]: json({ weight_map }) }));

  it.each([
    '../secret.safetensors',
    '/etc/passwd.safetensors',
    'a/b.safetensors',
    'a\\b.safetensors',
    'C:x.safetensors',
    '..',
    '.safetensors',
    'x\u0000.safetensors',
    'x.bin',
    '',
    7,
    null,
  ])('that names %j is refused', async (shard) => {
    await expect(open({ w: shard })).rejects.toThrow(`s/${index}: weight_map "w": found`);
    await expect(open({ w: shard })).rejects.toThrow('give a .safetensors file in the same folder');
  });

  it('that lacks its map, a file or a tensor is refused', async () => {
    await expect(open(undefined)).rejects.toThrow(`s/${index}: weight_map: found nothing; give an object`);
    await expect(open({ w: 'gone.safetensors' })).rejects.toThrow('"gone.safetensors": no such file in the folder');
    await expect(open({ w: 'model-00001-of-00002.safetensors' })).rejects.toThrow(
      's/model-00001-of-00002.safetensors: tensor "w": not among',
    );
    const many = Object.fromEntries(Array.from({ length: 1025 }, (_, i) => [`w${i}`, `${i}.safetensors`]));
    await expect(open(many)).rejects.toThrow(`s/${index}: weight_map: 1025 files; give at most 1024`);
  });

  it('made by chance never does worse than an EcifError', async () => {
    const whole = await sharded();
    const bytes = whole[index];
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { maxLength: 5 }), async (changes) => {
        const mutated = changes.reduce((all, [at, value]) => all.with(at, value), bytes);
        const outcome = await openClipWeights(bytesFolder('s', { ...whole, [index]: mutated })).catch(
          (e: unknown) => e,
        );
        expect(outcome instanceof EcifError || !(outcome instanceof Error)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});

describe('an adapter', () => {
  const settings = { peft_type: 'LORA', r: 2, lora_alpha: 4, use_rslora: true, target_modules: ['q_proj'] };
  const prefix = 'base_model.model.vision_model.encoder.layers.0.self_attn.q_proj';
  const tensors = [
    { name: `${prefix}.lora_A.weight`, shape: [2, 3], values: async () => Float64Array.of(1, 2, 3, 4, 5, 6) },
    { name: `${prefix}.lora_B.weight`, shape: [3, 2], values: async () => Float64Array.of(6, 5, 4, 3, 2, 0.5) },
  ];

  it('written to a folder comes back, and nothing else is left there', async () => {
    const path = join(emptyFolder(), 'new', 'adapter');
    await saveAdapter(path, settings, tensors);
    expect(readdirSync(path).toSorted()).toEqual(['adapter_config.json', 'adapter_model.safetensors']);
    await withFolder(path, async (folder) => {
      const adapter = await openAdapterDirectory(folder);
      expect(adapter.settings).toMatchObject({ rank: 2, alpha: 4, scaling: 'root' });
      expect(await allOf(adapter.weights)).toEqual(
        new Map([
          [`${prefix}.lora_A.weight`, [1, 2, 3, 4, 5, 6]],
          [`${prefix}.lora_B.weight`, [6, 5, 4, 3, 2, 0.5]],
        ]),
      );
      expect(adapter.weights.metadata).toEqual({ format: 'pt' });
    });
  });

  it('without its files, or with bad ones, is refused', async () => {
    const open = (content: Record<string, Uint8Array>) => openAdapterDirectory(bytesFolder('a', content));
    const config = { 'adapter_config.json': json(settings) };
    await expect(open({})).rejects.toThrow(
      'a: adapter_config.json: not in the folder; name the folder of a PEFT adapter',
    );
    await expect(open(config)).rejects.toThrow('a: adapter_model.safetensors: not in the folder');
    await expect(open({ ...config, 'adapter_model.safetensors': new Uint8Array(3) })).rejects.toThrow(
      'a/adapter_model.safetensors: header: the file has 3 bytes',
    );
    await expect(open({ 'adapter_config.json': json({ ...settings, r: 0 }) })).rejects.toThrow(
      'a/adapter_config.json: r',
    );
  });
});

describe('a model written', () => {
  it.each(['F32', 'F16', 'BF16'] as const)('in %s comes back', async (dtype) => {
    const path = emptyFolder();
    const file = await openSafetensors(bytesSource('m', files['model.safetensors']));
    const tensors = [...file.tensors.values()].map((t) => ({ ...t, dtype, values: () => file.values(t.name) }));
    await saveClip(path, JSON.parse(new TextDecoder().decode(files['config.json'])), tensors);
    await withFolder(path, async (folder) => {
      const { weights } = await openClipDirectory(folder);
      expect([...weights.tensors.values()].every((t) => t.dtype === dtype)).toBe(true);
      const name = 'visual_projection.weight';
      const [wanted, found] = [[...(await file.values(name))], await weights.values(name)];
      const error = wanted.reduce((most, x, i) => Math.max(most, Math.abs(x - found[i]) / Math.abs(x)), 0);
      expect(error).toBeLessThanOrEqual({ F32: 0, F16: 2 ** -11, BF16: 2 ** -8 }[dtype]);
      if (dtype !== 'F32') expect(error).toBeGreaterThan(0);
    });
  });

  it('that fails half way leaves the old file and no other', async () => {
    const path = emptyFolder();
    const target = join(path, 'model.safetensors');
    await saveFile(target, 'old');
    const failing = { name: 'w', shape: [2], values: async () => [1] };
    await expect(saveSafetensors(target, [failing])).rejects.toThrow('tensor "w": 1 values for [2]');
    expect([readdirSync(path), readFileSync(target, 'utf8')]).toEqual([['model.safetensors'], 'old']);
    await expect(saveFile(join(path, 'no', 'file'), '')).rejects.toThrow('cannot be written');
  });
});

describe('files', () => {
  it('that are none are refused', async () => {
    const path = emptyFolder();
    await expect(fileSource(join(path, 'none'))).rejects.toThrow(/none: cannot be read, .*; check the path$/);
    await expect(fileSource(path)).rejects.toThrow('not a file; name a file');
    await expect(fileFolder(join(path, 'none'))).rejects.toThrow('cannot be read');
    writeFileSync(join(path, 'file'), 'x');
    await expect(fileFolder(join(path, 'file'))).rejects.toThrow('not a folder');
    await withFolder(path, async (folder) => {
      expect(await folder.open('none')).toBeNull();
      await expect(folder.open('../x')).rejects.toThrow('"../x" leaves the folder; name a file in it');
    });
  });

  it('that become shorter while they are read are refused, and so are ranges outside', async () => {
    const path = join(emptyFolder(), 'file');
    writeFileSync(path, new Uint8Array(100));
    const source = await fileSource(path);
    expect(await source.read(98, 2)).toEqual(new Uint8Array(2));
    for (const [offset, length] of [
      [-1, 2],
      [99, 2],
      [0.5, 1],
      [0, NaN],
    ]) {
      await expect(source.read(offset, length)).rejects.toThrow('the file has 100; is it complete?');
    }
    truncateSync(path, 50);
    await expect(source.read(0, 100)).rejects.toThrow('got 50; is the file complete?');
    await source.close();
  });

  it('of the browser are read in the same way', async () => {
    const file = await openSafetensors(blobSource('m', new Blob([files['model.safetensors']])));
    expect(file.tensors.size).toBe(78);
    expect([...(await file.values('logit_scale'))]).toEqual([2]);
  });

  it('of the browser make a folder', async () => {
    const blobs = Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, new Blob([bytes])]));
    const { config, weights } = await openClipDirectory(blobFolder('m', blobs));
    expect([config.projection, weights.source]).toEqual([16, 'm/model.safetensors']);
    expect(await blobFolder('m', blobs).open('toString')).toBeNull();
  });

  it('have plain names', () => {
    expect(['a.json', 'model-00001-of-00002.safetensors'].every(isPlainName)).toBe(true);
    expect(['', '.', '..', '.hidden', 'a/b', 'a\\b', 'c:d', 'a\n', 'x'.repeat(256)].some(isPlainName)).toBe(false);
  });
});

describe('a folder on a server', () => {
  /** Serves the tiny model under /m/, and answers 503 for busy.json; every path asked for is noted. */
  async function withServer(use: (url: string, asked: string[]) => Promise<void>): Promise<void> {
    const asked: string[] = [];
    const content = new Map<string, Uint8Array>(Object.entries(files));
    const server = createServer(({ url = '' }, response) => {
      asked.push(url);
      const bytes = content.get(url.replace('/m/', ''));
      response.statusCode = bytes !== undefined ? 200 : url.includes('busy') ? 503 : 404;
      response.end(bytes ?? '');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/m`, asked);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }

  it('is the same as on disk, each file fetched once', async () => {
    await withServer(async (url, asked) => {
      const pieces: FetchProgress[] = [];
      const folder = urlFolder(url, { onProgress: (piece) => pieces.push(piece) });
      const { weights } = await openClipDirectory(folder);
      expect(await allOf(weights)).toEqual(await allOf(await openClipWeights(bytesFolder('m', files))));
      const again = await folder.open('config.json');
      expect(await again?.read(0, again.size)).toEqual(files['config.json']);
      expect(asked.toSorted()).toEqual(['/m/config.json', '/m/model.safetensors', '/m/preprocessor_config.json']);
      const { length } = files['model.safetensors'];
      expect(pieces.at(-1)).toEqual({
        file: 'model.safetensors',
        received: length,
        total: expect.toBeOneOf([length, null]),
      });
    });
  });

  it('asks only for the files that are listed', async () => {
    await withServer(async (url, asked) => {
      const folder = urlFolder(`${url}/`, { files: ['config.json'] });
      expect(await folder.open('model.safetensors')).toBeNull();
      expect((await folder.open('config.json'))?.size).toBe(files['config.json'].length);
      expect(asked).toEqual(['/m/config.json']);
    });
  });

  it('has no file outside, and says what the server answered', async () => {
    await withServer(async (url, asked) => {
      const folder = urlFolder(url);
      expect(await folder.open('none?.json')).toBeNull();
      expect(asked).toEqual(['/m/none%3F.json']);
      await expect(folder.open('../secret')).rejects.toThrow('"../secret" leaves the folder; name a file in it');
      await expect(folder.open('busy.json')).rejects.toThrow(`${url}/busy.json: the server answers 503; check`);
      await expect(folder.open('busy.json')).rejects.toThrow(EcifError);
      expect(asked.filter((path) => path.includes('busy'))).toHaveLength(2);
    });
    await expect(urlFolder('http://127.0.0.1:1/').open('config.json')).rejects.toThrow(
      /config\.json: cannot be fetched, /,
    );
  });
});

describe('memory', () => {
  const megabyte = 2 ** 20;
  const path = join(scratch, 'large.safetensors');
  const here = fileURLToPath(new URL('../src/models/clip/', import.meta.url));

  /** Bytes of a file and of the process that reads all its tensors, keeping their values or not. */
  function measure(keep: boolean): { size: number; peak: number; read: number } {
    const script = `
      import { fileSource } from ${JSON.stringify(`${here}files.node.ts`)};
      import { openSafetensors } from ${JSON.stringify(`${here}safetensors.ts`)};
      const source = await fileSource(${JSON.stringify(path)});
      const file = await openSafetensors(source);
      const kept = [];
      let read = 0;
      for (const { name, length } of file.tensors.values()) {
        const values = await file.values(name);
        read += length;
        if (${keep}) kept.push(values);
      }
      await source.close();
      console.log(JSON.stringify({ read, size: source.size, peak: process.resourceUsage().maxRSS * 1024 }));`;
    const node = ['--import', 'tsx', '--input-type=module', '-e', script];
    return JSON.parse(execFileSync(process.execPath, node, { encoding: 'utf8' })) as ReturnType<typeof measure>;
  }

  it('reading every tensor of a file takes less than the file and 256 MB, and keeping them all does not', () => {
    const shape = [16 * megabyte];
    const plans = Array.from({ length: 10 }, (_, i) => ({ name: `w${i}`, shape, dtype: 'F16' as const }));
    const { head, size } = planSafetensors(plans);
    writeFileSync(path, head);
    truncateSync(path, size);
    const [streamed, kept] = [measure(false), measure(true)];
    rmSync(path);
    expect([streamed.size, streamed.read]).toEqual([size, 320 * megabyte]);
    expect(streamed.peak).toBeLessThan(size + 256 * megabyte);
    expect(kept.peak).toBeGreaterThan(size + 256 * megabyte);
  });
});
