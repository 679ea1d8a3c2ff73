// The report of a run: structure, escaping, numbers, geometry of its pictures, and folders that are not as they should be.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import sharp from 'sharp';
import { afterAll, describe, expect, it } from 'vitest';
import { EcifError } from '../src/array/errors.ts';
import { withDefaults } from '../src/cli/args.ts';
import { commandLine, readFindings } from '../src/cli/report/run.ts';
import { datasetHash } from '../src/cli/runs/run-folder.ts';
import { TRAIN_OPTIONS } from '../src/cli/train/options.ts';
import { readDataset } from '../src/data/dataset.node.ts';
import type { Findings } from '../src/report/findings.ts';
import { heatMap } from '../src/report/heat-map.ts';
import { histogram } from '../src/report/histogram.ts';
import { paletteFor } from '../src/report/palette.ts';
import { given } from '../src/report/pieces.ts';
import type { DetectRecord } from '../src/report/records.ts';
import { workflowReport } from '../src/report/workflow-report.ts';
import { missingOf } from '../src/report/workflow-summary.ts';
import { runCli } from './support/cli.ts';
import { detectionOf, FINDINGS, writeFindings } from './support/findings.ts';
import { unbalanced } from './support/html.ts';

const DOT = 'data:image/png;base64,iVBORw0KGgo=';
const noPicture = (): Promise<null> => Promise.resolve(null);
const everyPicture = (): Promise<string> => Promise.resolve(DOT);
const NO_PICTURES = { training: new Map<string, string>(), query: new Map<string, string>() };

const folder = mkdtempSync(join(tmpdir(), 'ecif-report-run-'));
afterAll(() => rmSync(folder, { recursive: true }));

const BARE: Findings = {
  ...{ ...FINDINGS, log: null, scores: null, detect: null, trace: null, removals: [], curves: null, predicted: null },
};

/** Words that a type allows only some of. */
const CHOSEN = new Set(['side', 'wrong']);

/** A value with other texts in all places, names of options among them. */
function withTexts<T>(value: T, text: (old: string) => string, field = ''): T {
  if (typeof value === 'string') return (CHOSEN.has(field) ? value : text(value)) as T;
  if (Array.isArray(value)) return value.map((one: unknown) => withTexts(one, text)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const named = (name: string): string => (field === 'options' || field === 'versions' ? text(name) : name);
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [named(name), withTexts(one as unknown, text, name)]),
  ) as T;
}

