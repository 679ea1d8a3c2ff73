// The small CLIP: its sizes, and how it is trained.

/** `config.json`, as Hugging Face reads it. */
export const clipConfig = (vocabulary: number): unknown => ({
  architectures: ['CLIPModel'],
  model_type: 'clip',
  projection_dim: 128,
  logit_scale_init_value: 2.6592,
  text_config: {
    model_type: 'clip_text_model',
    hidden_size: 96,
    intermediate_size: 384,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    hidden_act: 'quick_gelu',
    layer_norm_eps: 1e-5,
    max_position_embeddings: 16,
    vocab_size: vocabulary,
    bos_token_id: vocabulary - 2,
    eos_token_id: vocabulary - 1,
    pad_token_id: vocabulary - 1,
  },
  vision_config: {
    model_type: 'clip_vision_model',
    hidden_size: 96,
    intermediate_size: 384,
    num_hidden_layers: 4,
    num_attention_heads: 4,
    hidden_act: 'quick_gelu',
    layer_norm_eps: 1e-5,
    image_size: 32,
    patch_size: 8,
    num_channels: 3,
  },
});

/** `preprocessor_config.json`. */
export const preprocessConfig = {
  do_resize: true,
  size: { shortest_edge: 32 },
  resample: 3,
  do_center_crop: true,
  crop_size: { height: 32, width: 32 },
  do_rescale: true,
  rescale_factor: 1 / 255,
  do_normalize: true,
  image_mean: [0.48145466, 0.4578275, 0.40821073],
  image_std: [0.26862954, 0.26130258, 0.27577711],
  do_convert_rgb: true,
} as const;

/** `tokenizer_config.json`. */
export const tokenizerConfig = {
  tokenizer_class: 'CLIPTokenizer',
  model_max_length: 16,
  bos_token: '<|startoftext|>',
  eos_token: '<|endoftext|>',
  unk_token: '<|endoftext|>',
  pad_token: '<|endoftext|>',
} as const;

/** Pairs of symbols joined at most. */
export const MERGES = 1500;

/** Words of `ecif train` after the list of pairs; the seed among them. */
export const TRAIN_WORDS: readonly string[] = (
  '--epochs 16 --batch 128 --rate 1e-3 --warmup 30 --schedule cosine --optimizer adamw --decay 0.1 --toward zero ' +
  '--l2 0 --clip 1 --crop 0.85 --seed 1'
).split(' ');
