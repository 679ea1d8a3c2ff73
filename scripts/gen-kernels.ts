// Writes src/shaders/kernels.gen.ts, one typed `Kernel` per src/shaders/*.wgsl; `--check` only compares.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Kernel, KernelParam } from '../src/device/kernel.ts';

const PART = '.part.wgsl';
const USE = /^[ \t]*\/\/ use (\S+)[ \t]*$/gm;
const VAR = /((?:@\w+\s*\([^)]*\)\s*)*)\bvar\s*<([^>]*)>\s*(\w+)\s*:\s*([^;=]+)[;=]/g;

/** Kernel descriptions of every `.wgsl` file in `dir` as the text of `kernels.gen.ts`. */
export function generateKernels(dir: string): string {
  const files = readdirSync(dir)
    .filter((f) => f.endsWith('.wgsl') && !f.endsWith(PART))
    .sort();
  const kernels = files.map((f) =>
    parseKernel(f, readFileSync(join(dir, f), 'utf8'), (part) => readPart(dir, f, part)),
  );
  const importLine = files.length ? "import type { Kernel } from '../device/kernel.ts';\n" : 'export {};\n';
  const header = '// Generated from the .wgsl files beside it by `npm run gen`; do not edit.\n';
  return header + importLine + kernels.map(printKernel).join('');
}

/** One WGSL module as a `Kernel`; `part` gives the text of a `// use name.part.wgsl` line. Throws on any deviation. */
export function parseKernel(file: string, text: string, part: (name: string) => string = noParts(file)): Kernel {
  const name = camelCase(file);
  const parts = [...text.matchAll(USE)].map((m) => part(m[1]));
  const source = [text, ...parts].map((t) => t.trimEnd() + '\n').join('\n');
  const code = stripComments(source);
  const entries = [...code.matchAll(/@(?:compute|vertex|fragment)\b[^{;]*?\bfn\s+(\w+)/g)].map((m) => m[1]);
  if (entries.length !== 1 || entries[0] !== 'main') {
    fail(file, `entry points are [${entries.join(', ')}]`, 'write exactly one, `@compute @workgroup_size(…) fn main`');
  }
  const params = parseParams(file, code);
  return {
    name,
    source,
    bindings: parseBindings(file, code),
    params,
    paramBytes: Math.ceil((params.length * 4) / 16) * 16,
    constants: parseConstants(file, code),
    subgroups: /^\s*enable\s+[^;]*\bsubgroups\b[^;]*;/m.test(code),
  };
}

function parseBindings(file: string, code: string): Kernel['bindings'] {
  const found = new Map<number, { name: string; space: string; access: string }>();
  for (const [, attributes, qualifier, name] of code.matchAll(VAR)) {
    const [space, access = ''] = qualifier.split(',').map((s) => s.trim());
    if (space === 'workgroup' || space === 'private' || space === 'function') continue;
    const group = /@group\s*\(\s*(\w+)\s*\)/.exec(attributes)?.[1];
    const index = /@binding\s*\(\s*(\d+)\s*\)/.exec(attributes)?.[1];
    if (group !== '0' || index === undefined) {
      fail(file, `variable ${name} has no plain binding in group 0`, 'write `@group(0) @binding(i) var<…>`');
    }
    const clash = found.get(Number(index));
    if (clash) fail(file, `binding ${index} is both ${clash.name} and ${name}`, 'number bindings 0, 1, 2, …');
    found.set(Number(index), { name, space, access });
  }
  if (/@binding\s*\([^)]*\)\s*(?:@\w+\s*\([^)]*\)\s*)*var\s+\w/.test(code)) {
    fail(file, 'a texture or sampler binding', 'use storage buffers only');
  }
  const rows = Array.from({ length: found.size }, (_, i) => {
    return found.get(i) ?? fail(file, `binding ${i} missing`, 'number bindings 0…n−1, then `params`');
  });
  const last = rows.pop();
  if (last?.space !== 'uniform' || last.name !== 'params') {
    fail(file, `the last binding is ${last?.name ?? 'absent'}`, 'end with `var<uniform> params: Params`');
  }
  if (!/\bvar\s*<\s*uniform\s*>\s*params\s*:\s*Params\s*;/.test(code)) {
    fail(file, 'the uniform `params` is not of type Params', 'write `var<uniform> params: Params;`');
  }
  if (rows.length === 0) fail(file, 'no storage binding', 'a kernel writes at least one `var<storage, read_write>`');
  const bindings = rows.map(({ name, space, access }) => {
    if (space !== 'storage' || (access !== 'read' && access !== 'read_write')) {
      fail(
        file,
        `binding ${name} is var<${access ? `${space}, ${access}` : space}>`,
        'write var<storage, read> or read_write',
      );
    }
    return { name, access } as const;
  });
  if (!bindings.some((b) => b.access === 'read_write')) fail(file, 'no read_write binding', 'name the output');
  return bindings;
}

