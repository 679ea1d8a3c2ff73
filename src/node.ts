// The public API for Node: files, folders, datasets and pictures on disk.

export { type ReadOptions, readDataset } from './data/dataset.node.ts';
export { type Decoder, openDecoder } from './data/images.node.ts';
export {
  type FileFolder,
  fileFolder,
  type FileSource,
  fileSource,
  type LazyTensor,
  saveSafetensors,
} from './models/clip/files.node.ts';
export { saveAdapter, saveClip } from './models/clip/hf-directory.node.ts';
export { type Checkpoint, loadCheckpoint, saveCheckpoint } from './models/clip/train-checkpoint.node.ts';
