// Functions that WGSL lacks or that overflow on some drivers.

// Whether each component is a NaN, by its bits: drivers may assume that comparisons never meet one.
fn isNan4(x: vec4f) -> vec4<bool> {
  return (bitcast<vec4u>(x) & vec4u(0x7fffffffu)) > vec4u(0x7f800000u);
}

// y, or x where that is a NaN: clamps, comparisons and select would otherwise turn it into a number.
fn keepNan4(y: vec4f, x: vec4f) -> vec4f {
  return select(y, x, isNan4(x));
}

// erf to 2e-7: x·P(x²) for |x| < 1, 1 − e^{−x²}·Q(1/(1+|x|/2)) up to 4, then ±1.
fn erf4(x: vec4f) -> vec4f {
  let a = min(abs(x), vec4f(4.0));
  let s = a * a;
  let near = a * fma(s, fma(s, fma(s, fma(s, fma(s, fma(s, fma(s,
    vec4f(-9.673590e-6), vec4f(1.1268254e-4)), vec4f(-8.4843964e-4)), vec4f(5.2210535e-3)), vec4f(-0.026865438)),
    vec4f(0.11283783)), vec4f(-0.37612638)), vec4f(1.1283792));
  let u = 1.0 / fma(vec4f(0.5), a, vec4f(1.0));
  let tail = fma(u, fma(u, fma(u, fma(u, fma(u, fma(u,
    vec4f(-0.053540617), vec4f(-0.057338737)), vec4f(0.40383837)), vec4f(0.10126825)), vec4f(0.33084068)),
    vec4f(0.27361816)), vec4f(6.0640875e-4));
  let far = 1.0 - tail * exp(-s);
  return keepNan4(select(far, near, a < vec4f(1.0)) * select(vec4f(1.0), vec4f(-1.0), x < vec4f(0.0)), x);
}

fn sigmoid4(x: vec4f) -> vec4f {
  return keepNan4(1.0 / (1.0 + exp(-clamp(x, vec4f(-80.0), vec4f(80.0)))), x);
}

fn tanh4(x: vec4f) -> vec4f {
  return keepNan4(tanh(clamp(x, vec4f(-15.0), vec4f(15.0))), x);
}

// log(1+x) = 2·atanh(x/(2+x)) near 0, where 1+x would round x away.
fn log1p4(x: vec4f) -> vec4f {
  let s = x / (2.0 + x);
  let z = s * s;
  let near = 2.0 * s * fma(z, fma(z, fma(z, fma(z, vec4f(0.11111111), vec4f(0.14285715)), vec4f(0.2)), vec4f(0.33333334)), vec4f(1.0));
  return select(log(1.0 + x), near, abs(x) < vec4f(0.3));
}

fn expm14(x: vec4f) -> vec4f {
  let near = x * fma(x, fma(x, fma(x, fma(x, fma(x, fma(x, fma(x, vec4f(2.4801587e-5), vec4f(1.984127e-4)), vec4f(1.3888889e-3)),
    vec4f(8.3333333e-3)), vec4f(0.041666668)), vec4f(0.16666667)), vec4f(0.5)), vec4f(1.0));
  return select(exp(x) - 1.0, near, abs(x) < vec4f(0.5));
}

// Density and distribution function of the standard normal.
fn pdf4(x: vec4f) -> vec4f {
  return 0.3989422804 * exp(-0.5 * x * x);
}

fn cdf4(x: vec4f) -> vec4f {
  return 0.5 + 0.5 * erf4(0.7071067812 * x);
}
