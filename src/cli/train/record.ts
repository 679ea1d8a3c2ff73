// The record of a training run as it begins, and what must be as it was for it to go on.

import { EcifError } from '../../array/errors.ts';
import type { Device } from '../../device/open.ts';
import { readRun, requirePictures, type RunRecord } from '../runs/run-folder.ts';
import { placesOfRun } from '../runs/run-paths.ts';
import type { RunBatches } from './batches.ts';
import type { RunModel } from './model.ts';
import type { TrainSettings } from './options.ts';
import { ownVersion, packageVersion } from '../versions.ts';

/** What a run is begun with. */
interface RunParts {
  readonly settings: TrainSettings;
  readonly device: Device;
  readonly model: RunModel;
  readonly batches: RunBatches;
}

/** `run.json` before the first step. */
export function firstRecord(
  { settings, device, model, batches: { steps, perEpoch } }: RunParts,
  pairs: Pick<RunRecord, 'dataset'>,
): RunRecord {
  return {
    status: 'running',
    options: { ...settings, resume: false },
    ...placesOfRun(settings.out as string, settings),
    seed: settings.seed,
    ...pairs,
    trained: model.what,
    weights: model.weights,
    device: device.name,
    versions: {
      ecif: ownVersion(),
      node: process.version,
      webgpu: packageVersion('webgpu'),
      sharp: packageVersion('sharp'),
    },
    steps,
    stepsPerEpoch: perEpoch,
  };
}

/** Refuses to go on with other pairs, other weights, or in another precision than a run began with. */
export function requireSame(folder: string, source: string, now: RunRecord, { kind }: Device): void {
  const { dataset, device, weights } = readRun(folder);
  if (dataset.sha256 !== now.dataset.sha256) {
    throw new EcifError(`${source}: other pairs than the run began with; restore them or begin anew`);
  }
  requirePictures(source, dataset.pictures, now.dataset.pictures);
  if (weights !== now.weights) {
    throw new EcifError(`${folder}: the model is not the one the run began with; restore its weights or begin anew`);
  }
  const began = device.startsWith('cpu') ? 'cpu' : 'webgpu';
  if (began !== kind) throw new EcifError(`${folder}: the run began on ${began}; go on with --device ${began}`);
}
