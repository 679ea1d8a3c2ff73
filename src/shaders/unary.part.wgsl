// Elementwise functions of one value, chosen by OP; p and q are the op's constants.

const QUICK = 1.702;

// x^p for a constant p; a negative x has a power only where p is whole, and `missing`, a NaN, elsewhere.
fn power4(x: vec4f, p: f32, missing: u32) -> vec4f {
  let positive = pow(abs(x), vec4f(abs(p)));
  let magnitude = select(positive, 1.0 / positive, p < 0.0);
  let whole = p == floor(p);
  let odd = whole && fract(0.5 * p) != 0.0;
  let below = x < vec4f(0.0);
  let signed = select(magnitude, -magnitude, below & vec4<bool>(odd));
  let defined = select(signed, vec4f(bitcast<f32>(missing)), below & vec4<bool>(!whole));
  return select(keepNan4(defined, x), vec4f(1.0), p == 0.0);
}

fn unary4(x: vec4f, p: f32, q: f32) -> vec4f {
  switch (OP) {
    case 0u: { return fma(vec4f(p), x, vec4f(q)); }
    case 1u: { return -x; }
    case 2u: { return exp(x); }
    case 3u: { return log(x); }
    case 4u: { return log1p4(x); }
    case 5u: { return expm14(x); }
    case 6u: { return sqrt(x); }
    case 7u: { return inverseSqrt(x); }
    case 8u: { return x * x; }
    case 9u: { return abs(x); }
    case 10u: { return tanh4(x); }
    case 11u: { return sigmoid4(x); }
    case 12u: { return erf4(x); }
    case 13u: { return x * cdf4(x); }
    case 14u: { return x * sigmoid4(QUICK * x); }
    case 15u: { return keepNan4(max(x, vec4f(0.0)), x); }
    case 16u: { return power4(x, p, params.missing); }
    case 17u: { return keepNan4(min(max(x, vec4f(p)), vec4f(q)), x); }
    case 18u: { return pdf4(x) * (2.0 - x * x); }
    case 19u: {
      let s = sigmoid4(QUICK * x);
      return QUICK * s * (1.0 - s) * (2.0 + QUICK * x * (1.0 - 2.0 * s));
    }
    default: { return keepNan4(sign(x), x); }
  }
}
