// Elementwise functions of two values, chosen by OP; p and q of the parameters are the op's constants.

const QUICK = 1.702;

fn binary4(a: vec4f, b: vec4f) -> vec4f {
  switch (OP) {
    case 0u: { return a + b; }
    case 1u: { return a - b; }
    case 2u: { return a * b; }
    case 3u: { return a / b; }
    case 4u: { return keepNan4(keepNan4(max(a, b), b), a); }
    case 5u: { return keepNan4(keepNan4(min(a, b), b), a); }
    case 6u: { return select(vec4f(0.0), vec4f(1.0), a >= b); }
    case 7u: { return select(vec4f(0.0), vec4f(1.0), a == b); }
    case 8u: { return (1.0 - a * a) * b; }
    case 9u: { return a * (1.0 - a) * b; }
    case 10u: { return (cdf4(a) + a * pdf4(a)) * b; }
    case 11u: {
      let s = sigmoid4(QUICK * a);
      return (s + QUICK * a * s * (1.0 - s)) * b;
    }
    default: { return fma(vec4f(params.p), a, params.q * b); }
  }
}
