// What the language of chapter 7 means: each part of an expression applied by the library's ops.

import * as ecif from '../../src/index.ts';
import { nearest } from '../../src/cli/suggest.ts';
import { type Expression, ExpressionError, replaced } from './expression.ts';
import { shapeWords, VARIABLES } from './scratch-words.ts';

type Tensor = ecif.Tensor;
/** A matrix, or a number that was written down. */
type Value = Tensor | number;

/** What a function of the language is. */
interface Meaning {
  /** Fewest and most arguments. */
  readonly takes: readonly [number, number];
  /** Arguments from this one on are numbers that are written down. */
  readonly numbers?: number;
  /** Works along rows, so that it needs a matrix. */
  readonly rows?: true;
  apply(x: readonly Tensor[], n: readonly number[]): Tensor;
}

const one = (apply: (x: Tensor) => Tensor): Meaning => ({ takes: [1, 1], apply: ([x]) => apply(x) });
const two = (apply: (a: Tensor, b: Tensor) => Tensor): Meaning => ({ takes: [2, 2], apply: ([a, b]) => apply(a, b) });
const row = (apply: (x: Tensor) => Tensor): Meaning => ({ ...one(apply), rows: true });

/** A reduction: over all entries, or along an axis that is kept with length 1. */
const reduction = (apply: typeof ecif.sum): Meaning => ({
  takes: [1, 2],
  numbers: 1,
  apply: ([x], [axis]) => (axis === undefined ? apply(x) : apply(x, axis, { keepDims: true })),
});

/** Every function, under the name that the library gives it. */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  ...{ exp: one(ecif.exp), log: one(ecif.log), log1p: one(ecif.log1p), expm1: one(ecif.expm1), sqrt: one(ecif.sqrt) },
  ...{ rsqrt: one(ecif.rsqrt), square: one(ecif.square), abs: one(ecif.abs), tanh: one(ecif.tanh) },
  ...{ sigmoid: one(ecif.sigmoid), erf: one(ecif.erf), gelu: one(ecif.gelu), quickGelu: one(ecif.quickGelu) },
  ...{ relu: one(ecif.relu), sign: one(ecif.sign), neg: one(ecif.neg), stopGradient: one(ecif.stopGradient) },
  ...{ softmax: row(ecif.softmax), logSoftmax: row(ecif.logSoftmax), l2Normalize: row(ecif.l2Normalize) },
  ...{ sum: reduction(ecif.sum), mean: reduction(ecif.mean), max: reduction(ecif.max) },
  logSumExp: reduction(ecif.logSumExp),
  ...{ matmul: two(ecif.matmul), maximum: two(ecif.maximum), minimum: two(ecif.minimum) },
  ...{ contrastive: row(ecif.contrastive), contrastiveGrad: row(ecif.contrastiveGrad) },
  contrastiveHvp: { ...two(ecif.contrastiveHvp), rows: true },
  pow: { takes: [2, 2], numbers: 1, apply: ([x], [p]) => ecif.pow(x, p) },
  clamp: { takes: [3, 3], numbers: 1, apply: ([x], [low, high]) => ecif.clamp(x, low, high) },
};

/** Names of the functions. */
export const FUNCTION_NAMES: readonly string[] = Object.keys(MEANINGS);

/** An expression with what its names stand for. */
export interface Setting {
  readonly text: string;
  readonly device: ecif.Device;
  readonly variables: ReadonlyMap<string, Tensor>;
}

/** Names of variables in an expression, each once. */
export function namesIn(part: Expression): string[] {
  const inside = (): readonly Expression[] => {
    if (part.kind === 'call') return part.args;
    if (part.kind === 'binary') return [part.left, part.right];
    return 'of' in part ? [part.of] : [];
  };
  return part.kind === 'name' ? [part.name] : [...new Set(inside().flatMap(namesIn))];
}

/** The value of an expression; errors of the library are told with the place they come from. */
export function evaluate(part: Expression, setting: Setting): Tensor {
  return asTensor(valueOf(part, setting), setting);
}

const asTensor = (value: Value, { device }: Setting): Tensor =>
  typeof value === 'number' ? ecif.full(device, [], value) : value;

function valueOf(part: Expression, setting: Setting): Value {
  if (part.kind === 'number') return part.value;
  if (part.kind === 'name') return variable(part, setting);
  if (part.kind === 'call') return call(part, setting);
  if (part.kind === 'binary') return binary(part, setting);
  const x = valueOf(part.of, setting);
  return placed(part, () => {
    if (part.kind === 'power') return power(x, part.exponent);
    if (part.kind === 'negative') return typeof x === 'number' ? -x : ecif.neg(x);
    return typeof x === 'number' ? x : ecif.permute(x);
  });
}

function power(x: Value, exponent: number): Value {
  if (typeof x === 'number') return x ** exponent;
  return exponent === 2 ? ecif.square(x) : ecif.pow(x, exponent);
}

/** Runs `apply`; what the library finds wrong is told at a part of the expression. */
function placed<V>(part: Expression, apply: () => V): V {
  try {
    return apply();
  } catch (error) {
    if (error instanceof ecif.EcifError) throw new ExpressionError(error.message, part);
    throw error;
  }
}

