// Every quantity of a CLIP reference folder, computed here from its inputs alone.

import { ggnvp, hvp } from '../autodiff/curvature.ts';
import { contrastive } from '../autodiff/ops/contrastive.ts';
import { disposeTree, itemOf, readAll, scope, type Tensor, tensor } from '../autodiff/tensor.ts';
import { grad } from '../autodiff/transforms.ts';
import type { Device } from '../device/open.ts';
import { batchLoss, embedded, similarities } from '../models/model.ts';
import { type ClipBatch, clipBatch, clipModel } from '../models/clip/clip.ts';
import type { ClipFolder, ClipVectors } from '../models/clip/conformance-file.ts';
import { parseClipConfig } from '../models/clip/config-parse.ts';
import { bad } from '../models/clip/formats/fields.ts';
import type { Adapter } from '../models/clip/lora.ts';
import { loadAdapter, type PlacedAdapter } from '../models/clip/lora-peft.ts';
import { disposeClip, loadClip } from '../models/clip/weights.ts';
import { perForm, type Quantities } from './conformance.ts';
import { negOf, posOf } from './influence.ts';
import type { Problem } from './objective.ts';
import type { Seg } from './seg.ts';
import { type PairTangents, sweepPairs } from './sweep.ts';
import type { NegForm } from './terms.ts';

/** A folder on a device. */
interface Placed {
  readonly problem: Problem<Adapter, ClipBatch>;
  readonly theta: Adapter;
  readonly vector: Adapter;
  dispose(): void;
}

/** The direction of the folder as a tree like θ. */
function directionOf({ file, vector }: ClipVectors, { theta }: PlacedAdapter, device: Device): Adapter {
  const odd = Object.keys(vector).find((name) => !Object.hasOwn(theta, name));
  if (odd !== undefined) bad(file, `vector.${odd}`, 'no such parameter in the adapter', 'give one list for each');
  const leaves = Object.entries(theta).map(([name, { shape, size }]) => {
    const values = Object.hasOwn(vector, name) ? vector[name] : [];
    if (values.length !== size) {
      bad(file, `vector.${name}`, `found ${values.length} numbers`, `give ${size}, as the parameter has`);
    }
    return [name, tensor(device, Float64Array.from(values), shape)];
  });
  return Object.fromEntries(leaves) as Adapter;
}

/** Puts model, adapter, pairs and direction on a device. */
async function placeFolder({ vectors, config: text, model, lora: file }: ClipFolder, device: Device): Promise<Placed> {
  const config = parseClipConfig('config.json', text);
  const { rank, alpha, pixels, ids } = vectors;
  const clip = await loadClip(config, model, device);
  const adapter = await loadAdapter(config, { rank, alpha, scaling: 'rank', dropout: 0 }, file, device);
  const { lora, theta } = adapter;
  const batch = clipBatch(config, device, ids, pixels);
  const vector = directionOf(vectors, adapter, device);
  return {
    problem: { model: clipModel(clip, lora), batches: [batch], decay: 0 },
    theta,
    vector,
    dispose: () => {
      disposeClip(clip);
      disposeTree([theta, vector, batch]);
    },
  };
}

/** The numbers of a tree of tensors, by name. */
async function read(make: () => Readonly<Record<string, Tensor>>): Promise<Record<string, number[]>> {
  const tree = scope(make);
  const names = Object.keys(tree);
  const values = await readAll(names.map((name) => tree[name]));
  disposeTree(tree);
  return Object.fromEntries(names.map((name, i) => [name, [...values[i]]]));
}

const both = ({ t2i, i2t }: PairTangents['pos']): number => t2i[0] + i2t[0];

/** Terms of the removed pairs, and the derivatives of every pair along the direction. */
async function termQuantities({ problem, theta, vector }: Placed, seg: Seg): Promise<Quantities> {
  const pos = posOf(problem, seg);
  const neg = (form: NegForm): ((t: Adapter) => Tensor) => negOf(problem, seg, form);
  const swept = await sweepPairs(problem, theta, [vector], 'corrected');
  return {
    pos: await itemOf(() => pos(theta)),
    gradPos: await read(() => grad(pos)(theta)),
    neg: await perForm((form) => itemOf(() => neg(form)(theta))),
    gradNeg: await perForm((form) => read(() => grad(neg(form))(theta))),
    pairDirectional: { pos: swept.map((pair) => both(pair.pos)), neg: swept.map((pair) => both(pair.neg)) },
  };
}

/** Every quantity of a folder, on one device, named as under `expected`. */
export async function clipQuantities(folder: ClipFolder, device: Device): Promise<Quantities> {
  const placed = await placeFolder(folder, device);
  const { problem, theta, vector } = placed;
  const { model, batches } = problem;
  const s = (t: Adapter): Tensor => similarities(model, t, batches[0]);
  const loss = (t: Adapter): Tensor => batchLoss(model, t, batches[0]);
  try {
    const { u, v, s: similarity } = await read(() => embedded(model, theta, batches[0]));
    return {
      textEmbeds: u,
      imageEmbeds: v,
      similarity,
      loss: await itemOf(() => loss(theta)),
      grad: await read(() => grad(loss)(theta)),
      hvp: await read(() => hvp(loss, theta, vector)),
      ggnvp: await read(() => ggnvp(s, contrastive, theta, vector)),
      ...(await termQuantities(placed, [{ batch: 0, positions: folder.vectors.remove }])),
    };
  } finally {
    placed.dispose();
  }
}
