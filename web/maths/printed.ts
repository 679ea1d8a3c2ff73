// A recording written in the language of chapter 7.

import type { Step } from './recorded.ts';

/** A text and how tightly its outermost operation binds: 1 sums, 2 products, 3 signs, 4 powers, 5 names and calls. */
interface Written {
  readonly text: string;
  readonly binds: number;
}

const bracketed = ({ text, binds }: Written, least: number): string => (binds < least ? `(${text})` : text);

/** A number without the noise of its last digits. */
const digits = (x: number): string => String(Number(x.toPrecision(6)));

/** Operations between two values. */
const INFIX: Readonly<Record<string, readonly [string, number]>> = {
  add: ['+', 1],
  sub: ['-', 1],
  mul: ['.', 2],
  div: ['/', 2],
};

/** p·x + q. */
function affine(x: Written, { p, q }: { p: number; q: number }): Written {
  const scaled: Written = p === 1 ? x : { text: `${digits(p)} * ${bracketed(x, 3)}`, binds: 2 };
  if (q === 0) return scaled;
  return { text: `${bracketed(scaled, 1)} ${q < 0 ? '-' : '+'} ${digits(Math.abs(q))}`, binds: 1 };
}

interface Product {
  readonly form: string;
  readonly alpha: number;
  readonly alpha2: number | null;
  readonly addend: boolean;
}

/** alpha·A·B + alpha2·A2·B2 + C, with the transposes of its form. */
function matmul(x: readonly Written[], { form, alpha, alpha2, addend }: Product): Written {
  const turned = (of: Written): Written => ({ text: `${bracketed(of, 4)}'`, binds: 4 });
  const product = (a: Written, b: Written, factor: number): string => {
    const left = form === 'tn' ? turned(a) : a;
    const right = form === 'nt' ? turned(b) : b;
    return `${factor === 1 ? '' : `${digits(factor)} * `}${bracketed(left, factor === 1 ? 2 : 3)} * ${bracketed(right, 3)}`;
  };
  const terms = [product(x[0], x[1], alpha), ...(alpha2 === null ? [] : [product(x[2], x[3], alpha2)])];
  if (addend) terms.push(bracketed(x[x.length - 1], 2));
  return { text: terms.join(' + '), binds: terms.length > 1 ? 1 : 2 };
}

/** A reduction; its axes are told where it leaves some. */
function reduction(op: string, x: Written, { axes }: { axes: readonly number[] }, rank: number): Written {
  const which = axes.length === rank ? '' : `, ${axes.join(' ')}`;
  return { text: `${op}(${x.text}${which})`, binds: 5 };
}

function write(steps: readonly Step[], index: number): Written {
  const { op, name, params, inputs, shape } = steps[index];
  if (op === null) return { text: name ?? `ones(${shape.join('×')})`, binds: 5 };
  const x = inputs.map((input) => write(steps, input));
  if (Object.hasOwn(INFIX, op)) {
    const [sign, binds] = INFIX[op];
    return { text: `${bracketed(x[0], binds)} ${sign} ${bracketed(x[1], binds + 1)}`, binds };
  }
  if (op === 'affine') return affine(x[0], params as { p: number; q: number });
  if (op === 'neg') return { text: `-${bracketed(x[0], 3)}`, binds: 3 };
  if (op === 'square') return { text: `${bracketed(x[0], 4)}^2`, binds: 4 };
  if (op === 'pow') return { text: `${bracketed(x[0], 4)}^${digits((params as { p: number }).p)}`, binds: 4 };
  if (op === 'permute') return { text: `${bracketed(x[0], 4)}'`, binds: 4 };
  if (op === 'reshape') return x[0];
  if (op === 'broadcastTo') return { text: `repeat(${x[0].text})`, binds: 5 };
  if (op === 'matmul') return matmul(x, params as Product);
  if (['sum', 'mean', 'max', 'logSumExp'].includes(op)) {
    return reduction(op, x[0], params as { axes: readonly number[] }, steps[inputs[0]].shape.length);
  }
  return { text: `${op}(${x.map(({ text }) => text).join(', ')})`, binds: 5 };
}

/** One value of a recording, from its inputs. */
export const printed = (steps: readonly Step[], index: number): string => write(steps, index).text;
