// Imports in src point one way, and only the command line, the report and *.node.ts files touch Node or the DOM.
import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const src = fileURLToPath(new URL('../src/', import.meta.url));

// Each room may import from itself and from the rooms listed; device and shaders stand side by side.
const engine = ['array', 'device', 'shaders', 'autodiff', 'linalg'];
const library = [...engine, 'models', 'data', 'ecif'];
const ROOMS: Record<string, readonly string[]> = {
  array: [],
  device: ['array', 'shaders'],
  shaders: ['array', 'device'],
  autodiff: ['array', 'device', 'shaders'],
  linalg: ['array', 'device', 'shaders', 'autodiff'],
  models: engine,
  data: engine,
  ecif: [...engine, 'models', 'data'],
  verify: library,
  report: [...library, 'verify'],
  cli: [...library, 'verify', 'report', 'index.ts'],
  'index.ts': library,
  'node.ts': library,
};

const IMPORT = /(?<![\w.])(?:import|export)\s(?:[^'"`;]*?\sfrom\s*)?['"]([^'"]+)['"]|\bimport\s*\(\s*['"]([^'"]+)['"]/g;
const NODE_ALLOWED = /^(?:cli|report)\/|\.node\.ts$/;

/** What is wrong with the source `text` of `file` (relative to src), one line each. */
function violations(file: string, text: string): string[] {
  const code = stripComments(text);
  const room = file.split('/')[0];
  const allowed = ROOMS[room];
  if (!allowed) return [`${file}: src/${room} is no room of the house; add it to the table in this test`];
  const found: string[] = [];
  for (const specifier of importsOf(text)) {
    if (specifier.startsWith('.')) {
      const target = normalize(join(file, '..', specifier)).split('/')[0];
      if (target !== room && !allowed.includes(target)) {
        found.push(`${file}: imports ${specifier}; ${room} may import only ${allowed.join(', ') || 'itself'}`);
      }
    } else if (isNode(specifier) && !NODE_ALLOWED.test(file)) {
      found.push(`${file}: imports ${specifier}; move it to cli, report or a *.node.ts file`);
    }
  }
  const dom = /(?<![\w$.'"`])(?:globalThis\.)?(document|window)\s*(?:\?\.|[.[])/.exec(code);
  if (dom && !NODE_ALLOWED.test(file)) found.push(`${file}: touches ${dom[1]}; keep the DOM in web/`);
  return found;
}

const importsOf = (text: string): string[] => [...stripComments(text).matchAll(IMPORT)].map((m) => m[1] ?? m[2]);

/** Every file an entry leads to, itself among them, and every package; `read` gives the text of a file. */
function reachable(entry: string, read: (file: string) => string): string[] {
  const seen = new Set([entry]);
  for (const file of seen) {
    if (!file.endsWith('.ts')) continue;
    for (const specifier of importsOf(read(file))) {
      seen.add(specifier.startsWith('.') ? normalize(join(file, '..', specifier)) : specifier);
    }
  }
  return [...seen];
}

/** What a browser cannot load. */
const nodeOnly = (name: string): boolean => name.endsWith('.node.ts') || isNode(name);

function isNode(specifier: string): boolean {
  return specifier.startsWith('node:') || builtinModules.includes(specifier.split('/')[0]);
}

function stripComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/[^\n]*/g, ' ');
}

describe('architecture', () => {
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .map((f) => f.replaceAll('\\', '/'))
    .filter((f) => f.endsWith('.ts'));

  it('reads a source tree', () => {
    expect(files.length).toBeGreaterThan(5);
  });

  it('has imports that point one way and no Node or DOM in the core', () => {
    expect(files.flatMap((f) => violations(f, readFileSync(join(src, f), 'utf8')))).toEqual([]);
  });

  it('keeps Node out of the main entry, and in the one for Node', () => {
    const read = (file: string): string => readFileSync(join(src, file), 'utf8');
    const main = reachable('index.ts', read);
    expect(main.length).toBeGreaterThan(100);
    expect(main.filter(nodeOnly)).toEqual([]);
    expect(reachable('node.ts', read).filter(nodeOnly)).toContain('node:fs/promises');
  });
});

describe('the architecture checker', () => {
  it.each([
    ['array/shape.ts', `import { cpu } from '../device/cpu.ts';`],
    ['array/shape.ts', `import type {\n  Device,\n  Tensor,\n} from "../device/device.ts";`],
    ['autodiff/ops/add.ts', `import { cg } from '../../linalg/cg.ts';`],
    ['device/webgpu/device.ts', `export * from '../../autodiff/grad.ts';`],
    ['device/open.ts', `const { relu } = await import('../autodiff/ops/relu.ts');`],
    ['ecif/loss.ts', `import '../cli/main.ts';`],
    ['data/reader.ts', `import { clip } from '../models/clip/clip.ts';`],
    ['linalg/cg.ts', `import { everything } from '../index.ts';`],
    ['models/weights.ts', `import { readFile } from 'node:fs/promises';`],
    ['models/weights.ts', `import { readFile } from 'fs/promises';`],
    ['models/weights.ts', `const fs = await import('node:fs');`],
    ['ecif/scores.ts', `document.body.append('x');`],
    ['ecif/scores.ts', `const w = window.innerWidth;`],
    ['ecif/scores.ts', `globalThis.document?.write('x');`],
    ['gui/panel.ts', ``],
  ])('refuses in %s: %s', (file, text) => {
    expect(violations(file, text)).toHaveLength(1);
  });

  it('follows imports to what a browser cannot load', () => {
    const tree: Record<string, string> = {
      'index.ts': `export { a } from './models/a.ts';`,
      'models/a.ts': `import { b } from '../data/b.node.ts';\nexport * from '../index.ts';`,
      'data/b.node.ts': `import fs from 'node:fs';`,
    };
    expect(reachable('index.ts', (file) => tree[file]).filter(nodeOnly)).toEqual(['data/b.node.ts', 'node:fs']);
  });

  it.each([
    ['device/cpu.ts', `import { size } from '../array/shape.ts';\nimport { x } from './kernel.ts';`],
    ['shaders/kernels.gen.ts', `import type { Kernel } from '../device/kernel.ts';`],
    ['device/open.ts', `const { create } = await import('webgpu');`],
    ['models/weights.node.ts', `import { readFile } from 'node:fs/promises';`],
    ['cli/main.ts', `import { report } from '../report/html.ts';\nimport fs from 'node:fs';`],
    ['array/shape.ts', `// import { cpu } from '../device/cpu.ts';\n/* document.body */`],
    ['data/lists.ts', `const text = row.document.title; const n = this.window[0];`],
  ])('accepts in %s: %s', (file, text) => {
    expect(violations(file, text)).toEqual([]);
  });
});
