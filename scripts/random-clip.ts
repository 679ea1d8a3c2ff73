// npm run random-clip -- DIR [SIZE] [DTYPE] [SEED]: a CLIP folder in Hugging Face's form with random weights, to try sizes
// with. SIZE is tiny, vit-b-32, vit-b-16 (unless told), vit-l-14 or vit-l-14-336; DTYPE is F16 (unless told), BF16 or F32.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createRng } from '../src/array/rng.ts';
import { clipVocabularyText } from '../src/data/clip-vocabulary.node.ts';
import { countParameters } from '../src/models/clip/config.ts';
import { parseClipConfig } from '../src/models/clip/config-parse.ts';
import { saveFile } from '../src/models/clip/files.node.ts';
import { saveClip } from '../src/models/clip/hf-directory.node.ts';
import type { WeightDtype } from '../src/models/clip/safetensors.ts';
import { randomTensors } from '../src/models/clip/weights-init.ts';

interface Size {
  readonly image: number;
  readonly patch: number;
  readonly vision: { readonly width: number; readonly layers: number };
  readonly text: { readonly width: number; readonly layers: number };
  readonly projection: number;
}

const BASE = { image: 224, vision: { width: 768, layers: 12 }, text: { width: 512, layers: 12 }, projection: 512 };
const LARGE = { patch: 14, vision: { width: 1024, layers: 24 }, text: { width: 768, layers: 12 }, projection: 768 };
const SIZES: Readonly<Record<string, Size>> = {
  tiny: { image: 32, patch: 8, vision: { width: 64, layers: 2 }, text: { width: 64, layers: 2 }, projection: 64 },
  'vit-b-32': { ...BASE, patch: 32 },
  'vit-b-16': { ...BASE, patch: 16 },
  'vit-l-14': { ...LARGE, image: 224 },
  'vit-l-14-336': { ...LARGE, image: 336 },
};
const DTYPES = ['F16', 'BF16', 'F32'];

/** A tower as `config.json` has it; heads are 64 wide. */
const tower = (width: number, layers: number): Record<string, unknown> => ({
  hidden_size: width,
  intermediate_size: 4 * width,
  num_hidden_layers: layers,
  num_attention_heads: width / 64,
  hidden_act: 'quick_gelu',
  layer_norm_eps: 1e-5,
});

/** `config.json` of a size. */
const settingsOf = ({ image, patch, vision, text, projection }: Size): unknown => ({
  architectures: ['CLIPModel'],
  model_type: 'clip',
  projection_dim: projection,
  logit_scale_init_value: 2.6592,
  text_config: {
    ...tower(text.width, text.layers),
    max_position_embeddings: 77,
    vocab_size: 49408,
    bos_token_id: 49406,
    eos_token_id: 49407,
  },
  vision_config: { ...tower(vision.width, vision.layers), image_size: image, patch_size: patch, num_channels: 3 },
});

const [folder, name = 'vit-b-16', dtype = 'F16', seed = '0'] = process.argv.slice(2);
if (folder === undefined || !Object.hasOwn(SIZES, name) || !DTYPES.includes(dtype) || !/^\d+$/.test(seed)) {
  console.error(`random-clip: give DIR [${Object.keys(SIZES).join('|')}] [${DTYPES.join('|')}] [SEED]`);
  process.exit(2);
}
if (existsSync(join(folder, 'config.json'))) {
  console.error(`random-clip: ${folder} holds a model; name another folder`);
  process.exit(2);
}
const settings = settingsOf(SIZES[name]);
const config = parseClipConfig('config.json', JSON.stringify(settings));
const tensors = Array.from(randomTensors(config, createRng(Number(seed))), (one) => ({
  ...one,
  dtype: dtype as WeightDtype,
}));
try {
  await saveClip(folder, settings, tensors);
} catch (error) {
  console.error(`random-clip: ${(error as Error).message}`);
  process.exit(2);
}
await saveFile(join(folder, 'bpe_simple_vocab_16e6.txt'), await clipVocabularyText());
console.log(`${folder}: ${name}, ${(countParameters(config) / 1e6).toFixed(1)} million random weights in ${dtype}`);