/** Every tag with its attributes, the style sheet and the script of the page aside. */
const tagsOf = (html: string): { name: string; attributes: string[] }[] =>
  [
    ...html.replace(/<(style|script)>[\s\S]*?<\/\1>/g, '').matchAll(/<([a-zA-Z][^\s/>]*)((?:\s+[^\s=>]+="[^"]*")*)/g),
  ].map(([, name, rest]) => ({
    name,
    attributes: [...rest.matchAll(/\s([^\s=]+)="/g)].map(([, attribute]) => attribute),
  }));

const kindsOf = (html: string): Set<string> =>
  new Set(tagsOf(html).flatMap(({ name, attributes }) => [name, ...attributes.map((a) => `${name} ${a}`)]));

describe('the page of a run', async () => {
  const html = await workflowReport(FINDINGS, everyPicture);

  it('is balanced, whole and complete in itself', () => {
    expect(unbalanced(html)).toEqual([]);
    expect(html.startsWith('<!doctype html>')).toBe(true);
    expect(html).not.toMatch(/https?:|@import|url\(|<iframe| on\w+=|NaN|undefined|\[object/);
    const ids = [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('allows its one script by its hash and no other', () => {
    const scripts = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, text]) => text);
    expect(scripts).toHaveLength(1);
    const hash = createHash('sha256').update(scripts[0]).digest('base64');
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1].replaceAll('&#39;', "'");
    expect(policy).toBe(`default-src 'none'; script-src 'sha256-${hash}'; style-src 'unsafe-inline'; img-src data:`);
  });

  it('has a section for each part, in the order of its links', () => {
    const sections = [...html.matchAll(/<section id="([\w-]+)"/g)].map(([, id]) => id);
    const links = [...(/<nav [\s\S]*?<\/nav>/.exec(html)?.[0] ?? '').matchAll(/href="#([\w-]+)"/g)].map(([, id]) => id);
    expect(links).toEqual(sections);
    expect(sections).toEqual('summary suspects batch detection influence trace removals figures settings'.split(' '));
    expect(html).not.toContain('Not here:');
  });

  it('has headings that leave out no level', () => {
    const levels = [...html.matchAll(/<h([1-6])[ >]/g)].map(([, level]) => Number(level));
    expect(levels[0]).toBe(1);
    levels.forEach((level, i) => expect(level - (levels[i - 1] ?? 0)).toBeLessThanOrEqual(1));
  });

  it('says in a line what is missing and which command makes it', async () => {
    const bare = await workflowReport(BARE, noPicture);
    expect(unbalanced(bare)).toEqual([]);
    const lines = [...bare.matchAll(/<li>Not here: ([^<]*)<code>([^<]*)<\/code> makes <code>([^<]*)</g)];
    expect(lines.map(([, , command, file]) => `${command} ${file}`)).toEqual([
      'ecif train log.jsonl',
      'ecif score scores.parquet.json',
      'ecif detect detect.json',
      'ecif trace trace.json',
      'ecif remove removals/*/removal.json',
      'ecif curves curves.json',
    ]);
    expect(bare).not.toMatch(/<section id="(?:suspects|batch|detection|trace|removals|figures|influence)"/);
    for (const part of ['log', 'scores', 'detect', 'trace'] as const) {
      expect(missingOf({ ...FINDINGS, [part]: null })).toHaveLength(1);
    }
  });

  it('is a page also of empty lists and of a run that is not done', async () => {
    const detect = { ...detectionOf(), suspects: [], batch: null, truth: null };
    const trace = { ...(FINDINGS.trace as NonNullable<Findings['trace']>), queries: [] };
    const run = { ...FINDINGS.run, status: 'running', norms: null, seconds: null, parameters: null, versions: null };
    const empty = await workflowReport({ ...BARE, run, detect, trace, log: [], curves: [], predicted: [] }, noPicture);
    expect(unbalanced(empty)).toEqual([]);
    expect(empty).toContain('No pair is suspected.');
    expect(empty).toContain('The training run is not finished');
    expect(empty).not.toMatch(/NaN|undefined|Infinity/);
  });

  it('shows pictures that are pictures, and names in place of others', async () => {
    expect(html).toContain(`<img class="thumb" src="${DOT}"`);
    expect(html).not.toContain('thumb none');
    const addresses = [
      'javascript:alert(1)',
      'data:text/html,x',
      `${DOT}" onerror="x`,
      `data:image/png;base64,${'A'.repeat(1e6)}`,
    ];
    for (const address of addresses) {
      const page = await workflowReport(FINDINGS, () => Promise.resolve(address));
      expect(page).not.toContain('<img');
      expect(page).toContain('role="img" aria-label="no picture of 1f436"');
    }
  });

  it('asks for each picture once, as a query or as a training pair', async () => {
    const asked: string[] = [];
    await workflowReport(FINDINGS, (id, of) => {
      asked.push(`${of} ${id}`);
      return noPicture();
    });
    expect(new Set(asked).size).toBe(asked.length);
    expect(asked.filter((one) => one.startsWith('query'))).toEqual(
      FINDINGS.trace?.queries.map(({ id }) => `query ${id}`),
    );
  });
});

describe('texts of files', async () => {
  const harmless = withTexts(FINDINGS, (old) => `${old} ${'and more '.repeat(60)}`);
  const pages = [workflowReport(FINDINGS, everyPicture), workflowReport(harmless, noPicture)];
  const known = new Set((await Promise.all(pages)).flatMap((html) => [...kindsOf(html)]));

  it.each([
    ['<script>alert(1)</script>', '&lt;script&gt;alert(1)&lt;/script&gt;'],
    ['"><img src=x onerror=alert(1)>', '&quot;&gt;&lt;img src=x onerror=alert(1)&gt;'],
    [`' onmouseover='x`, '&#39; onmouseover=&#39;x'],
    ['a\u0000b\u001b[31m', 'a\ufffdb\ufffd[31m'],
    ['photo\u202egnp.exe', 'photo\ufffdgnp.exe'],
    ['\u2066\u2069</title></style></script>', '\ufffd\ufffd&lt;/title&gt;&lt;/style&gt;&lt;/script&gt;'],
  ])('%j is escaped wherever it stands', async (evil, escaped) => {
    const html = await workflowReport(
      withTexts(FINDINGS, () => evil),
      noPicture,
    );
    expect(unbalanced(html)).toEqual([]);
    expect(html.split(escaped).length).toBeGreaterThan(100);
    expect(html.replace(/<script>[\s\S]*<\/script>\n<\/body>/, '')).not.toContain(evil);
  });

  it('leave no tag and no attribute of theirs in the page, whatever they are', async () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '<b',
        '<svg/onload=x>',
        '</bdi>',
        '"',
        "'",
        '>',
        ' onclick="x"',
        '&lt;',
        '<!--',
        ']]>',
        '\u202e',
        '\0',
      ),
      fc.string({ unit: 'binary', maxLength: 8 }),
    );
    const text = fc.array(piece, { maxLength: 6 }).map((pieces) => `<evil ${pieces.join('')}`);
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 5, maxLength: 5 }), async (texts) => {
        let next = 0;
        const html = await workflowReport(
          withTexts(FINDINGS, () => texts[next++ % texts.length]),
          noPicture,
        );
        expect(unbalanced(html)).toEqual([]);
        expect(html).not.toMatch(/<evil/i);
        expect([...kindsOf(html)].filter((kind) => !known.has(kind))).toEqual([]);
      }),
      { numRuns: 15, seed: 3 },
    );
  });

  it('are cut in the middle where they are long, whole in their title', () => {
    const long = `start ${'x'.repeat(10_000 - 10)} end`;
    const html = given(long);
    const [, title, shown] = /^<bdi title="([^"]*)">([^<]*)<\/bdi>$/.exec(html) ?? [];
    expect(title).toBe(long);
    expect(shown).toMatch(/^start x+…x+ end$/);
    expect(shown.length).toBeLessThanOrEqual(120);
    expect(given('short')).toBe('<bdi>short</bdi>');
    expect(given('')).toBe('<bdi>–</bdi>');
    expect(given('😀'.repeat(500))).toMatch(/>(?:😀)+…(?:😀)+</u);
    expect(given('y'.repeat(5_000_000)).length).toBeLessThan(11_000);
  });
});

