// Reading `config.json` of a Hugging Face CLIP model: every field checked, missing ones as Hugging Face fills them in.

import {
  type ClipAct,
  type ClipConfig,
  countParameters,
  type TextConfig,
  type TowerConfig,
  type VisionConfig,
} from './config.ts';
import { bad, type Json, numbersField, objectField, positiveField, shown, wholeField } from './formats/fields.ts';
import { parseObject } from './formats/json.ts';

/** Fields of one object of a file, and what they are called in messages. */
interface Section {
  readonly file: string;
  readonly path: string;
  readonly json: Json;
}

const ACTS: Readonly<Record<string, ClipAct>> = { quick_gelu: 'quickGelu', gelu: 'gelu' };
/** Largest sizes accepted; far above every published model. */
const MOST = { width: 2 ** 14, layers: 256, inner: 2 ** 16, vocabulary: 2 ** 20, positions: 2 ** 13, image: 2 ** 12 };
/** Largest model accepted, in parameters. */
const MOST_PARAMETERS = 2 ** 32;

/** Hugging Face's own sizes where a file says nothing. */
const MISSING = {
  vision: { hidden_size: 768, intermediate_size: 3072, num_attention_heads: 12 },
  text: { hidden_size: 512, intermediate_size: 2048, num_attention_heads: 8 },
} as const;

const whole = ({ file, path, json }: Section, name: string, missing: number, most: number): number =>
  wholeField(file, `${path}${name}`, json[name] ?? missing, 1, most);

const fail = ({ file, path, json }: Section, name: string, fix: string): never =>
  bad(file, `${path}${name}`, `found ${shown(json[name])}`, fix);

function towerOf(at: Section, missing: (typeof MISSING)['vision' | 'text']): TowerConfig {
  const width = whole(at, 'hidden_size', missing.hidden_size, MOST.width);
  const heads = whole(at, 'num_attention_heads', missing.num_attention_heads, MOST.width);
  if (width % heads !== 0) fail(at, 'num_attention_heads', `give a divisor of hidden_size ${width}`);
  const act = at.json.hidden_act ?? 'quick_gelu';
  if (typeof act !== 'string' || !Object.hasOwn(ACTS, act)) {
    fail(at, 'hidden_act', `give one of ${Object.keys(ACTS).join(', ')}`);
  }
  return {
    width,
    heads,
    layers: whole(at, 'num_hidden_layers', 12, MOST.layers),
    inner: whole(at, 'intermediate_size', missing.intermediate_size, MOST.inner),
    act: ACTS[act as string],
    eps: positiveField(at.file, `${at.path}layer_norm_eps`, at.json.layer_norm_eps ?? 1e-5),
  };
}

function visionOf(at: Section): VisionConfig {
  const imageSize = whole(at, 'image_size', 224, MOST.image);
  const patchSize = whole(at, 'patch_size', 32, MOST.image);
  if (imageSize % patchSize !== 0) fail(at, 'patch_size', `give a divisor of image_size ${imageSize}`);
  const channels = whole(at, 'num_channels', 3, 16);
  return { ...towerOf(at, MISSING.vision), imageSize, patchSize, channels };
}

function textOf(at: Section): TextConfig {
  const vocabulary = whole(at, 'vocab_size', 49408, MOST.vocabulary);
  const eos = whole(at, 'eos_token_id', 49407, MOST.vocabulary);
  if (eos >= vocabulary) fail(at, 'eos_token_id', `give an id below vocab_size ${vocabulary}`);
  const positions = whole(at, 'max_position_embeddings', 77, MOST.positions);
  const pool = eos === 2 ? 'largest-id' : 'first-eos';
  return { ...towerOf(at, MISSING.text), vocabulary, positions, eos, pool };
}

/** The fields of a tower: `vision_config`, of which older files repeat some under `vision_config_dict`. */
function section(file: string, json: Json, name: string): Section {
  const [base, over] = [name, `${name}_dict`].map((key) => objectField(file, key, json[key] ?? {}));
  return { file, path: `${name}.`, json: { ...base, ...over } };
}

/**
 * Reads `config.json` of a CLIP model.
 * @param file its name, for messages
 * @throws EcifError with file, field, what was found and what to do
 * @example const config = parseClipConfig('config.json', await readFile('config.json', 'utf8'));
 */
export function parseClipConfig(file: string, text: string): ClipConfig {
  const top: Section = { file, path: '', json: parseObject(file, text) };
  if ((top.json.model_type ?? 'clip') !== 'clip') fail(top, 'model_type', 'give a model of type "clip"');
  const config: ClipConfig = {
    projection: whole(top, 'projection_dim', 512, MOST.width),
    logitScale: numbersField(file, 'logit_scale_init_value', [top.json.logit_scale_init_value ?? 2.6592])[0],
    vision: visionOf(section(file, top.json, 'vision_config')),
    text: textOf(section(file, top.json, 'text_config')),
  };
  const count = countParameters(config);
  if (count > MOST_PARAMETERS) {
    bad(file, 'sizes', `${count} parameters, at most ${MOST_PARAMETERS} are taken`, 'give smaller sizes');
  }
  return config;
}
