// Low-rank adaptation: W + scale·B·A in chosen modules, A and B being all that is trained.

import { EcifError } from '../../array/errors.ts';
import type { Rng } from '../../array/rng.ts';
import { add, mul } from '../../autodiff/ops/binary.ts';
import { linear, type LowRank, matmul } from '../../autodiff/ops/matmul.ts';
import { type Tensor, tensor } from '../../autodiff/tensor.ts';
import { affine } from '../../autodiff/ops/unary.ts';
import type { Device } from '../../device/open.ts';
import type { Tap } from '../tap.ts';
import { type ClipAct, type ClipConfig, clipShapes, layerName, type TowerName } from './config.ts';

/** The affine maps of a layer, as Hugging Face names them. */
export const LORA_TARGETS = ['q_proj', 'k_proj', 'v_proj', 'out_proj', 'fc1', 'fc2'] as const;
/** One of {@link LORA_TARGETS}. */
export type LoraTarget = (typeof LORA_TARGETS)[number];

/** What to adapt, and how. */
export interface LoraSettings {
  readonly rank: number;
  readonly alpha: number;
  readonly targets: readonly LoraTarget[];
  /** Layers of each tower, from 0; all unless given, `[]` for none. */
  readonly layers?: Readonly<Partial<Record<TowerName, readonly number[]>>>;
  /** alpha/rank, or alpha/√rank; the first unless told. */
  readonly scaling?: 'rank' | 'root';
  /** Share of the inputs of A that training drops; 0 unless told. */
  readonly dropout?: number;
}

/** Modules to adapt, checked against a model. */
export interface Lora {
  readonly rank: number;
  readonly alpha: number;
  readonly scaling: 'rank' | 'root';
  readonly dropout: number;
  /** Names of the adapted modules, such as `vision_model.encoder.layers.0.self_attn.q_proj`. */
  readonly modules: readonly string[];
}

/**
 * The trained parameters by name: `<module>.lora_A.weight` (rank, in) and `<module>.lora_B.weight` (out, rank), and
 * `logit_scale` () where the temperature is trained.
 */
export type Adapter = Readonly<Record<string, Tensor>>;

/** The parameter A of a module. */
export const nameA = (module: string): string => `${module}.lora_A.weight`;
/** The parameter B of a module. */
export const nameB = (module: string): string => `${module}.lora_B.weight`;

/** The factor of B·A. */
export const loraScale = ({ alpha, rank, scaling }: Pick<Lora, 'alpha' | 'rank' | 'scaling'>): number =>
  alpha / (scaling === 'root' ? Math.sqrt(rank) : rank);

const refuse = (field: string, found: unknown, fix: string): never => {
  throw new EcifError(`lora: ${field}: found ${String(found)}; ${fix}`);
};

const moduleName = (tower: TowerName, layer: number, target: LoraTarget): string =>
  `${layerName(tower, layer)}.${target.startsWith('fc') ? 'mlp' : 'self_attn'}.${target}`;

/** Names of every module of a model that can be adapted. */
const adaptable = (config: ClipConfig): string[] =>
  (['text', 'vision'] as const).flatMap((tower) =>
    Array.from({ length: config[tower].layers }, (_, i) =>
      LORA_TARGETS.map((target) => moduleName(tower, i, target)),
    ).flat(),
  );

/**
 * Rank, alpha, dropout and modules, checked.
 * @param modules names of modules
 * @throws EcifError that names the setting, what was found and what to do
 */
export function loraOn(
  config: ClipConfig,
  settings: Omit<LoraSettings, 'targets' | 'layers'>,
  modules: Iterable<string>,
): Lora {
  const { rank, alpha, scaling = 'rank', dropout = 0 } = settings;
  const most = Math.min(config.text.width, config.vision.width);
  if (!Number.isInteger(rank) || rank < 1 || rank > most) refuse('rank', rank, `give a whole number in 1…${most}`);
  if (!(alpha > 0) || !Number.isFinite(alpha)) refuse('alpha', alpha, 'give a number > 0');
  if (!(dropout >= 0 && dropout < 1)) refuse('dropout', dropout, 'give a share in 0…1, below 1');
  const [wanted, known] = [new Set(modules), adaptable(config)];
  const odd = [...wanted].find((name) => !known.includes(name));
  if (odd !== undefined) refuse('modules', odd, `give modules of the model, such as ${known[0]}`);
  if (wanted.size === 0) refuse('modules', 'none', 'choose at least one target and layer');
  return { rank, alpha, scaling, dropout, modules: known.filter((name) => wanted.has(name)) };
}

/**
 * Chooses the modules to adapt by target, layer and tower.
 * @throws EcifError for a setting that does not fit the model
 * @example const lora = chooseLora(config, { rank: 8, alpha: 16, targets: ['q_proj', 'v_proj'], layers: { text: [] } });
 */
