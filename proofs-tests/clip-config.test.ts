// config.json of CLIP models: official sizes with their parameter counts, Hugging Face's defaults, refusals by field.

import { describe, expect, it } from 'vitest';
import { clipShapes, countParameters } from '../src/models/clip/config.ts';
import { parseClipConfig } from '../src/models/clip/config-parse.ts';
import { chooseLora, adapterShapes } from '../src/models/clip/lora.ts';

type Json = Record<string, unknown>;

/** What the files of OpenAI's models say where they differ from the smallest. */
const LARGE = {
  projection_dim: 768,
  text_config: { hidden_size: 768, intermediate_size: 3072, num_attention_heads: 12, eos_token_id: 2 },
  vision_config: { hidden_size: 1024, intermediate_size: 4096, num_attention_heads: 16, num_hidden_layers: 24 },
};
const OFFICIAL: Record<string, { json: Json; parameters: number; tokens: number }> = {
  'ViT-B/32': {
    json: {
      model_type: 'clip',
      projection_dim: 512,
      logit_scale_init_value: 2.6592,
      text_config: {
        attention_dropout: 0,
        bos_token_id: 0,
        eos_token_id: 2,
        hidden_act: 'quick_gelu',
        hidden_size: 512,
        intermediate_size: 2048,
        layer_norm_eps: 1e-5,
        max_position_embeddings: 77,
        model_type: 'clip_text_model',
        num_attention_heads: 8,
        num_hidden_layers: 12,
        pad_token_id: 1,
        vocab_size: 49408,
      },
      text_config_dict: null,
      vision_config: {
        hidden_act: 'quick_gelu',
        hidden_size: 768,
        image_size: 224,
        intermediate_size: 3072,
        layer_norm_eps: 1e-5,
        num_attention_heads: 12,
        num_hidden_layers: 12,
        patch_size: 32,
      },
      vision_config_dict: null,
    },
    parameters: 151_277_313,
    tokens: 50,
  },
  'ViT-B/16': { json: { vision_config: { patch_size: 16 } }, parameters: 149_620_737, tokens: 197 },
  'ViT-L/14': {
    // As published: the sizes stand in `…_dict`, which go before the others.
    json: {
      projection_dim: 768,
      text_config: { hidden_size: 512, eos_token_id: 2 },
      text_config_dict: LARGE.text_config,
      vision_config: { patch_size: 14 },
      vision_config_dict: LARGE.vision_config,
    },
    parameters: 427_616_513,
    tokens: 257,
  },
  'ViT-L/14-336': {
    json: { ...LARGE, vision_config: { ...LARGE.vision_config, patch_size: 14, image_size: 336 } },
    parameters: 427_944_193,
    tokens: 577,
  },
};

const parse = (json: unknown) => parseClipConfig('config.json', JSON.stringify(json));

describe.each(Object.entries(OFFICIAL))('%s', (_name, { json, parameters, tokens }) => {
  const config = parse(json);
  it('has as many parameters as published', () => {
    expect(countParameters(config)).toBe(parameters);
  });
  it('has the shapes of its towers', () => {
    const shapes = clipShapes(config);
    const d = config.vision.width;
    expect(shapes.get('vision_model.embeddings.position_embedding.weight')).toEqual([tokens, d]);
    expect(shapes.get(`vision_model.encoder.layers.${config.vision.layers - 1}.mlp.fc1.weight`)).toEqual([4 * d, d]);
    expect(shapes.has(`vision_model.encoder.layers.${config.vision.layers}.mlp.fc1.weight`)).toBe(false);
    expect(shapes.get('text_projection.weight')).toEqual([config.projection, config.text.width]);
    expect(shapes.get('text_model.embeddings.token_embedding.weight')).toEqual([49408, config.text.width]);
  });
  it('has adapters of the right shapes', () => {
    const lora = chooseLora(config, { rank: 8, alpha: 16, targets: ['fc2'], layers: { vision: [11], text: [] } });
    const d = config.vision.width;
    expect([...adapterShapes(config, lora)]).toEqual([
      ['vision_model.encoder.layers.11.mlp.fc2.lora_A.weight', [8, 4 * d]],
      ['vision_model.encoder.layers.11.mlp.fc2.lora_B.weight', [d, 8]],
    ]);
  });
});

it('a file that says nothing is ViT-B/32, pooled at its end-of-text token', () => {
  expect(parse({})).toEqual({
    ...parse(OFFICIAL['ViT-B/32'].json),
    text: { ...parse(OFFICIAL['ViT-B/32'].json).text, eos: 49407, pool: 'first-eos' },
  });
});

it('eos_token_id 2 means the largest id', () => {
  expect(parse({ text_config: { eos_token_id: 2 } }).text.pool).toBe('largest-id');
  expect(parse({ text_config: { eos_token_id: 3 } }).text.pool).toBe('first-eos');
});

describe('a bad file', () => {
  it.each<[string, unknown, string]>([
    ['model_type', { model_type: 'siglip' }, 'model_type: found "siglip"; give a model of type "clip"'],
    ['projection_dim', { projection_dim: 0 }, 'projection_dim: found 0; give a whole number in 1…16384'],
    ['vision_config', { vision_config: 3 }, 'vision_config: found 3; give an object'],
    ['text_config_dict', { text_config_dict: [] }, 'text_config_dict: found a list of 0; give an object'],
    [
      'hidden_size',
      { vision_config: { hidden_size: '768' } },
      'vision_config.hidden_size: found "768"; give a whole number in 1…16384',
    ],
    [
      'num_attention_heads',
      { text_config: { num_attention_heads: 7 } },
      'text_config.num_attention_heads: found 7; give a divisor of hidden_size 512',
    ],
    [
      'patch_size',
      { vision_config: { patch_size: 15 } },
      'vision_config.patch_size: found 15; give a divisor of image_size 224',
    ],
    [
      'hidden_act',
      { text_config: { hidden_act: 'relu' } },
      'text_config.hidden_act: found "relu"; give one of quick_gelu, gelu',
    ],
    [
      'hidden_act of a prototype',
      { text_config: { hidden_act: 'toString' } },
      'text_config.hidden_act: found "toString"',
    ],
    [
      'layer_norm_eps',
      { vision_config: { layer_norm_eps: 0 } },
      'vision_config.layer_norm_eps: found 0; give a number > 0',
    ],
    [
      'eos_token_id',
      { text_config: { vocab_size: 96 } },
      'text_config.eos_token_id: found nothing; give an id below vocab_size 96',
    ],
    ['logit_scale_init_value', { logit_scale_init_value: 'x' }, 'logit_scale_init_value: found a list of 1; give'],
    [
      'layers',
      { vision_config: { num_hidden_layers: 1e9 } },
      'vision_config.num_hidden_layers: found 1000000000; give a whole number in 1…256',
    ],
    [
      'sizes together',
      {
        vision_config: {
          hidden_size: 16384,
          num_attention_heads: 16,
          num_hidden_layers: 256,
          intermediate_size: 65536,
        },
      },
      'parameters, at most 4294967296 are taken; give smaller sizes',
    ],
  ])('with %s is refused', (_what, json, message) => {
    expect(() => parse(json)).toThrow(message);
    expect(() => parse(json)).toThrow(/^config\.json: /);
  });
  it('that is no JSON is refused', () => {
    expect(() => parseClipConfig('c.json', '{"a":')).toThrow('c.json: JSON: not JSON');
  });
});
