// Captions ranked for a picture by a CLIP model, wherever its files and the decoded pixels come from.

import * as ecif from '../src/index.ts';

/** A caption with what the model thinks of it. */
export interface Ranked {
  readonly caption: string;
  readonly cosine: number;
  /** Among the captions given. */
  readonly probability: number;
}

/** Ranks captions for a picture, the best first. */
export type Ranker = (image: ecif.DecodedImage, captions: readonly string[]) => Promise<Ranked[]>;

/** Opens a CLIP model as Hugging Face keeps it. */
export async function openRanker(folder: ecif.ByteFolder, device: ecif.Device): Promise<Ranker> {
  const { config, weights, preprocess, tokenizer } = await ecif.openClipDirectory(folder);
  const { encode } = await tokenizer();
  const model = ecif.clipModel(await ecif.loadClip(config, weights, device));
  const net = model.net({}); // the model as it is; with LoRA, the adapter's parameters
  const side = config.vision.imageSize;

  return async (image, captions) => {
    const pixels = ecif.preprocess(image, preprocess);
    const ids = captions.map((caption) => encode(caption));
    const made = ecif.scope(() => {
      const v = ecif.embedImages(net, config, ecif.tensor(device, pixels, [1, 3, side, side]));
      const u = ecif.embedTexts(net, config, ecif.textBatch(config, device, ids));
      const cosines = ecif.matmul(v, u, { form: 'nt' }); // (1, captions), since embeddings have length 1
      return [cosines, ecif.softmax(ecif.mul(cosines, model.scale({})))];
    });
    const [cosines, probabilities] = await ecif.readAll(made);
    ecif.disposeTree(made);
    return captions
      .map((caption, i) => ({ caption, cosine: cosines[i], probability: probabilities[i] }))
      .toSorted((a, b) => b.cosine - a.cosine);
  };
}
