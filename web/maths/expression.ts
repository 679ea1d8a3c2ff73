// The small language of chapter 7: matrices, + − * / and functions, read into a tree with the place of every part.

/** Where a part of an expression stands: first character, and the one behind the last. */
interface Place {
  readonly at: number;
  readonly end: number;
}

/** A part of an expression. */
export type Expression = Place &
  (
    | { readonly kind: 'number'; readonly value: number }
    | { readonly kind: 'name'; readonly name: string }
    | { readonly kind: 'call'; readonly name: string; readonly args: readonly Expression[] }
    | { readonly kind: 'negative' | 'transpose'; readonly of: Expression }
    | { readonly kind: 'power'; readonly of: Expression; readonly exponent: number }
    | { readonly kind: 'binary'; readonly op: BinaryOp; readonly left: Expression; readonly right: Expression }
  );

/** `*` is the product of matrices, `.` that of their entries. */
type BinaryOp = '+' | '-' | '*' | '.' | '/';

/** What an expression may be at most; nothing larger is worked on. */
export const LIMITS = { characters: 200, operations: 48, depth: 24 } as const;

/** What is wrong with an expression, where, and how it may be mended. */
export class ExpressionError extends Error {
  readonly at: number;
  readonly end: number;
  /** The whole text, mended; null where there is no telling. */
  readonly fix: string | null;

  constructor(message: string, { at, end }: Place, fix: string | null = null) {
    super(message);
    this.at = at;
    this.end = end;
    this.fix = fix;
  }
}

/** A text with a part of it replaced. */
export const replaced = (text: string, { at, end }: Place, by: string): string =>
  text.slice(0, at) + by + text.slice(end);

interface Token extends Place {
  readonly kind: 'number' | 'name' | 'sign' | 'end';
  readonly text: string;
}

