// Plants wrong formulas in a copy of src/ecif, one at a time, and makes sure that the named proof fails each time.
// `npm run mutants [-- --sample]` tries all, or one of each kind.

import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** One wrong formula. */
interface Mutant {
  readonly what: string;
  readonly file: string;
  /** Text that stands there once, and what takes its place. */
  readonly changes: readonly (readonly [from: string, to: string])[];
  /** proofs-tests/PROOF.test.ts must fail. */
  readonly proof: string;
  /** Also tried by --sample. */
  readonly sample?: true;
}

const MUTANTS: readonly Mutant[] = [
  {
    what: 'the sign of every influence is flipped',
    file: 'influence.ts',
    changes: [['combine([-1], [x])', 'combine([1], [x])']],
    proof: 'prop-positive-if',
    sample: true,
  },
  {
    what: 'the Neg fraction is inverted',
    file: 'terms.ts',
    changes: [
      [
        "if (form === 'corrected') {",
        "if (form === 'corrected') return neg(s, removed, 'published');\n  if (form === 'corrected') {",
      ],
    ],
    proof: 'eq-neg-taylor',
    sample: true,
  },
  {
    what: 'Pos and Neg drop the direction image to text',
    file: 'terms.ts',
    changes: [['({ t2i, i2t }: Directions): Tensor => add(t2i, i2t)', '({ t2i }: Directions): Tensor => t2i']],
    proof: 'eq-pos',
    sample: true,
  },
  {
    what: 'δ counts twice',
    file: 'objective.ts',
    changes: [['affine(squares.reduce(add), decay / 2, 0)', 'affine(squares.reduce(add), decay, 0)']],
    proof: 'eq-total-loss',
    sample: true,
  },
  {
    what: 'Newton removal takes H in place of H₋',
    file: 'removal.ts',
    changes: [
      ['curvatureAt(without, at, options)', 'curvatureAt(totalLoss(problem), at, options)'],
      ['import { decayTerm, type Problem }', 'import { decayTerm, type Problem, totalLoss }'],
    ],
    proof: 'erratum-05-decay-twice',
    sample: true,
  },
  {
    what: 'H and H₋ are swapped',
    file: 'curvatures.ts',
    changes: [
      ['before: curvatureOf(totalLoss(problem))', 'before: curvatureOf(lossWithout(problem, seg))'],
      ['after: curvatureOf(lossWithout(problem, seg))', 'after: curvatureOf(totalLoss(problem))'],
    ],
    proof: 'eq-hessian',
  },
  {
    what: 'the task score has the sign of Algorithm 2',
    file: 'scores.ts',
    changes: [
      ['-dot(gradVal, positiveIF) - dot(gradVal, negativeIF)', 'dot(gradVal, positiveIF) + dot(gradVal, negativeIF)'],
    ],
    proof: 'prop-task-score',
  },
  {
    what: 'the sweep takes one direction of Pos twice',
    file: 'sweep.ts',
    changes: [['posI2t: pos.i2t', 'posI2t: pos.t2i']],
    proof: 'prop-task-score',
  },
  {
    what: 'Neg sums over the removed instead of the kept',
    file: 'terms.ts',
    changes: [['mul(reshape(kept, [...places, n, 1]), reshape(e,', 'mul(reshape(e, [...places, n, 1]), reshape(e,']],
    proof: 'eq-neg-taylor',
  },
  {
    what: 'the exact Neg has the wrong sign',
    file: 'terms.ts',
    changes: [['negate(logRest), negate(log1p(negate(small)))', 'logRest, log1p(negate(small))']],
    proof: 'eq-removed-loss',
  },
  {
    what: 'ζ is not measured from 1',
    file: 'terms.ts',
    changes: [['zeta - 1, 0)', 'zeta, 0)']],
    proof: 'eq-zeta-loss',
  },
  {
    what: 'removal keeps the columns of the removed',
    file: 'terms.ts',
    changes: [
      [
        'contrastive(permute(gather(permute(gather(s, index)), index)))',
        'contrastive(gather(permute(gather(permute(s), index)), index))',
      ],
      [
        'const kept = Array.from({ length: s.shape[0] }, (_, i) => i).filter((i) => !removed.includes(i));',
        'const kept = Array.from({ length: s.shape[0] }, (_, i) => i).filter((i) => i !== removed[0]);',
      ],
    ],
    proof: 'eq-removed-loss',
  },
  {
    what: 'the decay of a model over partitions is that of one',
    file: 'objective.ts',
    changes: [['problem.decay * partitions.length', 'problem.decay']],
    proof: 'erratum-13-partitions',
  },
  {
    what: 'the relative score adds instead of projecting',
    file: 'relative.ts',
    changes: [['Math.hypot(along, dot(rest, g) / length)', 'Math.abs(along) + Math.abs(dot(rest, g)) / length']],
    proof: 'prop-relative-score',
  },
  {
    what: 'P1 is halved',
    file: 'bounds.ts',
    changes: [['norm(at.gradient) / decay', 'norm(at.gradient) / (2 * decay)']],
    proof: 'thm-certificates',
  },
  {
    what: 'the a-priori bounds forget the surrogate gap',
    file: 'bounds.ts',
    changes: [[' + norm(choleskySolve(factor, gap))', '']],
    proof: 'thm-error-bound',
  },
  {
    what: 'the self loss is cos − 1',
    file: 'self.ts',
    changes: [['affine(cos, -1, 1)', 'affine(cos, 1, -1)']],
    proof: 'alg-3-self-score',
  },
  {
    what: 'Woodbury adds the lost curvature',
    file: 'woodbury.ts',
    changes: [['dot(direction, right) / (1 - values[e])', 'dot(direction, right) / (1 + values[e])']],
    proof: 'woodbury',
  },
];

