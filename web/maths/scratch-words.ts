// What the language of chapter 7 has, in words: variables, functions, examples. Needs no engine.

/** Shapes of the variables; x and y have as many rows as the reader chooses. */
export const shapesOf = (rows: number): Readonly<Record<string, readonly number[]>> => ({
  ...{ W: [3, 2], x: [rows, 3], y: [rows, 2], A: [2, 2], u: [3, 1], t: [] },
});

/** Names of the variables. */
export const VARIABLES = ['W', 'x', 'y', 'A', 'u', 't'] as const;

/** A shape in words: a number, or 4×3. */
export const shapeWords = (shape: readonly number[]): string => (shape.length === 0 ? 'a number' : shape.join('×'));

/** Functions, by what they work on. */
export const FUNCTION_WORDS: Readonly<Record<string, readonly string[]>> = {
  'each entry': [
    ...[
      'exp',
      'log',
      'log1p',
      'expm1',
      'sqrt',
      'rsqrt',
      'square',
      'abs',
      'tanh',
      'sigmoid',
      'erf',
      'gelu',
      'quickGelu',
    ],
    ...['relu', 'sign', 'neg', 'stopGradient', 'maximum', 'minimum', 'pow', 'clamp'],
  ],
  'each row': ['softmax', 'logSoftmax', 'l2Normalize'],
  'all entries, or along an axis: sum(x, 1)': ['sum', 'mean', 'max', 'logSumExp'],
  'square matrices of similarities': ['contrastive', 'contrastiveGrad', 'contrastiveHvp'],
  'two matrices': ['matmul'],
};

/** Expressions to begin with. */
export const EXAMPLES: Readonly<Record<string, string>> = {
  'contrastive loss': "contrastive(x * W * y' / 0.5)",
  'with weight decay': "contrastive(x * W * y' / t) + 0.5 * sum(W . W)",
  'of cosines': "contrastive(l2Normalize(x * W) * l2Normalize(y)' / 0.2)",
  'softmax regression': 'sum(softmax(x * W) . y)',
  'least squares': 'sum((x * W - y)^2)',
  'a small network': 'mean((gelu(x * W) * A - y)^2)',
  'a kink': 'sum(relu(W - 0.95))',
};
