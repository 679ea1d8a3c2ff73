// ecif demo: a small contrastive model of emoji and their names, trained and checked in about half a minute.

import { oneLine } from '../array/messages.ts';
import { readEmoji } from '../data/emoji.node.ts';
import type { Retrieval } from '../models/retrieval.ts';
import { defineCommand } from './command.ts';
import { type DemoResult, type DemoSettings, runDemo, SETTINGS, SHUFFLES } from './demo-run.ts';
import { onDevice } from './devices.ts';
import { bytes, columns, percent } from './format.ts';

const LISTED = 5;

function summary({ device, seed, settings, parameters, loss, retrieval, timing, peakBytes }: DemoResult): string {
  const { side, features, hidden, shared, steps, batch } = settings;
  const n = retrieval.trained.pairs;
  const seconds = timing.trainSeconds.toFixed(1);
  const [before, after, even] = [loss.untrained, loss.trained, loss.even].map((x) => x.toFixed(3));
  return [
    `A small demonstration model, trained from scratch on ${n} emoji and their names (seed ${seed}).`,
    columns([
      ['device', device],
      ['model', `${side}×${side} px and ${features} hashed n-grams → ${hidden} → ${shared}, ${parameters} parameters`],
      ['training', `${steps} steps of ${Math.min(batch, n)} pairs in ${seconds} s, ${bytes(peakBytes)} at most`],
      ['loss', `${before} untrained → ${after} trained (even guessing ${even})`],
    ]),
  ].join('\n');
}

function retrievalRow(label: string, { pairs, textToImage: t, imageToText: i, chance: c }: Retrieval): string {
  const cells = [t, i, c].map(({ r1, r5 }) => percent(r1).padStart(9) + percent(r5).padStart(8));
  return label.padEnd(20) + String(pairs).padStart(6) + cells.join('  ');
}

function retrievalTable({ retrieval: { trained, unseenTone, unseenEmoji, shuffled } }: DemoResult): string {
  const heads = ['caption → image', 'image → caption', 'chance'].map((s) => s.padStart(17)).join('  ');
  const cells = Array.from({ length: 3 }, () => 'R@1'.padStart(9) + 'R@5'.padStart(8)).join('  ');
  return [
    `${'retrieval'.padEnd(20)}${' '.repeat(6)}${heads}`,
    `${' '.repeat(20)}${'pairs'.padStart(6)}${cells}`,
    retrievalRow('trained pairs', trained),
    retrievalRow('unseen skin tone', unseenTone),
    retrievalRow('unseen emoji', unseenEmoji),
    retrievalRow('captions shuffled', shuffled),
    'Trained pairs measure memory. Unseen skin tone: trained captions, pictures in a tone never trained on.',
    'Unseen emoji: neither picture nor name was trained on, but words and shapes recur (man surfing, woman surfing).',
    `Captions shuffled: a control that must be near chance, the mean of ${SHUFFLES} shuffles.`,
  ].join('\n');
}

function checkText({ check: { ok, pairs, float64, device } }: DemoResult): string {
  const e = (x: number): string => x.toExponential(1);
  const rows: [string, string][] = [
    ['gradient', `${e(float64.gradient)} from central differences of the loss (at most ${e(float64.tolerance)})`],
    ['H·v', `${e(float64.hvp)} from central differences of the gradient (at most ${e(float64.tolerance)})`],
  ];
  if (device !== null) {
    rows.push([
      'float32',
      `gradient ${e(device.gradient)}, H·v ${e(device.hvp)} from float64 (at most ${e(device.tolerance)})`,
    ]);
  }
  const title = `derivatives of the loss on the ${pairs} hardest pairs, relative errors: ${ok ? 'ok' : 'FAILED'}`;
  return `${title}\n${columns(rows)}`;
}

function hardestText({ hardest }: DemoResult): string {
  const rows = hardest
    .slice(0, LISTED)
    .map(({ emoji, caption, loss, nearest }): [string, string] => [
      loss.toFixed(2),
      `${oneLine(caption)} ${oneLine(emoji)}; nearest other: ${oneLine(nearest)}`,
    ]);
  return `highest loss, and the other caption its picture is most similar to\n${columns(rows)}`;
}

/** The result as text. */
const describe = (result: DemoResult): string =>
  [summary, retrievalTable, checkText, hardestText].map((part) => part(result)).join('\n\n');

export const demo = defineCommand({
  name: 'demo',
  summary: 'train a small contrastive model on emoji and their names, measure it, check its derivatives',
  example: 'ecif demo --device cpu --steps 200',
  options: {
    seed: {
      kind: 'number',
      whole: true,
      least: 0,
      most: 2 ** 32 - 1,
      default: 7,
      help: 'equal seeds give equal results on one device',
    },
    steps: { kind: 'number', whole: true, least: 1, most: 1_000_000, help: 'training steps (600 unless told)' },
  },
  run: ({ seed, steps }, context) =>
    onDevice(context, async (device) => {
      const { progress } = context;
      const base = SETTINGS[device.kind];
      const settings: DemoSettings = { ...base, steps: steps ?? base.steps };
      const pairs = await readEmoji(settings);
      progress.line(`read ${pairs.length} pictures of ${settings.side}×${settings.side} px with their names`);
      const json = await runDemo(device, pairs, settings, seed, progress);
      return { json, text: describe(json), ok: json.check.ok };
    }),
});