/** A copy of what the proofs need. */
function copyTree(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ecif-mutants-'));
  for (const part of ['src', 'proofs-tests', 'package.json', 'tsconfig.json', 'vitest.config.ts'])
    cpSync(join(root, part), join(folder, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** Runs proofs in a folder; true if all pass. */
function passes(folder: string, proofs: readonly string[]): boolean {
  const files = proofs.map((proof) => `proofs-tests/${proof}.test.ts`);
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const run = spawnSync(process.execPath, [vitest, 'run', '--project', 'proofs', ...files], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
  });
  if (run.status !== 0 && !/Tests .*failed/.test(run.stdout))
    throw new Error(`the proofs did not run: ${run.stdout.slice(-400)}${run.stderr.slice(-400)}`);
  return run.status === 0;
}

/** The source with the wrong formula in it. */
function mutated(source: string, { what, changes }: Mutant): string {
  return changes.reduce((text, [from, to]) => {
    if (text.split(from).length !== 2) throw new Error(`${what}: ${JSON.stringify(from)} does not stand there once`);
    return text.replace(from, () => to);
  }, source);
}

const sample = process.argv.includes('--sample');
const chosen = MUTANTS.filter((m) => !sample || m.sample === true);
const folder = copyTree();
let survivors = 0;
try {
  const proofs = [...new Set(chosen.map((m) => m.proof))];
  if (!passes(folder, proofs)) throw new Error(`proofs fail without any mutant: ${proofs.join(', ')}`);
  for (const mutant of chosen) {
    const path = join(folder, 'src/ecif', mutant.file);
    const source = readFileSync(path, 'utf8');
    writeFileSync(path, mutated(source, mutant));
    const survived = passes(folder, [mutant.proof]);
    writeFileSync(path, source);
    if (survived) survivors++;
    console.log(`${survived ? 'SURVIVED' : 'caught'}  ${mutant.what}  (${mutant.proof})`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${chosen.length - survivors} of ${chosen.length} wrong formulas caught`);
process.exitCode = survivors === 0 ? 0 : 1;