export function chooseLora(config: ClipConfig, settings: LoraSettings): Lora {
  const odd = settings.targets.find((target) => !LORA_TARGETS.includes(target));
  if (odd !== undefined) refuse('targets', odd, `choose of ${LORA_TARGETS.join(', ')}`);
  const modules = (['text', 'vision'] as const).flatMap((tower) => {
    const count = config[tower].layers;
    const layers = settings.layers?.[tower] ?? Array.from({ length: count }, (_, i) => i);
    const outside = layers.find((i) => !(Number.isInteger(i) && i >= 0 && i < count));
    if (outside !== undefined) refuse(`layers.${tower}`, outside, `give layers in 0…${count - 1}`);
    return layers.flatMap((i) => settings.targets.map((target) => moduleName(tower, i, target)));
  });
  return loraOn(config, settings, modules);
}

/** The first layer of a tower that is adapted; the number of its layers if none is. */
export function firstAdapted(config: ClipConfig, lora: Lora | null, tower: TowerName): number {
  const adapted = (layer: number): boolean =>
    lora?.modules.some((name) => name.startsWith(`${layerName(tower, layer)}.`)) ?? false;
  const count = config[tower].layers;
  for (let i = 0; i < count; i++) if (adapted(i)) return i;
  return count;
}

/** Shape of every trained tensor by name; nothing is allocated. */
export function adapterShapes(config: ClipConfig, { modules, rank }: Lora): Map<string, readonly number[]> {
  const shapes = clipShapes(config);
  return new Map(
    modules.flatMap((module): [string, readonly number[]][] => {
      const [out, into] = shapes.get(`${module}.weight`) as readonly number[];
      return [
        [nameA(module), [rank, into]],
        [nameB(module), [out, rank]],
      ];
    }),
  );
}

/**
 * Parameters before training, as PEFT draws them: B zero; A uniform in ±1/√in (`kaiming`) or normal of deviation 1/rank.
 * @param rng equal seeds give equal parameters
 * @example const theta = initLora(config, lora, device, createRng(0));
 */
export function initLora(
  config: ClipConfig,
  lora: Lora,
  device: Device,
  rng: Rng,
  init: 'kaiming' | 'normal' = 'kaiming',
): Adapter {
  const draw = (into: number): number =>
    init === 'normal' ? rng.normal() / lora.rank : (2 * rng.uniform() - 1) / Math.sqrt(into);
  const leaves = [...adapterShapes(config, lora)].map(([name, shape]) => {
    const values = new Float64Array(shape[0] * shape[1]);
    return [name, tensor(device, name.endsWith('lora_A.weight') ? values.map(() => draw(shape[1])) : values, shape)];
  });
  return Object.fromEntries(leaves) as Adapter;
}

/** The low-rank update of a module, if it has one. */
export function updateOf(lora: Lora | null, theta: Adapter, module: string): LowRank | undefined {
  if (lora === null || !lora.modules.includes(module)) return undefined;
  const [a, b] = [theta[nameA(module)], theta[nameB(module)]] as (Tensor | undefined)[];
  if (a === undefined || b === undefined) {
    throw new EcifError(`clip: ${a === undefined ? nameA(module) : nameB(module)} is not among the parameters; add it`);
  }
  return { a, b, scale: loraScale(lora) };
}

/** x with a random share of its entries dropped and the others enlarged to make up for it. */
function dropped(x: Tensor, share: number, rng: Rng): Tensor {
  const mask = Float64Array.from({ length: x.size }, () => (rng.uniform() < share ? 0 : 1 / (1 - share)));
  return mul(x, tensor(x.device, mask, x.shape));
}

/** A tap on the low-rank update of a module. */
interface ModuleTap {
  readonly module: string;
  readonly tap: Tap;
}

/** scale·(x·Aᵀ)·Bᵀ, both maps shown to the tap. */
function tappedUpdate(x: Tensor, { a, b, scale }: LowRank, { module, tap }: ModuleTap): Tensor {
  const low = affine(tap(nameA(module), x, matmul(x, a, { form: 'nt' }), 'out-in'), scale, 0);
  return tap(nameB(module), low, matmul(low, b, { form: 'nt' }), 'out-in', { parameter: nameA(module), scale });
}

/** act(x·Wᵀ + b + scale·(drop(x)·Aᵀ)·Bᵀ) in two kernels, more with a tap; nothing is dropped without `drop`. */
export function adaptedDense(
  x: Tensor,
  w: Tensor,
  {
    bias,
    act = 'none',
    lora,
    drop,
    tap,
  }: {
    bias: Tensor;
    act: ClipAct | undefined | 'none';
    lora: LowRank | undefined;
    drop: { share: number; rng: Rng } | undefined;
    tap?: ModuleTap | undefined;
  },
): Tensor {
  if (lora === undefined || (drop === undefined && tap === undefined)) return linear(x, w, { bias, act, lora });
  const input = drop === undefined ? x : dropped(x, drop.share, drop.rng);
  if (tap !== undefined) return matmul(x, w, { form: 'nt', act, addend: add(tappedUpdate(input, lora, tap), bias) });
  const low = matmul(input, lora.a, { form: 'nt' });
  return matmul(x, w, { form: 'nt', act, addend: bias, plus: { a: low, b: lora.b, alpha: lora.scale } });
}
