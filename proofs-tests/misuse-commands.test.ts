// Command lines, runs and outputs that cannot be: one line, exit code 2, and every earlier result as it was.
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { imageRows, openEmbedder, products, textRows } from '../src/cli/evaluate/run.ts';
import { readyPairs } from '../src/cli/runs/pairs.ts';
import type { RunRecord } from '../src/cli/runs/run-folder.ts';
import { readDataset } from '../src/data/dataset.node.ts';
import { openDevice } from '../src/device/open.ts';
import { expectOneLine, type Misuse, misuses, type Place, snapshot, useStage } from './support/misuse.ts';
import { quiet } from './support/shapes.ts';

const stage = useStage(true);
const { run } = stage;

const train = (place: Place, ...more: readonly string[]): string[] => [
  ...['train', stage.data, '--model', stage.model, '--out', place.path('out'), ...more],
];
const score = (folder: string, ...more: readonly string[]): string[] => [
  ...['score', folder, '--validation', stage.data, ...more],
];

/** Options in the record of a run. */
const optionsOf = (folder: string): RunRecord['options'] =>
  (JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8')) as RunRecord).options;

/** A copy of the run whose record says otherwise. */
const recorded = (place: Place, change: object): string =>
  place.run('run.json', (before) => JSON.stringify({ ...(JSON.parse(before.toString()) as object), ...change }));

/** Copies of two shards of scores. */
const shards = (place: Place): string[] =>
  [0, 1].map((i) => {
    place.copy(join(stage.shards, `scores-${i}.csv.shard.json`), `scores-${i}.csv.shard.json`);
    return place.copy(join(stage.shards, `scores-${i}.csv`), `scores-${i}.csv`);
  });

/** A list of two pairs, of whose pictures the run takes each for its own caption. */
async function rightOnes(place: Place): Promise<string> {
  const device = await openDevice({ kind: 'cpu' });
  const embedder = await openEmbedder(stage.model, run, device);
  const pairs = await readyPairs(embedder, await readDataset(stage.data), 2 ** 20);
  const { rows } = pairs.dataset;
  const captions = rows.map(({ caption }) => caption);
  const images = await imageRows(embedder, pairs, quiet);
  const found = await products(device, images, await textRows(embedder, captions, quiet));
  const gap = (i: number, j: number): number => found[i * rows.length + i] - found[i * rows.length + j];
  const all = rows.flatMap((_, i) => rows.slice(0, i).map((_row, j) => [i, j]));
  const [i, j] = all.find(([a, b]) => gap(a, b) > 1e-6 && gap(b, a) > 1e-6) as [number, number];
  place.copy(join(stage.home, 'pictures'), 'pictures');
  return place.file(
    'right.csv',
    ['image,caption', ...[i, j].map((k) => `${rows[k].image},${rows[k].caption}`)].join('\n'),
  );
}

const WORDS: readonly Misuse[] = [
  { what: 'an option twice', words: () => 'info --json --json', says: /--json is given twice; give it once/ },
  {
    what: 'a number that is not decimal',
    words: (p) => train(p, '--l2', '0x10'),
    says: /--l2: found "0x10"; give a number ≥ 0/,
  },
  {
    what: 'more epochs than can be',
    words: (p) => train(p, '--epochs', '1e15'),
    says: /--epochs: found "1e15"; give a whole number ≥ 0 and ≤ 1000000/,
  },
  {
    what: 'the last none of the layers',
    words: (p) => train(p, '--text-layers', 'last:0'),
    says: /--text-layers: found "last:0"; give all, none, last:2 or layers in 0…1/,
  },
  { what: 'no command', words: () => [], says: /no command; see ecif --help/ },
  { what: 'an unknown command', words: () => 'scroe run', says: /unknown command "scroe"; did you mean score\?/ },
  {
    what: 'an unknown option',
    words: () => 'info --devcie cpu',
    says: /unknown option --devcie; did you mean --device\?/,
  },
  {
    what: 'an unknown option of a command',
    words: () => 'train x --batchs 3',
    says: /unknown option --batchs; did you mean --batch\?/,
  },
  { what: 'an option with one dash', words: () => 'demo -s 3', says: /unknown option -s; options start with --/ },
  {
    what: 'an option without a value',
    words: () => 'verify --report',
    says: /--report needs a value; write --report FILE/,
    anyDevice: true,
  },
  { what: 'a value for a flag', words: () => 'compare --quick=yes', says: /--quick takes no value; write it alone/ },
  { what: 'an operand too many', words: () => 'info here', says: /info: unexpected "here"; see ecif info --help/ },
  { what: 'an operand too few', words: () => 'report', says: /report: RUN is missing; see ecif report --help/ },
  {
    what: 'NaN as a number',
    words: () => 'ladder --seeds NaN',
    says: /--seeds: found "NaN"; give a whole number ≥ 1 and ≤ 100000/,
  },
  {
    what: 'an infinity as a number',
    words: (p) => train(p, '--rate', 'Infinity'),
    says: /--rate: found "Infinity"; give a number ≥ 0/,
  },
  {
    what: 'a number below its bounds',
    words: () => 'verify --instances 0',
    says: /--instances: found "0"; give a whole number ≥ 1 and ≤ 10000/,
  },
  {
    what: 'a fraction of a whole',
    words: () => 'demo --seed 1.5',
    says: /--seed: found "1\.5"; give a whole number ≥ 0/,
  },
  {
    what: 'a word as a number',
    words: () => ['profile', stage.model, '--pairs', 'two'],
    says: /--pairs: found "two"; give a whole number ≥ 2 and ≤ 4096/,
  },
  {
    what: 'an unknown choice',
    words: () => 'compare --problem concave',
    says: /--problem: found "concave"; give one of both, convex, clip/,
  },
  {
    what: 'an unknown device',
    words: () => 'info --device cuda',
    says: /--device: found "cuda"; give one of auto, cpu, webgpu/,
    anyDevice: true,
  },
  {
    what: 'WebGPU where there is no adapter',
    words: () => 'info --device webgpu',
    says: /openDevice: no WebGPU here \(install the package `webgpu`\); choose cpu, or auto to fall back/,
    anyDevice: true,
    alone: true,
  },
  {
    what: 'training without data',
    words: (p) => ['train', '--model', stage.model, '--out', p.path('out')],
    says: /train: DATA is missing; name a list/,
  },
  {
    what: 'training without a folder',
    words: () => ['train', stage.data, '--model', stage.model],
    says: /train: no run folder; give --out DIR/,
  },
  {
    what: 'training without a model',
    words: (p) => ['train', stage.data, '--out', p.path('out')],
    says: /train: no model; give either --model DIR or --from-scratch CONFIG/,
  },
  {
    what: 'training two models',
    words: (p) => train(p, '--from-scratch', stage.config),
    says: /train: two models; give either --model DIR or --from-scratch CONFIG/,
  },
  {
    what: 'noise of two kinds',
    words: (p) => train(p, '--noise', '0.5', '--noise-labels', 'x'),
    says: /train: noise twice; give either --noise or --noise-labels/,
  },
  {
    what: 'an evaluation without a model',
    words: () => ['evaluate', stage.data],
    says: /evaluate: no model; give --model DIR/,
  },
  {
    what: 'scores without validation pairs',
    words: () => ['score', run],
    says: /score: no evaluation pairs; give --validation DATA/,
  },
  { what: 'a trace without queries', words: () => ['trace', run], says: /trace: no queries; give --queries DATA/ },
  {
    what: 'curves without validation pairs',
    words: () => ['curves', run],
    says: /curves: no validation pairs; give --validation DATA/,
  },
  {
    what: 'an option that would change nothing',
    words: () => score(run, '--solver', 'dense', '--tolerance', '0.1'),
    says: /--tolerance: only of --solver .*, not of dense; leave it out/,
  },
];

const RUNS: readonly Misuse[] = [
  {
    what: 'a run that is not there',
    words: (p) => ['detect', p.path('none')],
    says: /none: no run, run\.json is not there; name the folder of ecif train/,
  },
  {
    what: 'a folder that is no run',
    words: () => ['report', stage.model.replace(/base$/, 'pictures')],
    says: /pictures: holds no run\.json; ecif train DATA --out/,
  },
  {
    what: 'a file as a run',
    words: () => ['trace', stage.data, '--queries', stage.data],
    says: /pairs\.csv: no run, run\.json is not there; name the folder/,
  },
  {
    what: 'a record that is no JSON',
    words: (p) => score(p.run('run.json', () => '{')),
    says: /run\.json: not the record of a run; begin the run anew/,
  },
  {
    what: 'a record that is no JSON, in a report',
    words: (p) => ['report', p.run('run.json', () => '{')],
    says: /run\.json: .*JSON.*; make the file again/,
  },
  {
    what: 'a run that is not finished',
    words: (p) => score(recorded(p, { status: 'running' })),
    says: /copy: the run is running; finish it with ecif train --resume --out/,
  },
  {
    what: 'a run that diverged',
    words: (p) => ['remove', recorded(p, { status: 'diverged' }), '--ids', 'red-square'],
    says: /copy: the run is diverged; train anew with a smaller --rate/,
  },
  {
    what: 'a run whose data are gone',
    words: (p) => ['detect', recorded(p, { options: { ...optionsOf(run), data: 'gone.csv' }, places: {} })],
    says: /data of the run is not there, looked for at .*; restore it/,
  },
  {
    what: 'a run of other pairs',
    words: (p) => ['detect', recorded(p, { dataset: { pairs: 12, sha256: 'x' } })],
    says: /pairs\.csv: other pairs than the run was trained on; restore them/,
  },
  {
    what: 'a run of other weights',
    words: (p) => ['detect', recorded(p, { weights: 'x' })],
    says: /copy: the model is not the one the run was trained on; restore its weights/,
  },
  {
    what: 'partitions that are cut off',
    words: (p) => ['detect', p.run('partitions.bin', (before) => before.subarray(0, 20))],
    says: /partitions\.bin: .*; is this the partitions file/,
  },
  {
    what: 'a run without its partitions',
    words: (p) => {
      const copy = p.copy(run, 'copy');
      rmSync(join(copy, 'partitions.bin'));
      return ['detect', copy];
    },
    says: /partitions\.bin: cannot be read, ENOENT.*; /,
  },
  {
    what: 'trained parameters that are cut off',
    words: (p) => score(p.run('theta.safetensors', (before) => before.subarray(0, 100))),
    says: /theta\.safetensors: header: .*; is the file complete/,
  },
  {
    what: 'a folder that holds a run',
    words: () => ['train', stage.data, '--model', stage.model, '--out', run],
    says: /run: holds a run already; give --resume to go on with it, or another --out/,
  },
  {
    what: 'going on with nothing',
    words: (p) => ['train', '--resume', '--out', p.path('none')],
    says: /none: no run to resume; leave out --resume to begin one/,
  },
  {
    what: 'going on with other settings',
    words: () => ['train', '--resume', '--out', run, '--rank', '7'],
    says: /--rank: the run was begun with 1; leave it out to resume/,
  },
  {
    what: 'going on with other pairs',
    words: (p) => [
      'train',
      '--resume',
      '--out',
      recorded(p, { status: 'running', dataset: { pairs: 12, sha256: 'x' } }),
    ],
    says: /pairs\.csv: other pairs than the run began with; restore them or begin anew/,
  },
];

const ASKED: readonly Misuse[] = [
  {
    what: 'validation pairs that are not there',
    words: (p) => ['score', run, '--validation', p.path('none.csv')],
    says: /none\.csv: cannot be read, ENOENT/,
  },
  {
    what: 'empty validation pairs',
    words: (p) => ['score', run, '--validation', p.file('x.csv', 'image,caption\n')],
    says: /x\.csv: no rows; list at least one pair/,
  },
  {
    what: 'one validation pair',
    words: (p) => ['score', run, '--validation', p.list('')],
    says: /pairs\.csv: one pair; a contrastive loss needs two or more/,
  },
  {
    what: 'validation pairs without classes',
    words: (p) => ['score', run, '--validation', p.list('a.png,another\n'), '--targets', 'classes'],
    says: /pairs\.csv: no labels; add a column label, or leave out --targets classes/,
  },
  {
    what: 'a shard that is none',
    words: () => score(run, '--shard', '3/2'),
    says: /shard: found "3\/2"; give i\/n with i from 0 to n - 1/,
  },
  {
    what: 'too few probes',
    words: () => score(run, '--probes', '2'),
    says: /probes: 2 are too few for a value with an error; take 5 or more, or 0/,
  },
  {
    what: 'a ranking by scores without validation pairs',
    words: () => ['detect', run, '--by', 'score'],
    says: /detect: no score without --validation DATA; give it/,
  },
  {
    what: 'a truth without its columns',
    words: (p) => ['detect', run, '--truth', p.file('t.csv', 'id,wrong\n1,yes\n')],
    says: /t\.csv: no columns id and swapped; name them/,
  },
  {
    what: 'a truth of other pairs',
    words: (p) => ['detect', run, '--truth', p.file('t.csv', 'id,swapped\nx,yes\n')],
    says: /t\.csv: no pair "red-square" of .*pairs\.csv; list every pair/,
  },
  {
    what: 'a truth that is neither yes nor no',
    words: (p) => ['detect', run, '--truth', p.file('t.csv', 'id,swapped\nred-square,maybe\n')],
    says: /t\.csv: line 2: swapped: found "maybe"; give yes or no/,
  },
  {
    what: 'queries by ids of no pair',
    words: () => ['trace', run, '--queries', stage.data, '--ids', 'red-sqare'],
    says: /no pair "red-sqare" \(did you mean "red-square"\?\); give ids/,
  },
  {
    what: 'queries with one caption to choose from',
    words: (p) => ['trace', run, '--queries', p.list('a.png,a red square\n')],
    says: /pairs\.csv: one caption to choose from; give two or more/,
  },
  {
    what: 'a removal of nothing',
    words: () => ['remove', run],
    says: /remove: pairs are to be named in one way; give one of --ids, --ids-file and --where/,
  },
  {
    what: 'a removal of ids of no pair',
    words: () => ['remove', run, '--ids', 'red-square,dog'],
    says: /no pair "dog"; give ids of its 12 pairs/,
  },
  {
    what: 'a removal of all pairs',
    words: () => ['remove', run, '--where', 'lowest 100%'],
    says: /remove: all 12 pairs of the run; leave some/,
  },
  {
    what: 'a query with a mistake',
    words: () => ['remove', run, '--where', 'score < < 0'],
    says: /query "score < < 0": found "<" at character 9; give a number/,
  },
  {
    what: 'a query of a column that is not there',
    words: () => ['remove', run, '--where', 'scor < 0'],
    says: /--where: no column "scor" in .*scores\.parquet, at character \d+; did you mean score\?/,
  },
  {
    what: 'a query that chooses nothing',
    words: () => ['remove', run, '--where', 'score > 1e9'],
    says: /--where: "score > 1e9" matches 0 of 12 rows of .*scores\.parquet; choose otherwise/,
  },
  {
    what: 'scores that are no table',
    words: (p) => ['remove', run, '--where', 'score < 0', '--scores', p.file('s.parquet', 'x')],
    says: /s\.parquet: ends too early; is the file complete, and a Parquet file\?/,
  },
  {
    what: 'curves of a share that is more than all',
    words: () => ['curves', run, '--validation', stage.data, '--shares', '0.1,20'],
    says: /--shares: found "20"; give numbers above 0 and below 1/,
  },
  {
    what: 'curves with a tolerance that is not of edits',
    words: () => ['curves', run, '--validation', stage.data, '--tolerance', '1e-3'],
    says: /--tolerance.*--edit-tolerance/,
  },
  {
    what: 'a tolerance of edits where none is made',
    words: () => ['curves', run, '--validation', stage.data, '--rung', 'none', '--edit-tolerance', '0.1'],
    says: /--edit-tolerance: no edit is made with --rung none; leave it out/,
  },
  {
    what: 'a tolerance of a prediction that is not asked for',
    words: () => ['remove', run, '--ids', 'red-square', '--tolerance', '1e-3'],
    says: /--tolerance: of the predicted change, for which --validation is asked; or give --edit-tolerance/,
  },
  {
    what: 'curves by a column that is not there',
    words: () => ['curves', run, '--validation', stage.data, '--by', 'clip-score'],
    says: /--by: no column "clip-score" in .*scores\.parquet; did you mean clipscore\?/,
  },
  {
    what: 'ids in a file that is no list',
    words: (p) => ['remove', run, '--ids-file', p.file('ids.json', '{}')],
    says: /ids\.json: no JSON array of texts; give/,
  },
  {
    what: 'an undo of nothing',
    words: () => ['remove', run, '--undo', 'last'],
    says: /run: no edit is in force; nothing is left to undo/,
  },
  {
    what: 'an undo of a run that is not there',
    words: (p) => ['remove', p.path('none'), '--undo', 'last'],
    says: /none: no such run; check the path/,
  },
  {
    what: 'a merge with a shard that is not there',
    words: (p) => ['merge', p.path('all.csv'), shards(p)[0], p.path('none.csv')],
    says: /none\.csv: no .*none\.csv\.shard\.json beside it; give files of runs with --shard/,
  },
  {
    what: 'a merge of a shard alone',
    words: (p) => ['merge', p.path('all.csv'), shards(p)[0]],
    says: /scores-0\.csv: shard 1\/2 is missing; give its file too/,
  },
  {
    what: 'a merge of a shard twice',
    words: (p) => {
      const [one, two] = shards(p);
      return ['merge', p.path('all.csv'), one, two, one];
    },
    says: /scores-0\.csv: shard 0\/2, as .*scores-0\.csv; give each shard once/,
  },
  {
    what: 'a merge with a shard that was changed',
    words: (p) => {
      const [one, two] = shards(p);
      writeFileSync(two, readFileSync(two).subarray(0, 60));
      return ['merge', p.path('all.csv'), one, two];
    },
    says: /scores-1\.csv: changed since its run, or cut off; run the shard again/,
  },
  {
    what: 'a merge with a shard of another run',
    words: (p) => {
      const [one] = shards(p);
      return ['merge', p.path('all.csv'), one, join(stage.shards, 'other-1.csv')];
    },
    says: /other-1\.csv: of another run than .*scores-0\.csv; give the shards of one run/,
  },
  {
    what: 'a merge into a shard',
    words: (p) => {
      const [one, two] = shards(p);
      return ['merge', one, one, two];
    },
    says: /scores-0\.csv: is the file of a shard too; give another name/,
  },
  {
    what: 'a record of a run without an option that training writes',
    words: (p) => {
      const { batch: _batch, ...options } = optionsOf(run);
      return ['detect', recorded(p, { options })];
    },
    says: /run\.json: options: no batch, which training writes; restore it, or begin the run anew/,
  },
  {
    what: 'a report of a damaged record',
    words: (p) => {
      const copy = p.copy(run, 'copy');
      writeFileSync(join(copy, 'detect.json'), '{"command":"detect"}');
      return ['report', copy];
    },
    says: /detect\.json: options: found nothing; give an object/,
  },
];

const OUTPUTS: readonly Misuse[] = [
  {
    what: 'a page of another name',
    words: () => ['report', run, '--out', join(run, 'run.json')],
    says: /run\.json: a page of ecif report is written there; give a name that ends with \.html/,
  },
  {
    what: 'a page over one that another program wrote',
    words: (p) => ['report', run, '--out', p.file('mine.html', '<h1>mine</h1>')],
    says: /mine\.html: is there and no page of ecif report; give another name, or remove it first/,
  },
  {
    what: 'a trace over the record of the run',
    words: () => ['trace', run, '--queries', stage.data, '--out', join(run, 'run.json')],
    says: /run\.json: is there and no record of ecif trace; give another name, or remove it first/,
  },
  {
    what: 'scores over a list of pairs',
    words: () => score(run, '--out', stage.data),
    says: /pairs\.csv: is there and no file of scores; give another name, or remove it first/,
  },
  {
    what: 'a run in a file',
    words: (p) => ['train', stage.data, '--model', stage.model, '--out', p.file('taken')],
    says: /taken: is a file, no folder; give another --out/,
  },
  {
    what: 'a run below a file',
    words: (p) => ['train', stage.data, '--model', stage.model, '--out', join(p.file('taken'), 'run')],
    says: /taken\/run: cannot be written, ENOTDIR.*; check the path/,
  },
  {
    what: 'a run where nothing can be made',
    words: () => ['train', stage.data, '--model', stage.model, '--out', '/proc/ecif/run'],
    says: /\/proc\/ecif\/run: cannot be written, .*; check the path/,
  },
  {
    what: 'scores where nothing can be written',
    words: () => score(run, '--out', '/proc/scores.csv'),
    says: /\/proc\/scores\.csv: cannot be written, .*; check the path and the disk/,
  },
  {
    what: 'scores in a folder that is not there',
    words: (p) => score(run, '--out', p.path('none/scores.csv')),
    says: /none\/scores\.csv: cannot be written, ENOENT/,
  },
  {
    what: 'scores in a folder',
    words: (p) => (mkdirSync(p.path('scores.csv')), score(run, '--out', p.path('scores.csv'))),
    says: /scores\.csv: cannot be written, it is no regular file/,
  },
  {
    what: 'scores of an unknown form',
    words: (p) => score(run, '--out', p.path('scores.xls')),
    says: /scores\.xls: no known table; end the name with \.parquet, \.csv or \.jsonl/,
  },
  {
    what: 'scores on a device that is full',
    words: () => score(run, '--out', '/dev/full'),
    says: /\/dev\/full: no known table; end the name with \.parquet, \.csv or \.jsonl/,
  },
  {
    what: 'a page on a device that is full',
    words: () => ['report', run, '--out', '/dev/full'],
    says: /\/dev\/full: cannot be written, it is no regular file; check/,
  },
  {
    what: 'claims in a folder that is not there',
    words: (p) => ['verify', '--report', p.path('none/page.html')],
    says: /none\/page\.html: cannot be written, ENOENT/,
  },
  {
    what: 'a trace where nothing can be written',
    words: () => ['trace', run, '--queries', stage.data, '--all', '--out', '/proc/trace.json'],
    says: /\/proc\/trace\.json: cannot be written/,
  },
  {
    what: 'an edit in a folder that is taken',
    words: (p) => (p.file('edit/x'), ['remove', run, '--ids', 'red-square', '--out', p.path('edit')]),
    says: /edit: is there already; give another --out/,
  },
  {
    what: 'an edit where nothing can be written',
    words: () => ['remove', run, '--ids', 'red-square', '--out', '/proc/edit'],
    says: /\/proc\/edit: cannot be written, .*; check the path and the disk/,
  },
  {
    what: 'a merge where nothing can be written',
    words: (p) => ['merge', '/proc/all.csv', ...shards(p)],
    says: /\/proc\/all\.csv: cannot be written/,
  },
  {
    what: 'a comparison below a file',
    words: (p) => ['compare', '--quick', '--problem', 'convex', '--out', join(p.file('taken'), 'kept')],
    says: /taken\/kept: cannot be .*; check the path/,
  },
  {
    what: 'a comparison with what another left',
    words: (p) => (
      p.file('kept/convex-1.json', '{}'),
      ['compare', '--quick', '--problem', 'convex', '--out', p.path('kept')]
    ),
    says: /convex-1\.json: of other settings; give another --out, or remove it/,
  },
];

/** Commands that find no room for what they write. */
const FULL: readonly Misuse[] = (
  [
    {
      what: 'a page',
      words: (p) => ['report', run, '--out', p.path('page.html')],
      says: /page\.html: cannot be written, EFBIG.*; check the path and the disk/,
    },
    {
      what: 'a merge',
      words: (p) => ['merge', p.path('all.csv'), ...shards(p)],
      says: /all\.csv: cannot be written, EFBIG.*; check the path and the disk/,
    },
    {
      what: 'suspects',
      words: () => ['detect', run],
      says: /detect\.csv: cannot be written, EFBIG.*; check the path and the disk/,
    },
    {
      what: 'an edit',
      words: () => ['remove', run, '--ids', 'red-square'],
      says: /theta\.safetensors: cannot be written, EFBIG|adapter_model\.safetensors: cannot be written, EFBIG/,
    },
    {
      what: 'curves',
      words: () => ['curves', run, '--validation', stage.data],
      says: /without\.json: cannot be written, EFBIG.*; check the path and the disk/,
    },
    {
      what: 'a new run',
      words: (p) => (mkdirSync(p.path('out')), train(p)),
      says: /train\.lock: cannot be written, EFBIG.*; check the path and the disk/,
    },
  ] satisfies Misuse[]
).map((one: Misuse) => ({ ...one, disk: 0 }));

misuses('a command line', stage, WORDS);
misuses('a run', stage, RUNS);
misuses('what is asked of a run', stage, ASKED);
misuses('an output', stage, OUTPUTS);
misuses('a full disk, for', stage, FULL);

describe('no part is taken for a result', () => {
  it('a run that found no room for its checkpoint is not scored, and goes on where there is room', async () => {
    const place = stage.place();
    const out = place.path('out');
    const words = [...train(place, '--epochs', '1'), '--device', 'cpu'];
    expectOneLine(
      await stage.process(words, { disk: 12 }),
      /checkpoint\.safetensors: cannot be written, EFBIG.*; check the path and the disk/,
    );
    expectOneLine(
      await stage.process([...score(out), '--device', 'cpu']),
      /out: the run is running; finish it with ecif train --resume/,
    );
    expectOneLine(
      await stage.process(['evaluate', stage.data, '--model', stage.model, '--adapter', out, '--device', 'cpu']),
      /out: adapter_config\.json: not in the folder; name the folder of a PEFT adapter/,
    );
    await stage.must(['train', '--resume', '--out', out]);
    await stage.must(train(stage.place(), '--epochs', '1').with(5, place.path('whole')));
    const [cut, whole] = ['out', 'whole'].map((name) => snapshot(place.path(name)));
    expect(cut['adapter_model.safetensors']).toBe(whole['adapter_model.safetensors']);
  });

  it('a log that is a device stops a run before its first step', async () => {
    const place = stage.place();
    const folder = recorded(place, { status: 'running' });
    rmSync(join(folder, 'log.jsonl'));
    symlinkSync('/dev/full', join(folder, 'log.jsonl'));
    const result = await stage.process(['train', '--resume', '--out', folder, '--device', 'cpu']);
    expectOneLine(result, /log\.jsonl: cannot be read, it is a device; check the path/);
    expect(JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'))).toMatchObject({ status: 'running' });
  });

  it('scores that found no room leave the earlier ones as they were', async () => {
    const place = stage.place();
    const out = place.copy(join(run, 'scores.parquet'), 'scores.parquet');
    const before = readFileSync(out);
    const result = await stage.process([...score(run, '--form', 'published', '--out', out), '--device', 'cpu'], {
      disk: 0,
    });
    expectOneLine(result, /cannot be written, EFBIG.*; check the path and the disk/);
    expect(readFileSync(out).equals(before)).toBe(true);
  });
});

describe('what is no misuse', () => {
  it('a caption of markup passes through, and the page shows it as text', async () => {
    const place = stage.place();
    const markup = '<script>alert(1)</script><img src=x onerror=alert(2)>';
    place.copy(join(stage.home, 'pictures'), 'pictures');
    const list = place.file('pairs.csv', readFileSync(stage.data, 'utf8').replace('a red square', markup));
    await stage.must(['train', list, '--model', stage.model, '--out', place.path('out'), '--epochs', '1']);
    await stage.must(['detect', place.path('out')]);
    await stage.must(['report', place.path('out')]);
    expect(readFileSync(place.path('out/detect.csv'), 'utf8')).toContain(markup);
    const page = readFileSync(place.path('out/report.html'), 'utf8');
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(page).not.toContain('<script>alert');
    expect(page).not.toContain('<img src=x');
  });

  it('batches of more pairs than there are, where none were asked for: all pairs are one batch', async () => {
    const place = stage.place();
    const { stderr } = await stage.must(train(place, '--epochs', '1', '--rank', '1'));
    expect(stderr).toContain('12 pairs, 1 batch an epoch');
  });

  it('a trace of a model without mistakes: nothing is traced, and it says so', async () => {
    const place = stage.place();
    const queries = await rightOnes(place);
    const { stdout } = await stage.must([
      'trace',
      run,
      '--queries',
      queries,
      '--against',
      'captions',
      '--out',
      place.path('t.json'),
    ]);
    expect(stdout).toMatch(/^0 of 2 pictures are mistaken; 0 traced in .*t\.json\n$/);
  });
});