/** A number as the page writes it. */
function readNumber(text: string): number {
  const [mantissa, power] = text
    .replaceAll('−', '-')
    .replace(/[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]/g, (c) => '⁰¹²³⁴⁵⁶⁷⁸⁹⁻'.indexOf(c).toString().replace('10', '-'))
    .split('·10');
  return Number(mantissa) * 10 ** Number(power ?? 0);
}

/** Cells of the table of suspects by the names of its columns: what is read and what is sorted by. */
function suspectRows(html: string): Record<string, { text: string; value: string }>[] {
  const [table] = /<table class="list sortable"><caption>All suspects[\s\S]*?<\/table>/.exec(html) ?? [''];
  const names = [...table.matchAll(/<th scope="col"[^>]*>([^<]*)</g)].map(([, name]) => name);
  const rows = table.slice(table.indexOf('<tbody>')).match(/<tr>[\s\S]*?<\/tr>/g) ?? [];
  return rows.map((row) => {
    const cells = [...row.matchAll(/<td[^>]*data-value="([^"]*)"[^>]*>([\s\S]*?)<\/td>/g)];
    return Object.fromEntries(
      cells.map(([, value, inner], i) => [names[i], { text: inner.replace(/<[^>]*>/g, ''), value }]),
    );
  });
}

