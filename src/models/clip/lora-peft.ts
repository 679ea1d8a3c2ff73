// Adapters as PEFT files hold them: `adapter_config.json`, and tensors named `base_model.model.<module>.lora_A.weight`.

import { EcifError } from '../../array/errors.ts';
import type { Device } from '../../device/open.ts';
import { type ClipConfig, clipShapes } from './config.ts';
import { bad, flagField, type Json, objectField, positiveField, shown, wholeField } from './formats/fields.ts';
import { parseObject } from './formats/json.ts';
import { type Adapter, adapterShapes, type Lora, loraOn, type LoraSettings } from './lora.ts';
import { type NamedTensor, placeTensors } from './weights.ts';
import type { Safetensors } from './safetensors.ts';

const PREFIX = 'base_model.model.';
const [PART_A, PART_B] = ['.lora_A.weight', '.lora_B.weight'];
const LOGIT_SCALE = 'logit_scale';

/** Rank, alpha, scaling and dropout; which modules are adapted, the tensors of an adapter say themselves. */
export type PeftSettings = Required<Pick<LoraSettings, 'rank' | 'alpha' | 'scaling' | 'dropout'>>;

/** The name a parameter has in a PEFT file. */
export const peftName = (name: string): string => `${PREFIX}${name}`;

/** Features of PEFT that change what is computed, and that are not known here. */
function refuseUnknown(file: string, json: Json): void {
  if ((json.peft_type ?? 'LORA') !== 'LORA') bad(file, 'peft_type', `found ${shown(json.peft_type)}`, 'give "LORA"');
  if ((json.bias ?? 'none') !== 'none') bad(file, 'bias', `found ${shown(json.bias)}`, 'only "none" is known here');
  for (const field of ['use_dora', 'fan_in_fan_out', 'lora_bias']) {
    if (flagField(file, field, json[field], false)) bad(file, field, 'found true', 'only false is known here');
  }
  for (const field of ['rank_pattern', 'alpha_pattern']) {
    if (Object.keys(objectField(file, field, json[field] ?? {})).length > 0) {
      bad(file, field, 'found entries', 'one rank and alpha for all modules are known here');
    }
  }
}

/**
 * Reads `adapter_config.json`.
 * @throws EcifError with file, field, what was found and what to do
 */
export function parsePeftConfig(file: string, text: string): PeftSettings {
  const json = parseObject(file, text);
  refuseUnknown(file, json);
  const dropout = json.lora_dropout ?? 0;
  if (typeof dropout !== 'number' || !(dropout >= 0 && dropout < 1)) {
    bad(file, 'lora_dropout', `found ${shown(dropout)}`, 'give a share in 0…1, below 1');
  }
  return {
    rank: wholeField(file, 'r', json.r ?? 8, 1, 2 ** 14),
    alpha: positiveField(file, 'lora_alpha', json.lora_alpha ?? 8),
    scaling: flagField(file, 'use_rslora', json.use_rslora, false) ? 'root' : 'rank',
    dropout,
  };
}

/** The contents of `adapter_config.json`, such as PEFT reads. */
export const peftConfig = (lora: Lora, base: string | null = null): Record<string, unknown> => ({
  base_model_name_or_path: base,
  bias: 'none',
  fan_in_fan_out: false,
  inference_mode: true,
  init_lora_weights: true,
  lora_alpha: lora.alpha,
  lora_dropout: lora.dropout,
  modules_to_save: null,
  peft_type: 'LORA',
  r: lora.rank,
  target_modules: [...lora.modules],
  task_type: null,
  use_dora: false,
  use_rslora: lora.scaling === 'root',
});

/** The module a tensor adapts. */
function moduleOf(file: string, name: string): string {
  const part = [PART_A, PART_B].find((end) => name.endsWith(end));
  if (!name.startsWith(PREFIX) || part === undefined) {
    throw new EcifError(
      `${file}: tensor ${shown(name)}: not an adapter's; give ${PREFIX}<module>${PART_A} and ${PART_B} alone`,
    );
  }
  return name.slice(PREFIX.length, -part.length);
}

/**
 * The modules that an adapter of a model adapts, by the names of its tensors.
 * @throws EcifError for a tensor of another kind, or a module that the model does not have
 */
export function loraOfNames(config: ClipConfig, settings: PeftSettings, file: string, names: Iterable<string>): Lora {
  const modules = [...names].filter((name) => name !== peftName(LOGIT_SCALE)).map((name) => moduleOf(file, name));
  const shapes = clipShapes(config);
  const odd = modules.find((module) => !shapes.has(`${module}.weight`));
  if (odd !== undefined) throw new EcifError(`${file}: adapts ${shown(odd)}, which the model does not have; is it the adapter of another?`);
  return loraOn(config, settings, modules);
}

/** An adapter with what it adapts. */
export interface PlacedAdapter {
  readonly lora: Lora;
  readonly theta: Adapter;
}

/**
 * Reads an adapter from a PEFT file to a device.
 * @throws EcifError that names file and tensor if one is missing or has another shape
 * @example const { lora, theta } = await loadAdapter(config, parsePeftConfig(name, text), file, device);
 */
export async function loadAdapter(
  config: ClipConfig,
  settings: PeftSettings,
  file: Safetensors,
  device: Device,
): Promise<PlacedAdapter> {
  const names = [...file.tensors.keys()];
  const lora = loraOfNames(config, settings, file.source, names);
  const shapes = new Map([...adapterShapes(config, lora)].map(([name, shape]) => [peftName(name), shape]));
  if (names.includes(peftName(LOGIT_SCALE))) shapes.set(peftName(LOGIT_SCALE), []);
  const placed = await placeTensors(file, shapes, device);
  const theta = Object.fromEntries([...placed].map(([name, one]) => [name.slice(PREFIX.length), one]));
  return { lora, theta };
}

/** An adapter's tensors under PEFT's names, to be written. */
export const adapterTensors = (theta: Adapter): NamedTensor[] =>
  Object.keys(theta)
    .toSorted()
    .map((name) => ({ name: peftName(name), shape: theta[name].shape, values: () => theta[name].data() }));
