// src/shaders/kernels.gen.ts says what the .wgsl files say, and the generator refuses what it does not understand.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { generateKernels, parseKernel } from '../scripts/gen-kernels.ts';

const shaders = fileURLToPath(new URL('../src/shaders/', import.meta.url));

const GOOD = `
// C = act(A·B), with \`backticks\` and \${braces} in a comment
enable f16, subgroups;
struct Params { m: u32, n: i32, scale: f32, k: u32, /* last */ flag: u32 }
override ACT: u32 = 0;
override FAST: bool = false;
@group(0) @binding(0) var<storage, read> a: array<f32>;
@binding(1) @group(0) var<storage, read> b: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;
var<workgroup> tile: array<f32, 64>;
@compute @workgroup_size(64, 1)
fn main(@builtin(global_invocation_id) id: vec3u) { out[id.x] = a[id.x]; }
`;

describe('kernels.gen.ts', () => {
  it('is fresh', () => {
    const file = join(shaders, 'kernels.gen.ts');
    const stored = existsSync(file) ? readFileSync(file, 'utf8') : '';
    expect(stored === generateKernels(shaders), 'src/shaders/kernels.gen.ts: stale; run `npm run gen`').toBe(true);
  });
});

describe('parseKernel', () => {
  it('reads bindings, parameters, constants and extensions', () => {
    expect(parseKernel('foo-bar-2.wgsl', GOOD)).toEqual({
      name: 'fooBar2',
      source: GOOD,
      bindings: [
        { name: 'a', access: 'read' },
        { name: 'b', access: 'read' },
        { name: 'out', access: 'read_write' },
      ],
      params: [
        { name: 'm', type: 'u32', offset: 0 },
        { name: 'n', type: 'i32', offset: 4 },
        { name: 'scale', type: 'f32', offset: 8 },
        { name: 'k', type: 'u32', offset: 12 },
        { name: 'flag', type: 'u32', offset: 16 },
      ],
      paramBytes: 32,
      constants: ['ACT', 'FAST'],
      subgroups: true,
    });
    expect(parseKernel('a.wgsl', GOOD.replace('enable f16, subgroups;', '// enable subgroups;')).subgroups).toBe(false);
  });

  it('appends the parts a kernel uses', () => {
    const kernel = parseKernel('a.wgsl', `// use erf.part.wgsl\n${GOOD}`, (name) => `fn erf() {} // ${name}`);
    expect(kernel.source).toContain(`out[id.x] = a[id.x]; }\n\nfn erf() {} // erf.part.wgsl\n`);
  });

  it.each<[string, string | RegExp, string, RegExp]>([
    ['a gap in the bindings', '@binding(2)', '@binding(4)', /^bad\.wgsl: binding 2 missing; /],
    ['a repeated binding', '@binding(1)', '@binding(0)', /binding 0 is both a and b/],
    ['another group', '@binding(1) @group(0)', '@binding(1) @group(1)', /variable b has no plain binding in group 0/],
    ['a binding without attributes', '@binding(1) @group(0) ', '', /variable b has no plain binding/],
    ['no params variable', /.*var<uniform>.*\n/, '', /the last binding is out; end with/],
    ['params under another name', 'params: Params', 'p: Params', /the last binding is p; /],
    ['params of another type', 'params: Params', 'params: Other', /not of type Params/],
    [
      'params not last',
      '@binding(2) var<storage, read_write> out',
      '@binding(4) var<storage, read_write> out',
      /binding 2/,
    ],
    ['no struct Params', 'struct Params', 'struct Sizes', /0 structs named Params/],
    ['an empty struct Params', /struct Params \{[^}]*\}/, 'struct Params { }', /struct Params is empty/],
    ['a vector parameter', 'scale: f32', 'scale: vec2f', /Params field `scale: vec2f`; only plain u32, i32 and f32/],
    ['an aligned parameter', 'scale: f32', '@align(16) scale: f32', /Params field/],
    ['a repeated parameter', 'n: i32', 'm: i32', /Params field m appears twice/],
    ['default access', 'var<storage, read> a', 'var<storage> a', /binding a is var<storage>; write/],
    ['write access', 'var<storage, read_write> out', 'var<storage, write> out', /binding out is var<storage, write>/],
    ['no output', 'read_write', 'read', /no read_write binding/],
    ['a texture', 'var<workgroup> tile: array<f32, 64>;', '@group(0) @binding(9) var t: texture_2d<f32>;', /texture/],
    ['another entry point', 'fn main', 'fn run', /entry points are \[run\]/],
    ['no entry point', /@compute @workgroup_size\(64, 1\)/, '', /entry points are \[\]/],
    ['an override with an id', 'override ACT', '@id(3) override ACT', /override `@id\(3\) ACT: u32 = 0`/],
    ['an override without default', 'ACT: u32 = 0', 'ACT: u32', /override `ACT: u32`/],
    ['an override without type', 'ACT: u32 = 0', 'ACT = 0', /override `ACT = 0`/],
    [
      'a missing part',
      'struct Params',
      '// use erf.part.wgsl\nstruct Params',
      /\/\/ use erf\.part\.wgsl; no parts given/,
    ],
  ])('refuses %s', (_, from, to, message) => {
    const text = GOOD.replace(from, to);
    expect(text).not.toBe(GOOD);
    expect(() => parseKernel('bad.wgsl', text)).toThrow(message);
  });

  it('refuses a file name that is not kebab-case', () => {
    expect(() => parseKernel('fooBar.wgsl', GOOD)).toThrow('fooBar.wgsl: the file name is not kebab-case');
  });
});

describe('generateKernels', () => {
  function inFolder(files: Record<string, string>): string {
    const dir = mkdtempSync(join(tmpdir(), 'ecif-shaders-'));
    try {
      for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
      return generateKernels(dir);
    } finally {
      rmSync(dir, { recursive: true });
    }
  }

  it('writes one typed constant per kernel, none per part, with the source unchanged', async () => {
    const used = `// use erf.part.wgsl\n${GOOD}`;
    const text = inFolder({ 'b-b.wgsl': used, 'a.wgsl': GOOD, 'erf.part.wgsl': 'fn erf() {}\n', 'other.ts': '' });
    expect([...text.matchAll(/^export const (\w+)/gm)].map((m) => m[1])).toEqual(['a', 'bB']);
    expect(text).toContain(`Kernel<\n  'a' | 'b' | 'out',\n  'm' | 'n' | 'scale' | 'k' | 'flag',\n  'ACT' | 'FAST'\n>`);
    const { code } = transformSync(text, { loader: 'ts' });
    const generated = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as Record<string, unknown>;
    expect(generated.a).toEqual(parseKernel('a.wgsl', GOOD));
    expect(generated.bB).toEqual(parseKernel('b-b.wgsl', used, () => 'fn erf() {}\n'));
  });

  it('refuses parts that are missing, outside the folder, badly named or nested', () => {
    const use = (name: string) => ({ 'a.wgsl': `// use ${name}\n${GOOD}`, 'b.part.wgsl': '// use c.part.wgsl\n' });
    expect(() => inFolder(use('none.part.wgsl'))).toThrow('a.wgsl: // use none.part.wgsl; no such file');
    expect(() => inFolder(use('../x.part.wgsl'))).toThrow('no such file beside it');
    expect(() => inFolder(use('erf.wgsl'))).toThrow('parts end in .part.wgsl');
    expect(() => inFolder(use('b.part.wgsl'))).toThrow('b.part.wgsl: a part uses another part');
  });
});