const TOKEN = /\s*(?:(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|([A-Za-z]\w*)|([-+*/.^'(),]))/y;

/** Signs that people write, as this language writes them. */
const MEANT: Readonly<Record<string, string>> = {
  ...{ '−': '-', '–': '-', '·': '.', '∘': '.', '⊙': '.', '×': '*', '@': '*', '÷': '/', '’': "'", ᵀ: "'", '²': '^2' },
  ...{ '[': '(', '{': '(', ']': ')', '}': ')' },
};

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  const last = text.trimEnd().length;
  for (let from = 0; from < last; from = TOKEN.lastIndex) {
    TOKEN.lastIndex = from;
    const found = TOKEN.exec(text);
    if (found === null) throw strange(text, from + /^\s*/.exec(text.slice(from))![0].length);
    const [number, name] = [found[1], found[2]];
    const part = number ?? name ?? found[3];
    const end = TOKEN.lastIndex;
    tokens.push({ kind: number ? 'number' : name ? 'name' : 'sign', text: part, at: end - part.length, end });
  }
  return [...tokens, { kind: 'end', text: '', at: last, end: last }];
}

function strange(text: string, at: number): ExpressionError {
  const sign = String.fromCodePoint(text.codePointAt(at) as number);
  const place = { at, end: at + sign.length };
  const meant = Object.hasOwn(MEANT, sign) ? MEANT[sign] : null;
  if (meant === null) {
    return new ExpressionError(`“${sign}” means nothing here; use names, numbers, + - * . / ^ ' ( ) and ,`, place);
  }
  return new ExpressionError(`“${sign}” is not known; write ${meant} for it`, place, replaced(text, place, meant));
}

/** Reads one expression from its tokens, by recursive descent; sums below products below signs below powers. */
class Parser {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;
  #operations = 0;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = tokensOf(text);
  }

  whole(): Expression {
    const first = this.#peek();
    if (first.kind === 'end') throw new ExpressionError('nothing is written yet; try sum(W . W)', first, 'sum(W . W)');
    const made = this.#sum();
    const rest = this.#peek();
    if (rest.kind !== 'end') throw this.#leftOver(rest);
    return made;
  }

  #peek(): Token {
    return this.#tokens[this.#next];
  }

  /** Takes the next token if it is one of these signs. */
  #take(...signs: readonly string[]): Token | null {
    const token = this.#peek();
    if (token.kind !== 'sign' || !signs.includes(token.text)) return null;
    this.#next++;
    return token;
  }

  #counted(made: Expression): Expression {
    if (++this.#operations > LIMITS.operations) {
      throw new ExpressionError(`more than ${LIMITS.operations} operations; make it shorter`, made);
    }
    return made;
  }

  #leftOver(token: Token): ExpressionError {
    const place = { at: token.at, end: token.at };
    if (token.text === ')')
      return new ExpressionError('nothing opens this bracket; leave it out', token, replaced(this.#text, token, ''));
    if (token.text === ',')
      return new ExpressionError('a comma stands only between the arguments of a function; leave it out', token);
    return new ExpressionError(
      `an operation is missing before ${token.text}; write * for the product of matrices, . for that of entries`,
      token,
      replaced(this.#text, place, '* '),
    );
  }

  #sum(): Expression {
    let left = this.#product();
    for (let sign = this.#take('+', '-'); sign !== null; sign = this.#take('+', '-')) {
      left = this.#binary(sign.text as BinaryOp, left, this.#product());
    }
    return left;
  }

  #product(): Expression {
    let left = this.#signed();
    for (let sign = this.#take('*', '/', '.'); sign !== null; sign = this.#take('*', '/', '.')) {
      left = this.#binary(sign.text as BinaryOp, left, this.#signed());
    }
    return left;
  }

  #binary(op: BinaryOp, left: Expression, right: Expression): Expression {
    return this.#counted({ kind: 'binary', op, left, right, at: left.at, end: right.end });
  }

  #signed(): Expression {
    const minus = this.#take('-');
    if (minus === null) return this.#powers();
    const of = this.#deeper(() => this.#signed());
    if (of.kind === 'number') return { ...of, value: -of.value, at: minus.at };
    return this.#counted({ kind: 'negative', of, at: minus.at, end: of.end });
  }

  #powers(): Expression {
    let of = this.#operand();
    for (let sign = this.#take("'", '^'); sign !== null; sign = this.#take("'", '^')) {
      if (sign.text === "'") of = this.#counted({ kind: 'transpose', of, at: of.at, end: sign.end });
      else {
        const minus = this.#take('-');
        const token = this.#peek();
        if (token.kind !== 'number') {
          throw new ExpressionError('behind ^ stands a number, such as ^2; for e to a power write exp(…)', token);
        }
        this.#next++;
        const exponent = Number(token.text) * (minus === null ? 1 : -1);
        of = this.#counted({ kind: 'power', of, exponent, at: of.at, end: token.end });
      }
    }
    return of;
  }

  #deeper<R>(read: () => R): R {
    if (++this.#depth > LIMITS.depth) {
      throw new ExpressionError(`more than ${LIMITS.depth} brackets or signs deep; make it flatter`, this.#peek());
    }
    const made = read();
    this.#depth--;
    return made;
  }

  #operand(): Expression {
    const token = this.#peek();
    const { at, end, text } = token;
    if (token.kind === 'number') {
      this.#next++;
      return { kind: 'number', value: Number(text), at, end };
    }
    if (token.kind === 'name') {
      this.#next++;
      return this.#take('(') === null ? { kind: 'name', name: text, at, end } : this.#call(token);
    }
    if (this.#take('(') !== null) {
      const inner = this.#deeper(() => this.#sum());
      const close = this.#close(at);
      return { ...inner, at, end: close.end };
    }
    throw this.#missing(token);
  }

  #call({ text: name, at }: Token): Expression {
    const args: Expression[] = [];
    if (this.#peek().text !== ')') {
      do args.push(this.#deeper(() => this.#sum()));
      while (this.#take(',') !== null);
    }
    return this.#counted({ kind: 'call', name, args, at, end: this.#close(at).end });
  }

  #close(opened: number): Token {
    const close = this.#take(')');
    if (close !== null) return close;
    const token = this.#peek();
    if (token.kind !== 'end') throw this.#leftOver(token);
    throw new ExpressionError(
      'a bracket is not closed; add )',
      { at: opened, end: token.end },
      `${this.#text.trimEnd()})`,
    );
  }

  #missing(token: Token): ExpressionError {
    const follows = this.#tokens.at(this.#next + 1);
    if (token.text === '.' && follows?.kind === 'number') {
      return new ExpressionError(
        'numbers begin with a digit; write 0 before the point',
        token,
        replaced(this.#text, token, '0.'),
      );
    }
    const found = token.kind === 'end' ? 'the end' : token.text;
    return new ExpressionError(
      `a matrix, a number or a function should stand before ${found}; add one, such as W`,
      token,
    );
  }
}

/**
 * Reads an expression.
 * @throws ExpressionError that says where it is wrong and what to do
 */
export function parseExpression(text: string): Expression {
  if (text.length > LIMITS.characters) {
    const place = { at: LIMITS.characters, end: text.length };
    throw new ExpressionError(`longer than ${LIMITS.characters} characters; make it shorter`, place);
  }
  return new Parser(text).whole();
}
