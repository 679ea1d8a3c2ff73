// Runs in the page: a safetensors file and a packed vocabulary read from blobs.

import {
  blobFolder,
  blobSource,
  type ByteSource,
  createTokenizer,
  openSafetensors,
  readOpenaiVocabulary,
} from '../../src/index.ts';

const blobOf = (base64: string): Blob => new Blob([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))]);

const messageOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'no error',
    (error: unknown) => (error as Error).message,
  );

/** @param files in base64 */
export async function main(files: { vocabulary: string; weights: string }): Promise<{
  ids: number[];
  cut: string;
  tensors: Record<string, number[]>;
  largestRead: number;
  outside: string;
}> {
  const packed = blobOf(files.vocabulary);
  const name = 'bpe_simple_vocab_16e6.txt.gz';
  const tokenizer = createTokenizer(await readOpenaiVocabulary(blobSource(name, packed)));
  const cut = await messageOf(readOpenaiVocabulary(blobSource(name, packed.slice(0, packed.size / 2))));

  const source = await blobFolder('f', { 'model.safetensors': blobOf(files.weights) }).open('model.safetensors');
  if (source === null) throw new Error('the folder does not open its file');
  let largestRead = 0;
  const watched: ByteSource = {
    ...source,
    read: (offset, length) => {
      largestRead = Math.max(largestRead, length);
      return source.read(offset, length);
    },
  };
  const file = await openSafetensors(watched);
  const tensors: Record<string, number[]> = {};
  for (const tensor of file.tensors.keys()) tensors[tensor] = [...(await file.values(tensor))];
  return {
    ids: tokenizer.encode('a photo of a cat'),
    cut,
    tensors,
    largestRead,
    outside: await messageOf(source.read(0, source.size + 1)),
  };
}
