// What is public of CLIP: files, tokens, pixels, embeddings, adapters, training.

export {
  blobFolder,
  blobSource,
  type ByteFolder,
  bytesFolder,
  type ByteSource,
  bytesSource,
  checkedSource,
} from './byte-source.ts';
export {
  type Clip,
  type ClipBatch,
  clipBatch,
  type ClipModel,
  clipModel,
  embedImages,
  embedTexts,
  type TextBatch,
  textBatch,
} from './clip.ts';
export { parseClipConfig } from './config-parse.ts';
export {
  type ClipAct,
  type ClipConfig,
  clipShapes,
  countParameters,
  type TextConfig,
  type TowerConfig,
  type TowerName,
  type VisionConfig,
} from './config.ts';
export {
  readHfVocabulary,
  readOpenaiVocabulary,
  readTokenizerJson,
  type Vocabulary,
} from './formats/vocabulary.ts';
export { allWeights, clipOfWeights, type ClipWeights, fullModel } from './full.ts';
export {
  type AdapterDirectory,
  type ClipDirectory,
  openAdapterDirectory,
  openClipDirectory,
  readPreprocess,
  readTokenizer,
} from './hf-directory.ts';
export type { Net } from './layers.ts';
export { adapterTensors, loadAdapter, peftConfig, type PeftSettings, type PlacedAdapter } from './lora-peft.ts';
export {
  type Adapter,
  chooseLora,
  initLora,
  type Lora,
  LORA_TARGETS,
  type LoraSettings,
  type LoraTarget,
} from './lora.ts';
export { afterPrefix, joinPrefixes, type Prefix, prefixOf, prefixRows } from './prefix.ts';
export {
  clipPreprocess,
  type DecodedImage,
  normalizePixels,
  preprocess,
  type PreprocessConfig,
  resizeAndCrop,
} from './preprocess.ts';
export type { Resampling, RgbImage } from './resize.ts';
export {
  openSafetensors,
  type Safetensors,
  type TensorInfo,
  type TensorToWrite,
  type WeightDtype,
  writeSafetensors,
} from './safetensors.ts';
export { cleanText, createTokenizer, type Tokenizer, type TokenizerOptions } from './tokenizer.ts';
export { augment, type Augmentation } from './train-augment.ts';
export { streamOf } from './train-streams.ts';
export { DivergedError, type StepRecord, train, type TrainOptions, type TrainState, type TrainTask } from './train.ts';
export { type FetchProgress, urlFolder, type UrlFolderOptions } from './url-folder.ts';
export { initClip } from './weights-init.ts';
export { clipTensors, disposeClip, loadClip, mergeClip, type NamedTensor } from './weights.ts';