describe('numbers', () => {
  const size = fc
    .tuple(fc.integer({ min: -900, max: 900 }), fc.integer({ min: -6, max: 4 }))
    .map(([m, e]) => m * 10 ** e);

  it('in the table are those of the record', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(size, { minLength: 7, maxLength: 7 }), async ([a, b, c, d, e, f, g]) => {
        const detect = detectionOf();
        const pair = {
          ...{
            ...detect.suspects[0],
            suspicion: a,
            loss: b,
            clipscore: c,
            score: d,
            positive: e,
            negative: f,
            self: g,
          },
        };
        const [row] = suspectRows(
          await workflowReport({ ...BARE, detect: { ...detect, suspects: [pair] } }, noPicture),
        );
        const names = ['Suspicion', 'Loss', 'Cosine', 'Influence', 'as positive', 'as negative', 'Self-influence'];
        names.forEach((name, i) => {
          const given = [a, b, c, d, e, f, g][i];
          expect(Number(row[name].value)).toBe(given);
          expect(Math.abs(readNumber(row[name].text) - given)).toBeLessThanOrEqual(0.05 * Math.abs(given));
        });
        expect(row.Probability.text).toBe(`${(100 * pair.probability).toFixed(1)}\u00a0%`);
      }),
      { numRuns: 20, seed: 5 },
    );
  });

  it('that no suspect has leave out their column', async () => {
    const detect = detectionOf();
    const suspects = detect.suspects.map((pair) => ({ ...pair, score: null, self: null, swapped: null }));
    const [row] = suspectRows(await workflowReport({ ...BARE, detect: { ...detect, suspects } }, noPicture));
    expect(Object.keys(row)).not.toContain('Influence');
    expect(Object.keys(row)).not.toContain('Truth');
    expect(Object.keys(row)).toContain('as positive');
  });

  it('of a removal stand in its table, and those of the summary at the head', async () => {
    const html = await workflowReport(FINDINGS, noPicture);
    const row = (name: string): string[] =>
      [...(new RegExp(`<th scope="row">${name}</th>(.*?)</tr>`).exec(html)?.[1] ?? '').matchAll(/>([^<>]+)</g)].map(
        ([, t]) => t,
      );
    expect(row('before')).toEqual(['2.911', '31.1\u00a0%', '74.6\u00a0%', '41.1\u00a0%', '3.21', '–']);
    expect(row('edited')).toEqual(['2.743', '34.7\u00a0%', '83.3\u00a0%', '44.7\u00a0%', '0.0412', '11.8\u00a0s']);
    expect(row('retrained').slice(4)).toEqual(['0.0095', '7\u00a0min 40\u00a0s']);
    const counts = /<ul class="counts">[\s\S]*?<\/ul>/.exec(html)?.[0] ?? '';
    const heads = [...counts.matchAll(/<strong>([^<]*)/g)].map(([, text]) => text);
    expect(heads).toEqual(['1200', '231', '0.961', '37', '39×', '0.0091']);
    expect(counts).toContain('as fast as retraining by <bdi>Newton</bdi>, with 0.0713 of its change');
    expect(html).toContain('Hessian, cg with EK-FAC</bdi>, solved to 0.3</p>');
    expect(counts).toContain('</strong>queries mistaken; 3 traced to training pairs');
  });

  it('of a trace are drawn as they are ordered', async () => {
    const trace = FINDINGS.trace as NonNullable<Findings['trace']>;
    for (const by of ['score', 'relative'] as const) {
      const html = await workflowReport({ ...BARE, trace: { ...trace, options: { ...trace.options, by } } }, noPicture);
      expect(html).toContain(`Order and bars are by ${by === 'score' ? 'removal' : 'relative'}.`);
      const [first] = trace.queries;
      const all = [...first.against, ...first.for].map((source) => Math.abs(source[by]));
      const widths = [
        ...html
          .slice(html.indexOf('class="sources"'))
          .matchAll(
            /<span class="measured"><span class="bar (?:bad|good)" aria-hidden="true"><span style="width:([\d.]+)%">/g,
          ),
      ];
      expect(widths.slice(0, 2).map(([, width]) => Number(width))).toEqual(
        first.against.slice(0, 2).map((source) => Number(((100 * Math.abs(source[by])) / Math.max(...all)).toFixed(1))),
      );
    }
  });

  it('say that no cut-off is proposed where none is, and blame no half where either could be replaced', async () => {
    const detect = detectionOf();
    const cutoff = { ...detect.cutoff, flagged: 0, expectedPrecision: 0 };
    const html = await workflowReport({ ...BARE, detect: { ...detect, cutoff } }, noPicture);
    expect(html).toContain('No cut-off is proposed: the pairs look like one kind.');
    expect(html).toContain('suspected mismatches: no cut-off is proposed');
    expect(html).not.toContain('class="cutoff"');
    expect(html).toContain('<span class="minor">a better caption and a better picture both exist</span>');
    expect(html).not.toContain('both halves');
  });

  it('of the training curve are means where there are many', async () => {
    const log = Array.from({ length: 1001 }, (_, i) => ({ step: i + 1, loss: i < 3 ? 8 : 2 }));
    const html = await workflowReport({ ...BARE, log }, noPicture);
    expect(html).toContain('each point the mean of 3 steps');
    expect(html).toContain('loss: 334 points, from 2 to 8.');
    expect(await workflowReport({ ...BARE, log: log.slice(0, 20) }, noPicture)).toContain('at every step');
  });
});

