// A tiny dataset of coloured shapes, a tiny CLIP to train on it, and runs of the two.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { onTestFinished } from 'vitest';
import { learnVocabulary } from '../../scripts/small-clip/vocabulary.ts';
import { withDefaults } from '../../src/cli/args.ts';
import { TRAIN_OPTIONS, type TrainSettings } from '../../src/cli/train/options.ts';
import { runTraining } from '../../src/cli/train/run.ts';
import type { RunRecord } from '../../src/cli/runs/run-folder.ts';
import { openDevice } from '../../src/device/open.ts';

const COLOURS = { red: '#e02020', green: '#20a020', blue: '#2040e0', yellow: '#e0d020' };
const SHAPES = {
  square: '<rect x="3" y="3" width="10" height="10"/>',
  circle: '<circle cx="8" cy="8" r="6"/>',
  triangle: '<path d="M8 2 14 14H2z"/>',
};

/** Says nothing. */
export const quiet = { line: () => undefined, status: () => undefined };

/** A folder that is removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ecif-shapes-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Twelve pictures with captions and labels, listed in `pairs.csv`. */
export async function writeShapes(folder: string): Promise<string> {
  const rows: string[] = [];
  mkdirSync(join(folder, 'pictures'), { recursive: true });
  for (const [colour, fill] of Object.entries(COLOURS)) {
    for (const [shape, path] of Object.entries(SHAPES)) {
      const image = `pictures/${colour}-${shape}.png`;
      const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" width="16" height="16" fill="${fill}">${path}</svg>`;
      await sharp(Buffer.from(svg)).flatten({ background: '#fff' }).png().toFile(join(folder, image));
      rows.push(`${image},a ${colour} ${shape},${colour}-${shape},${shape}`);
    }
  }
  const list = join(folder, 'pairs.csv');
  writeFileSync(list, `image,caption,id,label\n${rows.join('\n')}\n`);
  return list;
}

/** `config.json` of a CLIP of a few thousand parameters, with tokenizer and preprocessing beside it. */
export function writeTinyConfig(folder: string): string {
  const captions = Object.keys(COLOURS).flatMap((c) => Object.keys(SHAPES).map((s) => `a ${c} ${s} photo of`));
  const { size, vocab, merges } = learnVocabulary(captions, 40);
  const tower = { hidden_size: 8, intermediate_size: 16, num_hidden_layers: 2, num_attention_heads: 2 };
  const config = {
    model_type: 'clip',
    projection_dim: 8,
    text_config: { ...tower, vocab_size: size, eos_token_id: size - 1, max_position_embeddings: 12 },
    vision_config: { ...tower, image_size: 8, patch_size: 4 },
  };
  mkdirSync(folder, { recursive: true });
  const pixels = { size: { shortest_edge: 8 }, crop_size: 8 };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  writeFileSync(join(folder, 'preprocessor_config.json'), JSON.stringify(pixels));
  writeFileSync(join(folder, 'vocab.json'), vocab);
  writeFileSync(join(folder, 'merges.txt'), merges);
  return join(folder, 'config.json');
}

/** Settings of a run: the command's defaults, and what is given. */
export const settingsOf = (given: Partial<TrainSettings>): TrainSettings =>
  ({ ...withDefaults(given, TRAIN_OPTIONS), data: given.data ?? '' }) as TrainSettings;

/** Trains on the CPU. */
export async function trainHere(given: Partial<TrainSettings>): Promise<RunRecord> {
  const device = await openDevice({ kind: 'cpu' });
  try {
    return await runTraining(settingsOf(given), device, quiet);
  } finally {
    device.destroy();
  }
}

/** Shapes, and a CLIP trained on them from scratch for a few steps, to adapt. */
export async function writeBase(folder: string): Promise<{ data: string; config: string; model: string }> {
  const data = await writeShapes(folder);
  const config = writeTinyConfig(join(folder, 'start'));
  const model = join(folder, 'base');
  await trainHere({ data, 'from-scratch': config, out: model, epochs: 4, batch: 6, seed: 3, rate: 3e-3 });
  return { data, config, model };
}

/** Bytes of a file of a run. */
export const bytesOf = (folder: string, file: string): Buffer => readFileSync(join(folder, file));