function parseParams(file: string, code: string): KernelParam[] {
  const structs = [...code.matchAll(/\bstruct\s+Params\s*\{([^}]*)\}/g)];
  if (structs.length !== 1) {
    fail(
      file,
      `${structs.length} structs named Params`,
      'declare one `struct Params { … }` with the scalar parameters',
    );
  }
  const fields = structs[0][1]
    .split(',')
    .map((s) => s.trim())
    .filter(Boolean);
  if (fields.length === 0) fail(file, 'struct Params is empty', 'give it at least one scalar');
  const params = fields.map((field, i): KernelParam => {
    const m = /^(\w+)\s*:\s*(u32|i32|f32)$/.exec(field);
    if (!m) return fail(file, `Params field \`${field}\``, 'only plain u32, i32 and f32 scalars are allowed');
    return { name: m[1], type: m[2] as KernelParam['type'], offset: 4 * i };
  });
  unique(
    file,
    'Params field',
    params.map((p) => p.name),
  );
  return params;
}

function parseConstants(file: string, code: string): string[] {
  const names = [...code.matchAll(/((?:@\w+\s*\([^)]*\)\s*)?)\boverride\s+([^;]*);/g)].map(([, attribute, body]) => {
    const m = /^(\w+)\s*:\s*(?:u32|i32|f32|bool)\s*=\s*\S/.exec(body.trim());
    if (attribute || !m) {
      return fail(
        file,
        `override \`${(attribute + body).trim()}\``,
        'write `override NAME: u32 = 0;`, no @id, a default',
      );
    }
    return m[1];
  });
  unique(file, 'override', names);
  return names;
}

function printKernel(kernel: Kernel): string {
  const union = (names: readonly string[]) => names.map((n) => `'${n}'`).join(' | ') || 'never';
  const bindings = kernel.bindings.map((b) => `    { name: '${b.name}', access: '${b.access}' },\n`).join('');
  const params = kernel.params
    .map((p) => `    { name: '${p.name}', type: '${p.type}', offset: ${p.offset} },\n`)
    .join('');
  const types = [
    union(kernel.bindings.map((b) => b.name)),
    union(kernel.params.map((p) => p.name)),
    union(kernel.constants),
  ];
  return `
export const ${kernel.name}: Kernel<
${types.map((t) => `  ${t}`).join(',\n')}
> = {
  name: '${kernel.name}',
  bindings: [
${bindings}  ],
  params: [
${params}  ],
  paramBytes: ${kernel.paramBytes},
  constants: [${kernel.constants.map((c) => `'${c}'`).join(', ')}],
  subgroups: ${kernel.subgroups},
  source: \`${kernel.source.replace(/[\\`]|\$\{/g, '\\$&')}\`,
};
`;
}

function readPart(dir: string, file: string, part: string): string {
  if (!part.endsWith(PART)) fail(file, `// use ${part}`, `parts end in ${PART}`);
  const path = join(dir, part);
  if (basename(part) !== part || !existsSync(path)) fail(file, `// use ${part}`, `no such file beside it`);
  const text = readFileSync(path, 'utf8');
  if (text.search(USE) >= 0) fail(part, 'a part uses another part', 'name both in the kernel');
  return text;
}

function noParts(file: string): (name: string) => string {
  return (name) => fail(file, `// use ${name}`, 'no parts given');
}

function camelCase(file: string): string {
  const stem = file.replace(/\.wgsl$/, '');
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(stem))
    fail(file, 'the file name is not kebab-case', 'rename it like foo-bar.wgsl');
  return stem.replace(/-(\w)/g, (_, c: string) => c.toUpperCase());
}

function stripComments(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, ' ');
}

function unique(file: string, what: string, names: string[]): void {
  const twice = names.find((n, i) => names.indexOf(n) !== i);
  if (twice !== undefined) fail(file, `${what} ${twice} appears twice`, 'rename one');
}

function fail(file: string, what: string, fix: string): never {
  throw new Error(`${file}: ${what}; ${fix}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const dir = fileURLToPath(new URL('../src/shaders/', import.meta.url));
  const out = join(dir, 'kernels.gen.ts');
  try {
    const text = generateKernels(dir);
    const fresh = existsSync(out) && readFileSync(out, 'utf8') === text;
    if (process.argv.includes('--check')) {
      if (!fresh) fail('src/shaders/kernels.gen.ts', 'stale', 'run `npm run gen`');
    } else if (!fresh) {
      writeFileSync(out, text);
    }
    const count = text.match(/^export const /gm)?.length ?? 0;
    console.log(`src/shaders/kernels.gen.ts: ${count} kernels, ${fresh ? 'fresh' : 'written'}`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
