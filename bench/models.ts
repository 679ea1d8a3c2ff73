// The functions whose derivatives are timed: multilayer perceptrons, and one transformer block of ViT-B/16.

import * as ecif from '../src/index.ts';

type Tensor = ecif.Tensor;

/** A scalar function, where to differentiate it, and a direction; `size` counts what is differentiated. */
export interface Problem<T> {
  readonly name: string;
  readonly theta: T;
  readonly direction: T;
  readonly outputs: (theta: T) => Tensor;
  readonly loss: (theta: T) => Tensor;
}

function normals(device: ecif.Device, seed: number): (scale: number, ...shape: number[]) => Tensor {
  const rng = ecif.createRng(seed);
  return (scale, ...shape) =>
    ecif.tensor(
      device,
      Float64Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => scale * rng.normal()),
      shape,
    );
}

type Layers = { w: Tensor; b: Tensor }[];

/** batch × width → width → width → width, tanh between, all weights and biases differentiated. */
export function mlp(device: ecif.Device, batch: number, width: number): Problem<Layers> {
  const draw = normals(device, 1);
  const layers = (seed: number): Layers => {
    const next = normals(device, seed);
    return Array.from({ length: 3 }, () => ({ w: next(1 / Math.sqrt(width), width, width), b: next(0.1, width) }));
  };
  const x = draw(1, batch, width);
  const target = draw(1, batch, width);
  const outputs = (theta: Layers): Tensor =>
    theta.reduce((h, { w, b }, i) => ecif.linear(h, w, { bias: b, act: i < theta.length - 1 ? 'tanh' : 'none' }), x);
  const loss = (theta: Layers): Tensor => ecif.mean(ecif.square(ecif.sub(outputs(theta), target)));
  return { name: `MLP ${batch}×${width}×${width}`, theta: layers(2), direction: layers(3), outputs, loss };
}

type Lora = Record<'q' | 'k' | 'v' | 'out' | 'fc1' | 'fc2', { a: Tensor; b: Tensor }>;

/** Shape of a transformer block. */
export interface BlockShape {
  readonly images: number;
  readonly tokens: number;
  readonly width: number;
  readonly heads: number;
  readonly rank: number;
}

export const VIT_B16: BlockShape = { images: 1, tokens: 197, width: 768, heads: 12, rank: 8 };

/** One pre-norm transformer block (quickGelu MLP of 4×width) with frozen weights and LoRA on its six matrices. */
export function loraBlock(device: ecif.Device, { images, tokens, width, heads, rank }: BlockShape): Problem<Lora> {
  const draw = normals(device, 4);
  const sizes: Record<keyof Lora, [number, number]> = {
    q: [width, width],
    k: [width, width],
    v: [width, width],
    out: [width, width],
    fc1: [4 * width, width],
    fc2: [width, 4 * width],
  };
  const names = Object.keys(sizes) as (keyof Lora)[];
  const lora = (seed: number): Lora => {
    const next = normals(device, seed);
    const pair = ([outs, ins]: [number, number]): { a: Tensor; b: Tensor } => ({
      a: next(1 / Math.sqrt(ins), rank, ins),
      b: next(0.05, outs, rank),
    });
    return Object.fromEntries(names.map((name) => [name, pair(sizes[name])])) as Lora;
  };
  const frozen = Object.fromEntries(
    names.map((name) => [
      name,
      { w: draw(1 / Math.sqrt(sizes[name][1]), ...sizes[name]), bias: draw(0.02, sizes[name][0]) },
    ]),
  );
  const norms = [0, 1].map(() => ({ gamma: ecif.full(device, [width], 1), beta: ecif.zeros(device, [width]) }));
  const x = draw(1, images, tokens, width);
  const target = draw(1, images, tokens, width);
  const split = (t: Tensor): Tensor =>
    ecif.permute(ecif.reshape(t, [images, tokens, heads, width / heads]), [0, 2, 1, 3]);
  const outputs = (theta: Lora): Tensor => {
    const apply = (name: keyof Lora, input: Tensor, act: 'none' | 'quickGelu' = 'none'): Tensor => {
      const { w, bias } = frozen[name];
      return ecif.linear(input, w, { bias, act, lora: { ...theta[name], scale: 2 } });
    };
    const h = ecif.layerNorm(x, norms[0].gamma, norms[0].beta);
    const mixed = ecif.attention(split(apply('q', h)), split(apply('k', h)), split(apply('v', h)));
    const joined = ecif.reshape(ecif.permute(mixed, [0, 2, 1, 3]), [images, tokens, width]);
    const y = ecif.add(x, apply('out', joined));
    return ecif.add(y, apply('fc2', apply('fc1', ecif.layerNorm(y, norms[1].gamma, norms[1].beta), 'quickGelu')));
  };
  const loss = (theta: Lora): Tensor => ecif.mean(ecif.square(ecif.sub(outputs(theta), target)));
  return { name: 'ViT-B/16 block, LoRA', theta: lora(5), direction: lora(6), outputs, loss };
}