describe('pictures', () => {
  it.each([1, 2, 16, 40])('a batch of %i: every cell has the colour of its cosine', (n) => {
    const { batch } = detectionOf(n) as { batch: NonNullable<DetectRecord['batch']> };
    const html = heatMap(batch, NO_PICTURES);
    expect(unbalanced(html)).toEqual([]);
    const palette = paletteFor(batch.cosines);
    const [cells] = /<g shape-rendering="crispEdges">(.*?)<\/g>/.exec(html) ?? [''];
    const drawn = [...cells.matchAll(/fill="(#\w+)" d="([^"]*)"/g)].flatMap(([, colour, d]) =>
      [...d.matchAll(/M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)/g)].map((m) => ({ colour, at: m.slice(1).map(Number) })),
    );
    const cell = drawn[0].at[3];
    const [left, top] = [Math.min(...drawn.map(({ at }) => at[0])), Math.min(...drawn.map(({ at }) => at[1]))];
    batch.cosines.forEach((cosine, k) => {
      const [y, x] = [top + (Math.floor(k / n) + 0.5) * cell, left + ((k % n) + 0.5) * cell];
      const here = drawn.filter(({ at: [a, b, w, h] }) => a <= x && x < a + w && b <= y && y < b + h);
      expect(here.map(({ colour }) => colour)).toEqual([palette.colours[palette.level(cosine)]]);
    });
    const [, outline] = /class="outline" d="([^"]*)"/.exec(html) ?? [];
    expect(Number(/^M[\d.]+ ([\d.]+)h/.exec(outline)?.[1])).toBeCloseTo(top + batch.at * cell, 1);
    expect(Number(/zM([\d.]+) /.exec(outline)?.[1])).toBeCloseTo(left + batch.at * cell, 1);
  });

  it('a large batch is cut to the pairs nearest to the suspect, which stays', () => {
    const { batch } = detectionOf(100) as { batch: NonNullable<DetectRecord['batch']> };
    const html = heatMap({ ...batch, at: 99 }, NO_PICTURES);
    expect(html).toContain('The 64 pairs nearest to the suspect of 100.');
    expect(html).toContain('<text class="suspect"');
  });

  it('the map is told in words', () => {
    const pairs = ['a', 'b', 'c'].map((id) => ({ id, caption: `caption ${id}` }));
    const html = heatMap(
      { pairs, cosines: [0.9, 0, 0, 0.8, 0.2, 0.1, 0.3, 0.4, 0.7], suspicion: [0, 2.5, 1], at: 1 },
      NO_PICTURES,
    );
    expect(html).toContain('aria-labelledby="heat-title heat-desc"');
    expect(html).toContain(
      'The suspect is pair 2, with suspicion 2.5: its caption has cosine 0.2 with its own picture, and more with 1 other pictures; its picture has more with 1 other captions.',
    );
  });

  it('palettes go from dark to bright, or about zero', () => {
    const light = (colour: string): number =>
      [1, 3, 5].reduce(
        (sum, i, k) => sum + [0.2126, 0.7152, 0.0722][k] * (parseInt(colour.slice(i, i + 2), 16) / 255) ** 2.2,
        0,
      );
    const sequential = paletteFor([0.1, 0.9]);
    const lights = sequential.colours.map(light);
    expect(lights.every((l, i) => i === 0 || l > lights[i - 1])).toBe(true);
    expect([sequential.level(0.1), sequential.level(0.9)]).toEqual([0, sequential.colours.length - 1]);
    const diverging = paletteFor([-0.5, 0.8]);
    expect([diverging.kind, ...diverging.domain]).toEqual(['diverging', -0.8, 0.8]);
    const middle = diverging.colours.length / 2;
    expect(Math.abs(diverging.level(0) - middle)).toBeLessThanOrEqual(1);
    expect(light(diverging.colours[middle])).toBeGreaterThan(0.8);
    expect(paletteFor([]).level(NaN)).toBe(0);
    expect(paletteFor([3, 3]).level(3)).toBeGreaterThan(0);
  });

  it('bars of the histogram are as high as their counts, the cut-off where it is', () => {
    const html = histogram({ bounds: [0, 1, 2, 3], all: [10, 0, 5], swapped: [0, 0, 4] }, 1.5);
    const heights = (kind: string): number[] =>
      [
        ...(new RegExp(`<path class="bars ${kind}" d="(M[^"]*354[^"]*)"`).exec(html)?.[1] ?? '').matchAll(
          / 354V([\d.]+)H/g,
        ),
      ].map(([, y]) => 354 - Number(y));
    expect(heights('all')).toEqual([340, 170]);
    expect(heights('swapped')).toEqual([136]);
    expect(html).toContain('<path class="cutoff" d="M353 354V14"/>');
    expect(html).toContain('15 pairs by suspicion, from 0 to 3, 4 of them known to be swapped; the cut-off is at 1.5.');
    expect(histogram({ bounds: [0, 1], all: [1], swapped: null }, 0)).not.toContain('swapped');
  });

  it('removal curves have bands of their errors', async () => {
    const points = [
      { share: 0, value: 0.5, error: 0.1 },
      { share: 0.5, value: 0.4, error: null },
      { share: 1, value: 0.3, error: 0.1 },
    ];
    const html = await workflowReport({ ...BARE, curves: [{ name: 'a', measure: 'R@5', points }] }, noPicture);
    // x: 0…1 over 84…622; y: 0.2…0.6 over 354…14.
    expect(html).toContain('<path class="band" d="M84 14L622 184L622 354L84 184Z"/>');
  });
});

