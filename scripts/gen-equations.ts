// Writes docs/equations.md, the claims of the paper beside the functions and proofs that bear their names; `--check` only compares.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Claim } from '../src/verify/claim.ts';
import { CLAIMS } from '../src/verify/claims/index.ts';

/** Folders whose doc comments carry `@eq` tags. */
const TAGGED = ['src/models', 'src/ecif', 'src/verify'];
/** Names of proofs of one claim each; other tests have other names. */
const PROOF = /^((?:eq|prop|thm|alg|erratum)-[\w-]+)\.test\.ts$/;
const COMMENT = /\/\*\*((?:[^*]|\*(?!\/))*)\*\/\s*([^\n]*)/g;
const EXPORTED = /^export (?:async )?(?:const|function\*?|class|interface|type) (\w+)/;

/** One exported name with the tags of its doc comment. */
export interface Tagged {
  /** From the root of the repository. */
  readonly file: string;
  /** Null where the comment stands above something that is not exported. */
  readonly name: string | null;
  readonly claims: readonly string[];
  readonly deviation: string | null;
}

/** The tagged names of one source text. */
export function tagsIn(file: string, text: string): Tagged[] {
  return [...text.matchAll(COMMENT)].flatMap(([, comment, next]) => {
    const lines = comment.split('\n').map((line) => line.replace(/^[\s*]+/, '').trimEnd());
    const after = (tag: string): string[] =>
      lines.filter((line) => line.startsWith(`${tag} `)).map((line) => line.slice(tag.length + 1).trim());
    const [claims, [deviation = null]] = [after('@eq'), after('@deviation')];
    if (claims.length === 0 && deviation === null) return [];
    return [{ file, name: EXPORTED.exec(next)?.[1] ?? null, claims, deviation }];
  });
}

/** Every tagged name of the repository, folder by folder. */
export function readTags(root: string): Tagged[] {
  return TAGGED.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((f) => f.replaceAll('\\', '/'))
      .filter((f) => f.endsWith('.ts'))
      .sort()
      .flatMap((f) => tagsIn(`${folder}/${f}`, readFileSync(join(root, folder, f), 'utf8'))),
  );
}

/** Names of the claims that have a proof. */
export const readProofs = (root: string): string[] =>
  readdirSync(join(root, 'proofs-tests')).flatMap((f) => PROOF.exec(f)?.[1] ?? []);

/** What does not fit together: claims, tags and proofs must name each other. One line each. */
export function mismatches(
  claims: readonly Pick<Claim, 'id'>[],
  tags: readonly Tagged[],
  proofs: readonly string[],
): string[] {
  const ids = claims.map((c) => c.id);
  const tagged = new Set(tags.flatMap((t) => t.claims));
  const proof = (id: string): string => `proofs-tests/${id}.test.ts`;
  return [
    ...ids.filter((id, i) => ids.indexOf(id) !== i).map((id) => `claim ${id}: listed twice; keep one`),
    ...ids.filter((id) => !proofs.includes(id)).map((id) => `claim ${id}: no proof; write ${proof(id)}`),
    ...ids.filter((id) => !tagged.has(id)).map((id) => `claim ${id}: no tag; write \`@eq ${id}\` where it is computed`),
    ...proofs.filter((id) => !ids.includes(id)).map((id) => `${proof(id)}: no claim; add it to src/verify/claims`),
    ...tags.flatMap(({ file, name, claims: named }) => [
      ...(name === null ? [`${file}: @eq ${named.join(', ')} above no export; move it to one`] : []),
      ...named.filter((id) => !ids.includes(id)).map((id) => `${file}: @eq ${id}; no such claim`),
    ]),
  ];
}

const cell = (text: string): string => text.replaceAll('|', String.raw`\|`);
const code = (text: string): string => `\`${cell(text)}\``;
const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const link = ({ file, name }: Tagged): string => `[\`${name}\`](../${file})`;

function claimRow({ id, place, symbol, erratum, expected }: Claim, tags: readonly Tagged[]): string {
  const verdict = erratum === undefined ? expected : `${expected}, [${erratum}](errata.md#erratum-${erratum})`;
  const functions = tags.filter((t) => t.claims.includes(id)).map(link);
  return row([`[${id}](../proofs-tests/${id}.test.ts)`, cell(place), code(symbol), verdict, functions.join(', ')]);
}

/** The page. */
export function equationsPage(claims: readonly Claim[], tags: readonly Tagged[]): string {
  const count = (verdict: Claim['expected']): number => claims.filter((c) => c.expected === verdict).length;
  const deviations = tags.filter(({ deviation }) => deviation !== null && !deviation.startsWith('none'));
  return `<!-- Generated from src/verify/claims and the @eq and @deviation tags by \`npm run gen\`; do not edit. -->

# Equations

Every equation, proposition, theorem and algorithm of the paper that is put to the test, in the order of the paper: where
it stands, what became of it, the functions that compute it, and its proof. ${claims.length} claims: ${count('holds')} hold,
${count('holds as corrected')} hold as corrected, ${count('fails as printed')} fail as printed and have no corrected form. The number is that of the [erratum](errata.md).

A proof draws problems at random, requires the claim (as corrected, where it is) to hold on all of them and the printed
form to fail on some, and requires a wrong answer to be seen: \`npx vitest run proofs-tests/ID.test.ts\`. The same claims on
other seeds, on any device, with counterexamples: \`npm run -s ecif -- verify\`.

| claim and proof | in the paper | symbol | verdict, erratum | computed by |
|---|---|---|---|---|
${claims.map((claim) => claimRow(claim, tags)).join('\n')}

## Deviations

Where a function does not do what the paper prints.

| function | instead |
|---|---|
${deviations.map((t) => row([link(t), cell(t.deviation ?? '')])).join('\n')}
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const out = join(root, 'docs/equations.md');
  const tags = readTags(root);
  const wrong = mismatches(CLAIMS, tags, readProofs(root));
  const text = equationsPage(CLAIMS, tags);
  const fresh = existsSync(out) && readFileSync(out, 'utf8') === text;
  const check = process.argv.includes('--check');
  if (check && !fresh) wrong.push('docs/equations.md: stale; run `npm run gen`');
  if (wrong.length > 0) {
    console.error(wrong.join('\n'));
    process.exitCode = 1;
  } else {
    if (!fresh) writeFileSync(out, text);
    console.log(`docs/equations.md: ${CLAIMS.length} claims, ${fresh ? 'fresh' : 'written'}`);
  }
}
