// Writes web/data/ops.gen.ts, the source of every op record with the functions beside it that it uses; `--check` only compares.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { registry } from '../src/autodiff/ops/registry.ts';

const FOLDER = 'src/autodiff/ops';
const TARGET = 'web/data/ops.gen.ts';
/** Files of ops that no expression of the page leads to. */
const LEFT_OUT = ['attention.ts', 'indexing.ts'];

/** A statement of a file: the name it declares, its text, and the names it mentions. */
interface Declared {
  readonly name: string;
  readonly text: string;
  readonly mentions: ReadonlySet<string>;
  /** Op that a record is of. */
  readonly op: string | null;
}

/** The op that a statement makes the record of, by the first text in it that is the name of one. */
function opOf(name: string, text: string, names: ReadonlySet<string>): string | null {
  if (!name.endsWith('Op')) return null;
  return [...text.matchAll(/'(\w+)'/g)].map(([, word]) => word).find((word) => names.has(word)) ?? null;
}

/** The text of a statement with its comment, without what only tests read and what the kernel shows better. */
function textOf(node: ts.Statement, source: ts.SourceFile): string {
  const cuts: { from: number; to: number }[] = [];
  const visit = (child: ts.Node): void => {
    if (ts.isPropertyAssignment(child) && ['samples', 'domain'].includes(child.name.getText(source))) {
      const text = source.text.slice(child.getFullStart(), child.end + 1);
      cuts.push({ from: child.getFullStart(), to: child.end + (text.endsWith(',') ? 1 : 0) });
    } else child.forEachChild(visit);
  };
  visit(node);
  const start = node.getFullStart();
  return cuts
    .toReversed()
    .reduce(
      (text, { from, to }) => text.slice(0, from - start) + text.slice(to - start),
      source.text.slice(start, node.end),
    )
    .trim();
}

/** What a file declares, from top to bottom. */
function declaredIn(path: string, text: string, ops: ReadonlySet<string>): Declared[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true);
  return source.statements.flatMap((node) => {
    const name = ts.isVariableStatement(node)
      ? node.declarationList.declarations[0].name.getText(source)
      : ts.isFunctionDeclaration(node)
        ? (node.name?.text ?? null)
        : null;
    if (name === null) return [];
    const own = textOf(node, source);
    const mentions = new Set(own.match(/\b[A-Za-z_]\w*\b/g));
    mentions.delete(name);
    return [{ name, text: own, mentions, op: opOf(name, own, ops) }];
  });
}

/** The functions of a file that a record uses and that neither run on the GPU nor are ops, in the order of the file. */
function helpersOf(record: Declared, declared: readonly Declared[]): string[] {
  const wanted = new Set(record.mentions);
  for (const name of wanted) {
    const found = declared.find((one) => one.name === name);
    if (found !== undefined && isHelper(found)) found.mentions.forEach((mention) => wanted.add(mention));
  }
  return declared.filter((one) => wanted.has(one.name) && isHelper(one)).map(({ name }) => name);
}

/** Whether a statement is worth showing beside a record: no op, no kernel call, no rule of shapes, no sample. */
const isHelper = ({ name, op, text }: Declared): boolean =>
  op === null && !/^gpu|[sS]amples$|^[A-Z_]+$/.test(name) && !/^export |ShapeError/m.test(text);

/** The records of a folder of ops, as the text of a module. */
export function opsModule(root: string): string {
  const ops = new Set(registry.map(({ name }) => name));
  const records: Record<string, { file: string; text: string; helpers: string[] }> = {};
  const helpers: Record<string, string> = {};
  for (const name of readdirSync(join(root, FOLDER))
    .filter((file) => !LEFT_OUT.includes(file))
    .sort()) {
    const file = `${FOLDER}/${name}`;
    const declared = declaredIn(file, readFileSync(join(root, file), 'utf8'), ops);
    for (const record of declared.filter(({ op }) => op !== null)) {
      const used = helpersOf(record, declared);
      used.forEach((helper) => (helpers[`${name}:${helper}`] = declared.find((one) => one.name === helper)!.text));
      const keys = used.map((helper) => `${name}:${helper}`);
      records[record.op as string] = { file, text: record.text, helpers: keys };
    }
  }
  return `// Generated from ${FOLDER} by \`npm run gen\`; do not edit.

/** The record of an op: its file, its source, and the functions beside it that it uses. */
export interface OpRecord {
  readonly file: string;
  readonly text: string;
  readonly helpers: readonly string[];
}

/** By the name of the op. */
export const OP_RECORDS: Readonly<Record<string, OpRecord>> = ${JSON.stringify(records, null, 1)};

/** Sources of those functions. */
export const OP_HELPERS: Readonly<Record<string, string>> = ${JSON.stringify(helpers, null, 1)};
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const out = fileURLToPath(new URL(`../${TARGET}`, import.meta.url));
  const text = opsModule(fileURLToPath(new URL('..', import.meta.url)));
  const fresh = existsSync(out) && readFileSync(out, 'utf8') === text;
  if (!fresh && process.argv.includes('--check')) {
    console.error(`${TARGET}: stale; run \`npm run gen\``);
    process.exitCode = 1;
  } else {
    if (!fresh) writeFileSync(out, text);
    console.log(`${TARGET}: ${fresh ? 'fresh' : 'written'}`);
  }
}
