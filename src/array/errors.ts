// Named errors: `op: what was wrong, the values; the fix`.

/** Base of every error this package throws on purpose. */
export class EcifError extends Error {
  override name = 'EcifError';
}

/** Shapes or axes that do not fit an op. */
export class ShapeError extends EcifError {
  override name = 'ShapeError';
}

/** A tensor of the wrong dtype, or values that cannot be stored in it. */
export class DtypeError extends EcifError {
  override name = 'DtypeError';
}

/** A tensor used after its memory was given back. */
export class DisposedError extends EcifError {
  override name = 'DisposedError';
}

/** The device refused work, ran out of memory, or was lost. */
export class DeviceError extends EcifError {
  override name = 'DeviceError';
}

/** A NaN or an infinity where the caller asked for finite numbers. */
export class NumericsError extends EcifError {
  override name = 'NumericsError';
}

/** A derivative was asked of something that has none. */
export class NotDifferentiableError extends EcifError {
  override name = 'NotDifferentiableError';
}

/** A logarithm of a cosine that is not positive. */
export class CosineError extends EcifError {
  override name = 'CosineError';
}