describe('a run folder', () => {
  const complete = join(folder, 'complete');
  mkdirSync(complete);
  writeFindings(complete, FINDINGS);

  it('is read as it was written', () => {
    const found = readFindings(complete);
    expect({ ...found, commands: [] }).toEqual({ ...FINDINGS, name: 'complete', commands: [] });
    expect(found.commands).toHaveLength(7);
  });

  it('gives the commands that make it again', () => {
    const options = {
      data: 'my pairs.csv',
      out: 'run',
      resume: false,
      epochs: 10,
      l2: 30,
      temperature: true,
      crop: null,
    };
    expect(commandLine('train', options)).toBe("ecif train 'my pairs.csv' --out run --l2 30 --temperature");
    expect(commandLine('detect', { run: "it's", top: 5 })).toBe(String.raw`ecif detect 'it'\''s' --top 5`);
    expect(commandLine('ecif trace run --quick', { x: 1 })).toBe('ecif trace run --quick');
    expect(commandLine('train', { data: '$(reboot)\n' })).toBe("ecif train '$(reboot)\ufffd'");
  });

  /** What is said of a folder in which one file has been changed. */
  function complaint(file: string, change: (text: string) => string): string {
    const path = join(folder, 'changed');
    rmSync(path, { recursive: true, force: true });
    mkdirSync(path);
    writeFindings(path, FINDINGS);
    writeFileSync(join(path, file), change(readFileSync(join(path, file), 'utf8')));
    try {
      readFindings(path);
    } catch (error) {
      expect(error).toBeInstanceOf(EcifError);
      return (error as Error).message.replace(`${path}/`, '');
    }
    return 'nothing';
  }

  /** A change of one field, by its path. */
  const set =
    (path: string, value: unknown) =>
    (text: string): string => {
      const whole = JSON.parse(text) as Record<string, unknown>;
      const names = path.split('.');
      let inner = whole;
      for (const name of names.slice(0, -1)) inner = inner[name] as Record<string, unknown>;
      inner[names[names.length - 1]] = value;
      return JSON.stringify(whole);
    };

  it.each([
    ['run.json', () => '{', /^run\.json: the whole: no JSON, .*; make the file again$/],
    ['run.json', () => '[]', /^run\.json: the whole: found a list of 0; give an object$/],
    ['run.json', set('dataset.pairs', -1), /^run\.json: dataset\.pairs: found -1; give a whole number from 0$/],
    ['log.jsonl', () => '{"step":1,"loss":2}\noops\n', /^log\.jsonl: line 2: no JSON, /],
    ['log.jsonl', () => '{"step":1}\n', /^log\.jsonl: line 1\.loss: found nothing; give a finite number$/],
    ['scores.parquet.json', set('seconds', 3), /^scores\.parquet\.json: seconds: found 3; give an object$/],
    [
      'detect.json',
      set('suspects.2.wrong', 'all\nof it'),
      /^detect\.json: suspects\[2\]\.wrong: found "all\\nof it"; give caption or/,
    ],
    [
      'detect.json',
      set('suspects.0.probability', '1'),
      /^detect\.json: suspects\[0\]\.probability: found "1"; give a finite/,
    ],
    [
      'detect.json',
      set('suspects.1.hardest.0.side', null),
      /^detect\.json: suspects\[1\]\.hardest\[0\]\.side: found null; give/,
    ],
    ['detect.json', set('histogram.all', [1]), /^detect\.json: histogram\.all: found a list of 1; give 40/],
    [
      'detect.json',
      set('histogram.bounds', [1]),
      /^detect\.json: histogram\.bounds: found a list of 1; give 2 or more$/,
    ],
    ['detect.json', set('batch.cosines', [0.5]), /^detect\.json: batch\.cosines: found a list of 1; give 16 × 16$/],
    ['detect.json', set('batch.at', 16), /^detect\.json: batch\.at: found 16; give a position below 16$/],
    [
      'detect.json',
      set('truth.measures.0.roc.1', [0]),
      /^detect\.json: truth\.measures\[0\]\.roc\[1\]: found a list of 1; give a list of 2/,
    ],
    ['trace.json', set('queries.0.for', {}), /^trace\.json: queries\[0\]\.for: found an object; give a list/],
    [
      'removals/unverified/removal.json',
      set('gradient.after', null),
      /^removals\/unverified\/removal\.json: gradient\.after: found null/,
    ],
    [
      'curves.json',
      set('0.points.1.error', 'x'),
      /^curves\.json: \[0\]\.points\[1\]\.error: found "x"; give a finite number$/,
    ],
    [
      'predicted.json',
      (text: string) => text.replace(/"actual":-?[\d.]+/, '"actual":1e999'),
      /^predicted\.json: \[0\]\.points\[0\]\.actual: found null/,
    ],
  ] as [string, (text: string) => string, RegExp][])(
    '%s changed: one line that names the field',
    (file, change, said) => {
      const message = complaint(file, change);
      expect(message).toMatch(said);
      expect(message).not.toContain('\n');
    },
  );

  it('may end its log in the middle of a line', () => {
    expect(complaint('log.jsonl', (text) => `${text}{"step":3,"lo`)).toBe('nothing');
  });

  it('becomes a page with pictures, by the command', async () => {
    const home = join(folder, 'with-pictures');
    mkdirSync(home);
    const ids = [...new Set(FINDINGS.detect?.suspects.map(({ id }) => id))];
    for (const id of ids.slice(1)) {
      await sharp({ create: { width: 200, height: 100, channels: 3, background: '#c33' } })
        .png()
        .toFile(join(home, `${id}.png`));
    }
    writeFileSync(join(home, `${ids[0]}.png`), 'no picture');
    const pairs = join(home, 'pairs.csv');
    // Typed in another folder than the report is made in; found beside the run.
    const options = { ...withDefaults({}, TRAIN_OPTIONS), data: 'pairs.csv' };
    const places = { cwd: '/nowhere', places: { data: 'pairs.csv' } };
    writeFileSync(pairs, `id,image,caption\n${ids.map((id) => `${id},${id}.png,x`).join('\n')}`);
    const sha256 = datasetHash(await readDataset(pairs));
    const run = { ...FINDINGS.run, ...places, options, dataset: { pairs: ids.length, sha256, dropped: null } };
    writeFindings(home, { ...FINDINGS, run, trace: null });
    const { code, stdout, stderr } = await runCli(['report', home, '--json']);
    expect([code, stderr]).toEqual([0, '']);
    const { out, pictures, missing } = JSON.parse(stdout) as {
      out: string;
      pictures: object;
      missing: { command: string }[];
    };
    expect(out).toBe(join(home, 'report.html'));
    expect(pictures).toEqual({ shown: ids.length - 1, unreadable: 1 });
    expect(missing.map(({ command }) => command)).toEqual(['ecif trace']);
    const html = readFileSync(out, 'utf8');
    expect(unbalanced(html)).toEqual([]);
    expect(html).toContain(`aria-label="no picture of ${ids[0]}"`);
    const [, address] =
      new RegExp(`<img class="thumb" src="data:image/webp;base64,([^"]*)" alt="picture of ${ids[1]}"`).exec(html) ?? [];
    const { width, height, format } = await sharp(Buffer.from(address, 'base64')).metadata();
    expect([width, height, format]).toEqual([96, 48, 'webp']);
  });

  it('shows the pictures of queries that were typed in another folder, and says which edit is in force', async () => {
    const home = join(folder, 'with-queries');
    mkdirSync(home);
    const queries = FINDINGS.trace?.queries ?? [];
    for (const { id } of queries) {
      await sharp({ create: { width: 9, height: 9, channels: 3, background: '#3c3' } })
        .png()
        .toFile(join(home, `${id}.png`));
    }
    writeFileSync(
      join(home, 'queries.csv'),
      `id,image,caption\n${queries.map(({ id }) => `${id},${id}.png,x`).join('\n')}`,
    );
    const options = { ...withDefaults({}, TRAIN_OPTIONS), data: 'queries.csv' };
    const run = { ...FINDINGS.run, options, cwd: home };
    const trace = { ...FINDINGS.trace, options: { queries: 'queries.csv' }, cwd: home } as Findings['trace'];
    const [removal] = FINDINGS.removals;
    const dry = { ...removal.record, options: { ...removal.record.options, 'dry-run': true } };
    const removals = ['first', 'second', 'third', 'fourth'].map((name) => ({ ...removal, name }));
    writeFindings(home, {
      ...FINDINGS,
      run,
      trace,
      removals: [...removals, { ...removal, name: 'tried', record: dry }],
    });
    writeFileSync(
      join(home, 'current.json'),
      JSON.stringify({ applied: ['removals/first', 'removals/second'], undone: ['removals/third'] }),
    );
    expect((await runCli(['report', home])).code).toBe(0);
    const html = readFileSync(join(home, 'report.html'), 'utf8');
    for (const { id } of queries) expect(html).toMatch(new RegExp(`src="data:image/webp[^"]*" alt="picture of ${id}"`));
    const states = [...html.matchAll(/pairs? removed<\/h3>\s*<p class="badges"><span class="badge \w+">([^<]*)/g)];
    expect(states.map(([, state]) => state)).toEqual([
      ...['held by a later edit', 'not in force', 'in force', 'undone', 'dry run'],
    ]);
  });

  it('without run.json is no run', () => {
    expect(() => readFindings(join(folder, 'nowhere'))).toThrow(/nowhere: holds no run\.json; ecif train DATA --out /);
  });

  it('with a malformed file ends the command with code 2 and one line', async () => {
    const path = join(folder, 'bad');
    mkdirSync(path);
    writeFindings(path, BARE);
    writeFileSync(join(path, 'detect.json'), '{"suspects": [\n');
    const { code, stderr, stdout } = await runCli(['report', path]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^ecif: .*bad\/detect\.json: the whole: no JSON, .*; make the file again\n$/);
  });
});