function variable(part: Expression & { kind: 'name' }, { text, variables }: Setting): Tensor {
  const found = variables.get(part.name);
  if (found !== undefined) return found;
  const known: readonly string[] = VARIABLES;
  if (Object.hasOwn(MEANINGS, part.name)) {
    const fix = replaced(text, part, `${part.name}(${known[0]})`);
    throw new ExpressionError(`${part.name} is a function; give it an argument in brackets`, part, fix);
  }
  const meant = known.find((name) => name.toLowerCase() === part.name.toLowerCase()) ?? null;
  throw new ExpressionError(
    `there is no variable ${part.name}; there are ${known.join(', ')}`,
    part,
    meant === null ? null : replaced(text, part, meant),
  );
}

function call(part: Expression & { kind: 'call' }, setting: Setting): Tensor {
  const { name, args } = part;
  if (!Object.hasOwn(MEANINGS, name)) throw unknownFunction(part, setting);
  const { takes, numbers = args.length, rows = false, apply } = MEANINGS[name];
  if (args.length < takes[0] || args.length > takes[1]) {
    const wanted = takes[0] === takes[1] ? takes[0] : takes.join(' or ');
    throw new ExpressionError(
      `${name} takes ${wanted} argument${wanted === 1 ? '' : 's'}, not ${args.length}; change that`,
      part,
    );
  }
  const values = args.map((arg) => valueOf(arg, setting));
  values.slice(numbers).forEach((value, i) => {
    if (typeof value !== 'number') {
      throw new ExpressionError(`${name} wants a number here; write one, such as 1`, args[numbers + i]);
    }
  });
  const x = values.slice(0, numbers).map((value) => asTensor(value, setting));
  if (rows && x[0].shape.length < 2) {
    throw new ExpressionError(`${name} works on a matrix, and this is a number; give it one, such as x * W`, args[0]);
  }
  return placed(part, () => apply(x, values.slice(numbers) as number[]));
}

function unknownFunction(part: Expression & { kind: 'call' }, { text }: Setting): ExpressionError {
  const { name, at } = part;
  const place = { at, end: at + name.length };
  if ((VARIABLES as readonly string[]).includes(name)) {
    return new ExpressionError(
      `${name} is a variable, not a function; write * between`,
      place,
      replaced(text, place, `${name} * `),
    );
  }
  const meant = name.length < 3 ? null : nearest(name, FUNCTION_NAMES);
  if (meant === null) return new ExpressionError(`there is no function ${name}; choose one of the list below`, place);
  return new ExpressionError(`there is no function ${name}; is ${meant} meant?`, place, replaced(text, place, meant));
}

function binary(part: Expression & { kind: 'binary' }, setting: Setting): Value {
  const { op } = part;
  if (op === '*') return times(part, setting);
  const [a, b] = [valueOf(part.left, setting), valueOf(part.right, setting)];
  if (typeof a === 'number' && typeof b === 'number') {
    return { '+': a + b, '-': a - b, '.': a * b, '/': a / b }[op];
  }
  return placed(part, () => ({ '+': ecif.add, '-': ecif.sub, '.': ecif.mul, '/': ecif.div })[op](a, b));
}

/** A·B; a transposed side is read as it lies, by a form of the same kernel. A number scales. */
function times(part: Expression & { kind: 'binary' }, setting: Setting): Value {
  const [left, right] = [part.left, part.right];
  const form = right.kind === 'transpose' ? 'nt' : left.kind === 'transpose' ? 'tn' : 'nn';
  const a = valueOf(form === 'tn' && left.kind === 'transpose' ? left.of : left, setting);
  const b = valueOf(right.kind === 'transpose' ? right.of : right, setting);
  if (typeof a === 'number' && typeof b === 'number') return a * b;
  if (typeof a === 'number' || typeof b === 'number' || a.shape.length === 0 || b.shape.length === 0) {
    const turn = (x: Value, turned: boolean): Value => (turned && typeof x !== 'number' ? ecif.permute(x) : x);
    return placed(part, () => ecif.mul(turn(a, form === 'tn'), turn(b, form === 'nt')));
  }
  const [p, q] = [form === 'tn' ? a.shape.toReversed() : a.shape, form === 'nt' ? b.shape.toReversed() : b.shape];
  if (p[1] !== q[0]) throw mismatch(part, p, q, setting.text);
  return ecif.matmul(a, b, { form });
}

/** Two matrices that cannot be multiplied, with a way in which they can. */
function mismatch(
  part: Expression & { kind: 'binary' },
  p: readonly number[],
  q: readonly number[],
  text: string,
): ExpressionError {
  const { left, right } = part;
  const turned = (of: Expression): string => {
    const own = text.slice(of.at, of.end);
    if (of.kind === 'transpose') return text.slice(of.of.at, of.of.end);
    return of.kind === 'binary' && !own.startsWith('(') ? `(${own})'` : `${own}'`;
  };
  const [a, b] = [text.slice(left.at, left.end), text.slice(right.at, right.end)];
  const ways: readonly (readonly [boolean, string])[] = [
    [p[1] === q[1], `${a} * ${turned(right)}`],
    [p[0] === q[0], `${turned(left)} * ${b}`],
    [p[0] === q[1], `${turned(left)} * ${turned(right)}`],
  ];
  const fix = ways.find(([fits]) => fits)?.[1];
  const advice = fix === undefined ? 'choose others' : `write ${fix}`;
  return new ExpressionError(
    `a product of ${shapeWords(p)} and ${shapeWords(q)} matrices needs ${p[1]} = ${q[0]}; ${advice}`,
    part,
    fix === undefined ? null : replaced(text, part, fix),
  );
}
