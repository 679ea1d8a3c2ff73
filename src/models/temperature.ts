// A trained temperature, for any model.

import { exp } from '../autodiff/ops/unary.ts';
import { type Tensor, tensor } from '../autodiff/tensor.ts';
import type { Device } from '../device/open.ts';
import type { Model } from './model.ts';

/** The parameters of a model together with log(1/τ). */
export interface WithTemperature<T> {
  readonly tower: T;
  /** log(1/τ), a scalar. */
  readonly logScale: Tensor;
}

/**
 * The model with its temperature among the parameters, in place of its own.
 * @eq eq-similarity
 * @deviation the paper omits τ from its formulas; a trained τ is one of the parameters
 * @example const model = trainedTemperature(bilinear(1)); const start = { tower, logScale: logScale(device, 0.07) };
 */
export const trainedTemperature = <T, B>(model: Model<T, B>): Model<WithTemperature<T>, B> => ({
  embed: ({ tower }, batch, tap) =>
    model.embed(
      tower,
      batch,
      tap &&
        ((parameter, x, y, stored, after) =>
          tap(`tower.${parameter}`, x, y, stored, after && { ...after, parameter: `tower.${after.parameter}` })),
    ),
  scale: ({ logScale }) => exp(logScale),
});

/** log(1/τ) as a parameter. */
export const logScale = (device: Device, temperature: number): Tensor =>
  tensor(device, Float64Array.of(-Math.log(temperature)), []);
