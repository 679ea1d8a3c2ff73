// Generated from the .wgsl files beside it by `npm run gen`; do not edit.
import type { Kernel } from '../device/kernel.ts';

export const attention: Kernel<
  'q' | 'k' | 'v' | 'y',
  'batch' | 'queries' | 'keys' | 'd4' | 'e' | 'causal' | 'scale',
  'LANES' | 'KEYS'
> = {
  name: 'attention',
  bindings: [
    { name: 'q', access: 'read' },
    { name: 'k', access: 'read' },
    { name: 'v', access: 'read' },
    { name: 'y', access: 'read_write' },
  ],
  params: [
    { name: 'batch', type: 'u32', offset: 0 },
    { name: 'queries', type: 'u32', offset: 4 },
    { name: 'keys', type: 'u32', offset: 8 },
    { name: 'd4', type: 'u32', offset: 12 },
    { name: 'e', type: 'u32', offset: 16 },
    { name: 'causal', type: 'u32', offset: 20 },
    { name: 'scale', type: 'f32', offset: 24 },
  ],
  paramBytes: 32,
  constants: ['LANES', 'KEYS'],
  subgroups: false,
  source: `// y[z,t,·] = Σ_s softmax_s(scale·⟨q[z,t,·], k[z,s,·]⟩)·v[z,s,·], without storing the scores. A workgroup of LANES handles
// four queries: lanes share out the keys for the scores, then the columns of v for the sums. d is a multiple of 4.

override LANES: u32 = 32;
override KEYS: u32 = 256;

struct Params {
  batch: u32,
  queries: u32,
  keys: u32,
  d4: u32,
  e: u32,
  causal: u32,
  scale: f32,
}

@group(0) @binding(0) var<storage, read> q: array<vec4f>;
@group(0) @binding(1) var<storage, read> k: array<vec4f>;
@group(0) @binding(2) var<storage, read> v: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

const LOWEST = -3.4028234e38;

var<workgroup> weights: array<vec4f, KEYS>;
var<workgroup> partial: array<vec4f, LANES>;

fn allMax(value: vec4f, lane: u32) -> vec4f {
  workgroupBarrier();
  partial[lane] = value;
  workgroupBarrier();
  for (var step = LANES / 2u; step > 0u; step /= 2u) {
    if (lane < step) {
      partial[lane] = max(partial[lane], partial[lane + step]);
    }
    workgroupBarrier();
  }
  return partial[0];
}

fn allSum(value: vec4f, lane: u32) -> vec4f {
  workgroupBarrier();
  partial[lane] = value;
  workgroupBarrier();
  for (var step = LANES / 2u; step > 0u; step /= 2u) {
    if (lane < step) {
      partial[lane] += partial[lane + step];
    }
    workgroupBarrier();
  }
  return partial[0];
}

@compute @workgroup_size(LANES)
fn main(@builtin(local_invocation_id) local: vec3u, @builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let lane = local.x;
  let blocks = (params.queries + 3u) / 4u;
  let block = group.x + group.y * groups.x;
  if (block >= blocks * params.batch) {
    return;
  }
  let z = block / blocks;
  let t = 4u * (block % blocks);
  let d4 = params.d4;
  let last = params.queries - 1u;
  // Rows beyond the last query repeat it and are not stored.
  let rows = min(vec4u(t, t + 1u, t + 2u, t + 3u), vec4u(last)) + vec4u(z * params.queries);
  let at = rows * d4;
  var limit = vec4u(params.keys);
  if (params.causal == 1u) {
    limit = min(vec4u(t, t + 1u, t + 2u, t + 3u), vec4u(last)) + vec4u(1u + params.keys - params.queries);
  }
  var peak = vec4f(LOWEST);
  for (var j = lane; j < params.keys; j += LANES) {
    let key = (z * params.keys + j) * d4;
    var s = vec4f(0.0);
    for (var i = 0u; i < d4; i++) {
      let kv = k[key + i];
      s += vec4f(dot(q[at.x + i], kv), dot(q[at.y + i], kv), dot(q[at.z + i], kv), dot(q[at.w + i], kv));
    }
    s = select(vec4f(LOWEST), s * params.scale, vec4u(j) < limit);
    weights[j] = s;
    peak = max(peak, s);
  }
  peak = allMax(peak, lane);
  var total = vec4f(0.0);
  for (var j = lane; j < params.keys; j += LANES) {
    let w = select(vec4f(0.0), exp(weights[j] - peak), vec4u(j) < limit);
    weights[j] = w;
    total += w;
  }
  total = allSum(total, lane);
  for (var c = lane; c < params.e; c += LANES) {
    var acc = vec4f(0.0);
    for (var j = 0u; j < params.keys; j++) {
      acc = fma(weights[j], vec4f(v[(z * params.keys + j) * params.e + c]), acc);
    }
    acc /= total;
    let out = (z * params.queries + t) * params.e + c;
    y[out] = acc.x;
    if (t + 1u <= last) { y[out + params.e] = acc.y; }
    if (t + 2u <= last) { y[out + 2u * params.e] = acc.z; }
    if (t + 3u <= last) { y[out + 3u * params.e] = acc.w; }
  }
}
`,
};

export const binaryStrided: Kernel<
  'a' | 'b' | 'y',
  'p' | 'q' | 'n' | 'd1' | 'd2' | 'd3' | 'd4' | 'd5' | 'a0' | 'a1' | 'a2' | 'a3' | 'a4' | 'a5' | 'b0' | 'b1' | 'b2' | 'b3' | 'b4' | 'b5',
  'OP'
> = {
  name: 'binaryStrided',
  bindings: [
    { name: 'a', access: 'read' },
    { name: 'b', access: 'read' },
    { name: 'y', access: 'read_write' },
  ],
  params: [
    { name: 'p', type: 'f32', offset: 0 },
    { name: 'q', type: 'f32', offset: 4 },
    { name: 'n', type: 'u32', offset: 8 },
    { name: 'd1', type: 'u32', offset: 12 },
    { name: 'd2', type: 'u32', offset: 16 },
    { name: 'd3', type: 'u32', offset: 20 },
    { name: 'd4', type: 'u32', offset: 24 },
    { name: 'd5', type: 'u32', offset: 28 },
    { name: 'a0', type: 'u32', offset: 32 },
    { name: 'a1', type: 'u32', offset: 36 },
    { name: 'a2', type: 'u32', offset: 40 },
    { name: 'a3', type: 'u32', offset: 44 },
    { name: 'a4', type: 'u32', offset: 48 },
    { name: 'a5', type: 'u32', offset: 52 },
    { name: 'b0', type: 'u32', offset: 56 },
    { name: 'b1', type: 'u32', offset: 60 },
    { name: 'b2', type: 'u32', offset: 64 },
    { name: 'b3', type: 'u32', offset: 68 },
    { name: 'b4', type: 'u32', offset: 72 },
    { name: 'b5', type: 'u32', offset: 76 },
  ],
  paramBytes: 80,
  constants: ['OP'],
  subgroups: false,
  source: `// y[i] = f(a[·], b[·]) for n elements of a shape d0…d5, operands read with strides (0 where they are broadcast).
// use binary.part.wgsl
// use math.part.wgsl

override OP: u32 = 0;

struct Params {
  p: f32,
  q: f32,
  n: u32,
  d1: u32,
  d2: u32,
  d3: u32,
  d4: u32,
  d5: u32,
  a0: u32,
  a1: u32,
  a2: u32,
  a3: u32,
  a4: u32,
  a5: u32,
  b0: u32,
  b1: u32,
  b2: u32,
  b3: u32,
  b4: u32,
  b5: u32,
}

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.x + id.y * groups.x * 64u;
  if (i >= params.n) {
    return;
  }
  let r5 = i / params.d5;
  let i5 = i - r5 * params.d5;
  let r4 = r5 / params.d4;
  let i4 = r5 - r4 * params.d4;
  let r3 = r4 / params.d3;
  let i3 = r4 - r3 * params.d3;
  let r2 = r3 / params.d2;
  let i2 = r3 - r2 * params.d2;
  let i0 = r2 / params.d1;
  let i1 = r2 - i0 * params.d1;
  let p = i0 * params.a0 + i1 * params.a1 + i2 * params.a2 + i3 * params.a3 + i4 * params.a4 + i5 * params.a5;
  let q = i0 * params.b0 + i1 * params.b1 + i2 * params.b2 + i3 * params.b3 + i4 * params.b4 + i5 * params.b5;
  y[i] = binary4(vec4f(a[p]), vec4f(b[q])).x;
}

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
`,
};

export const binary: Kernel<
  'a' | 'b' | 'y',
  'p' | 'q' | 'n' | 'row',
  'OP' | 'A_MODE' | 'B_MODE'
> = {
  name: 'binary',
  bindings: [
    { name: 'a', access: 'read' },
    { name: 'b', access: 'read' },
    { name: 'y', access: 'read_write' },
  ],
  params: [
    { name: 'p', type: 'f32', offset: 0 },
    { name: 'q', type: 'f32', offset: 4 },
    { name: 'n', type: 'u32', offset: 8 },
    { name: 'row', type: 'u32', offset: 12 },
  ],
  paramBytes: 16,
  constants: ['OP', 'A_MODE', 'B_MODE'],
  subgroups: false,
  source: `// y[i] = f(a[·], b[·]) for n vec4s. An operand is read whole (0), as one value (1), as a row repeated (2), or as a
// column whose values each fill a row (3); \`row\` is the row length in vec4s.
// use binary.part.wgsl
// use math.part.wgsl

override OP: u32 = 0;
override A_MODE: u32 = 0;
override B_MODE: u32 = 0;

struct Params {
  p: f32,
  q: f32,
  n: u32,
  row: u32,
}

@group(0) @binding(0) var<storage, read> a: array<vec4f>;
@group(0) @binding(1) var<storage, read> b: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4f>;
@group(0) @binding(3) var<uniform> params: Params;

fn readA(i: u32) -> vec4f {
  switch (A_MODE) {
    case 0u: { return a[i]; }
    case 1u: { return vec4f(a[0].x); }
    case 2u: { return a[i % params.row]; }
    default: {
      let k = i / params.row;
      return vec4f(a[k / 4u][k % 4u]);
    }
  }
}

fn readB(i: u32) -> vec4f {
  switch (B_MODE) {
    case 0u: { return b[i]; }
    case 1u: { return vec4f(b[0].x); }
    case 2u: { return b[i % params.row]; }
    default: {
      let k = i / params.row;
      return vec4f(b[k / 4u][k % 4u]);
    }
  }
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.x + id.y * groups.x * 64u;
  if (i < params.n) {
    y[i] = binary4(readA(i), readB(i));
  }
}

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
`,
};

export const contrastiveStats: Kernel<
  's' | 't' | 'lse' | 'stats',
  'batches' | 'n',
  'MODE'
> = {
  name: 'contrastiveStats',
  bindings: [
    { name: 's', access: 'read' },
    { name: 't', access: 'read' },
    { name: 'lse', access: 'read' },
    { name: 'stats', access: 'read_write' },
  ],
  params: [
    { name: 'batches', type: 'u32', offset: 0 },
    { name: 'n', type: 'u32', offset: 4 },
  ],
  paramBytes: 16,
  constants: ['MODE'],
  subgroups: false,
  source: `// Per batch z of B×B similarities: stats[z, 0, k] over row k and stats[z, 1, k] over column k. MODE 0: log Σ exp of s;
// 1: Σ softmax(s)·t, with the log-sum-exps of MODE 0 in \`lse\`.

override MODE: u32 = 0;

struct Params {
  batches: u32,
  n: u32,
}

@group(0) @binding(0) var<storage, read> s: array<f32>;
@group(0) @binding(1) var<storage, read> t: array<f32>;
@group(0) @binding(2) var<storage, read> lse: array<f32>;
@group(0) @binding(3) var<storage, read_write> stats: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

const LOWEST = -3.4028234e38;

@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.x + id.y * groups.x * 8u;
  let n = params.n;
  if (i >= 2u * n * params.batches) {
    return;
  }
  let z = i / (2u * n);
  let column = (i / n) % 2u;
  let k = i % n;
  let first = z * n * n + select(k * n, k, column == 1u);
  let step = select(1u, n, column == 1u);
  if (MODE == 0u) {
    var peak = LOWEST;
    for (var j = 0u; j < n; j++) {
      peak = max(peak, s[first + j * step]);
    }
    var total = 0.0;
    for (var j = 0u; j < n; j++) {
      total += exp(s[first + j * step] - peak);
    }
    stats[i] = peak + log(total);
    return;
  }
  var total = 0.0;
  for (var j = 0u; j < n; j++) {
    let at = first + j * step;
    total = fma(exp(s[at] - lse[i]), t[at], total);
  }
  stats[i] = total;
}
`,
};

export const contrastive: Kernel<
  's' | 't' | 'lse' | 'dots' | 'y',
  'batches' | 'n',
  'MODE'
> = {
  name: 'contrastive',
  bindings: [
    { name: 's', access: 'read' },
    { name: 't', access: 'read' },
    { name: 'lse', access: 'read' },
    { name: 'dots', access: 'read' },
    { name: 'y', access: 'read_write' },
  ],
  params: [
    { name: 'batches', type: 'u32', offset: 0 },
    { name: 'n', type: 'u32', offset: 4 },
  ],
  paramBytes: 16,
  constants: ['MODE'],
  subgroups: false,
  source: `// The contrastive loss of B×B similarities s, from the statistics of contrastive-stats.wgsl (p row, c column softmax).
// MODE 0: loss[z] = Σ_k lse_row + lse_col − 2 s_kk; 1: gradient p + c − 2I; 2: Hessian times t,
// p∘(t − ⟨p,t⟩_row) + c∘(t − ⟨c,t⟩_col).

override MODE: u32 = 0;

struct Params {
  batches: u32,
  n: u32,
}

@group(0) @binding(0) var<storage, read> s: array<f32>;
@group(0) @binding(1) var<storage, read> t: array<f32>;
@group(0) @binding(2) var<storage, read> lse: array<f32>;
@group(0) @binding(3) var<storage, read> dots: array<f32>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;
@group(0) @binding(5) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.x + id.y * groups.x * 64u;
  let n = params.n;
  if (MODE == 0u) {
    if (i >= params.batches) {
      return;
    }
    var total = 0.0;
    for (var k = 0u; k < n; k++) {
      total += lse[(2u * i) * n + k] + lse[(2u * i + 1u) * n + k] - 2.0 * s[(i * n + k) * n + k];
    }
    y[i] = total;
    return;
  }
  if (i >= params.batches * n * n) {
    return;
  }
  let z = i / (n * n);
  let row = (i / n) % n;
  let column = i % n;
  let rowAt = 2u * z * n + row;
  let columnAt = (2u * z + 1u) * n + column;
  let p = exp(s[i] - lse[rowAt]);
  let c = exp(s[i] - lse[columnAt]);
  if (MODE == 1u) {
    y[i] = p + c - select(0.0, 2.0, row == column);
  } else {
    y[i] = p * (t[i] - dots[rowAt]) + c * (t[i] - dots[columnAt]);
  }
}
`,
};

export const copyStrided: Kernel<
  'x' | 'y',
  'n' | 'xStart' | 'yStart' | 'd1' | 'd2' | 'd3' | 'd4' | 'd5' | 'x0' | 'x1' | 'x2' | 'x3' | 'x4' | 'x5' | 'y0' | 'y1' | 'y2' | 'y3' | 'y4' | 'y5',
  'RUN'
> = {
  name: 'copyStrided',
  bindings: [
    { name: 'x', access: 'read' },
    { name: 'y', access: 'read_write' },
  ],
  params: [
    { name: 'n', type: 'u32', offset: 0 },
    { name: 'xStart', type: 'u32', offset: 4 },
    { name: 'yStart', type: 'u32', offset: 8 },
    { name: 'd1', type: 'u32', offset: 12 },
    { name: 'd2', type: 'u32', offset: 16 },
    { name: 'd3', type: 'u32', offset: 20 },
    { name: 'd4', type: 'u32', offset: 24 },
    { name: 'd5', type: 'u32', offset: 28 },
    { name: 'x0', type: 'u32', offset: 32 },
    { name: 'x1', type: 'u32', offset: 36 },
    { name: 'x2', type: 'u32', offset: 40 },
    { name: 'x3', type: 'u32', offset: 44 },
    { name: 'x4', type: 'u32', offset: 48 },
    { name: 'x5', type: 'u32', offset: 52 },
    { name: 'y0', type: 'u32', offset: 56 },
    { name: 'y1', type: 'u32', offset: 60 },
    { name: 'y2', type: 'u32', offset: 64 },
    { name: 'y3', type: 'u32', offset: 68 },
    { name: 'y4', type: 'u32', offset: 72 },
    { name: 'y5', type: 'u32', offset: 76 },
  ],
  paramBytes: 80,
  constants: ['RUN'],
  subgroups: false,
  source: `// y[yStart + Σ kᵢ·yᵢ] = x[xStart + Σ kᵢ·xᵢ] for every index k of a shape d0…d5 (words of any type). An invocation copies
// RUN neighbours of the last axis, of which d5 counts the runs and n those of the whole shape: finding a place costs more than a copy.

struct Params {
  n: u32,
  xStart: u32,
  yStart: u32,
  d1: u32,
  d2: u32,
  d3: u32,
  d4: u32,
  d5: u32,
  x0: u32,
  x1: u32,
  x2: u32,
  x3: u32,
  x4: u32,
  x5: u32,
  y0: u32,
  y1: u32,
  y2: u32,
  y3: u32,
  y4: u32,
  y5: u32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

override RUN: u32 = 1u;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.x + id.y * groups.x * 64u;
  if (i >= params.n) {
    return;
  }
  let r5 = i / params.d5;
  let i5 = (i - r5 * params.d5) * RUN;
  let r4 = r5 / params.d4;
  let i4 = r5 - r4 * params.d4;
  let r3 = r4 / params.d3;
  let i3 = r4 - r3 * params.d3;
  let r2 = r3 / params.d2;
  let i2 = r3 - r2 * params.d2;
  let i0 = r2 / params.d1;
  let i1 = r2 - i0 * params.d1;
  let source = params.xStart + i0 * params.x0 + i1 * params.x1 + i2 * params.x2 + i3 * params.x3 + i4 * params.x4 + i5 * params.x5;
  let target_at = params.yStart + i0 * params.y0 + i1 * params.y1 + i2 * params.y2 + i3 * params.y3 + i4 * params.y4 + i5 * params.y5;
  for (var k = 0u; k < RUN; k++) {
    y[target_at + k * params.y5] = x[source + k * params.x5];
  }
}
`,
};

export const fill: Kernel<
  'y',
  'n' | 'bits',
  never
> = {
  name: 'fill',
  bindings: [
    { name: 'y', access: 'read_write' },
  ],
  params: [
    { name: 'n', type: 'u32', offset: 0 },
    { name: 'bits', type: 'u32', offset: 4 },
  ],
  paramBytes: 16,
  constants: [],
  subgroups: false,
  source: `// y[i] = bits for n words.

struct Params {
  n: u32,
  bits: u32,
}

@group(0) @binding(0) var<storage, read_write> y: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.x + id.y * groups.x * 64u;
  if (i < params.n) {
    y[i] = params.bits;
  }
}
`,
};

export const finiteCheck: Kernel<
  'x' | 'flag',
  'n' | 'ordinal',
  never
> = {
  name: 'finiteCheck',
  bindings: [
    { name: 'x', access: 'read' },
    { name: 'flag', access: 'read_write' },
  ],
  params: [
    { name: 'n', type: 'u32', offset: 0 },
    { name: 'ordinal', type: 'u32', offset: 4 },
  ],
  paramBytes: 16,
  constants: [],
  subgroups: false,
  source: `// flag = min(flag, ordinal) if any of the n values of x is a NaN or an infinity.

struct Params {
  n: u32,
  ordinal: u32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> flag: atomic<u32>;
@group(0) @binding(2) var<uniform> params: Params;

const EXPONENT = 0x7f800000u;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let first = 4u * (id.x + id.y * groups.x * 64u);
  for (var i = first; i < min(first + 4u, params.n); i++) {
    if ((x[i] & EXPONENT) == EXPONENT) {
      atomicMin(&flag, params.ordinal);
    }
  }
}
`,
};

export const gather: Kernel<
  'source' | 'index' | 'y',
  'n' | 'width' | 'first' | 'rows' | 'missing',
  'RUN' | 'WHOLE'
> = {
  name: 'gather',
  bindings: [
    { name: 'source', access: 'read' },
    { name: 'index', access: 'read' },
    { name: 'y', access: 'read_write' },
  ],
  params: [
    { name: 'n', type: 'u32', offset: 0 },
    { name: 'width', type: 'u32', offset: 4 },
    { name: 'first', type: 'u32', offset: 8 },
    { name: 'rows', type: 'u32', offset: 12 },
    { name: 'missing', type: 'u32', offset: 16 },
  ],
  paramBytes: 32,
  constants: ['RUN', 'WHOLE'],
  subgroups: false,
  source: `// y[i, ·] = table[index[i], ·] for rows of \`width\`, the table bound from row \`first\` with \`rows\` rows; other rows keep y, or are NaN
// where the whole table is bound (WHOLE). An invocation copies RUN neighbours of a row, n counts the runs.

struct Params {
  n: u32,
  width: u32,
  first: u32,
  rows: u32,
  missing: u32,
}

@group(0) @binding(0) var<storage, read> source: array<f32>;
@group(0) @binding(1) var<storage, read> index: array<i32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

override RUN: u32 = 1u;
override WHOLE: u32 = 0u;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.x + id.y * groups.x * 64u;
  if (i >= params.n) {
    return;
  }
  let at = i * RUN;
  let k = at / params.width;
  let row = u32(index[k]) - params.first;
  if (row < params.rows) {
    let source_at = row * params.width + at - k * params.width;
    for (var j = 0u; j < RUN; j++) {
      y[at + j] = source[source_at + j];
    }
  } else if (WHOLE == 1u) {
    for (var j = 0u; j < RUN; j++) {
      y[at + j] = bitcast<f32>(params.missing);
    }
  }
}
`,
};

export const matmulSubgroup: Kernel<
  'a' | 'b' | 'a2' | 'b2' | 'c' | 'out',
  'm' | 'n' | 'k' | 'k2' | 'aBatch' | 'bBatch' | 'a2Batch' | 'b2Batch' | 'cRow' | 'cBatch' | 'tilesM' | 'tilesN' | 'tiles' | 'gridX' | 'rowsFirst' | 'alpha' | 'alpha2',
  'FORM' | 'LANES' | 'ROWS' | 'A_VEC' | 'B_VEC' | 'PAIR' | 'A2_VEC' | 'B2_VEC' | 'TAIL' | 'ADDEND' | 'ACT'
> = {
  name: 'matmulSubgroup',
  bindings: [
    { name: 'a', access: 'read' },
    { name: 'b', access: 'read' },
    { name: 'a2', access: 'read' },
    { name: 'b2', access: 'read' },
    { name: 'c', access: 'read' },
    { name: 'out', access: 'read_write' },
  ],
  params: [
    { name: 'm', type: 'u32', offset: 0 },
    { name: 'n', type: 'u32', offset: 4 },
    { name: 'k', type: 'u32', offset: 8 },
    { name: 'k2', type: 'u32', offset: 12 },
    { name: 'aBatch', type: 'u32', offset: 16 },
    { name: 'bBatch', type: 'u32', offset: 20 },
    { name: 'a2Batch', type: 'u32', offset: 24 },
    { name: 'b2Batch', type: 'u32', offset: 28 },
    { name: 'cRow', type: 'u32', offset: 32 },
    { name: 'cBatch', type: 'u32', offset: 36 },
    { name: 'tilesM', type: 'u32', offset: 40 },
    { name: 'tilesN', type: 'u32', offset: 44 },
    { name: 'tiles', type: 'u32', offset: 48 },
    { name: 'gridX', type: 'u32', offset: 52 },
    { name: 'rowsFirst', type: 'u32', offset: 56 },
    { name: 'alpha', type: 'f32', offset: 60 },
    { name: 'alpha2', type: 'f32', offset: 64 },
  ],
  paramBytes: 80,
  constants: ['FORM', 'LANES', 'ROWS', 'A_VEC', 'B_VEC', 'PAIR', 'A2_VEC', 'B2_VEC', 'TAIL', 'ADDEND', 'ACT'],
  subgroups: true,
  source: `// out[z,m,n] = act(alpha·Σ_k A[z,m,k]·B[z,k,n] + alpha2·Σ_k2 A2[z,m,k2]·B2[z,k2,n] + c), f32, for subgroups of 4 or 8.
// NN: A (M×K), B (K×N); NT: B stored (N×K); TN: A stored (K×M). One subgroup computes ROWS × 4·LANES: each lane
// loads different rows of A and keeps four columns of B; the rows are shared with subgroupBroadcast.
// use math.part.wgsl
enable subgroups;

override FORM: u32 = 0;
override LANES: u32 = 8;
override ROWS: u32 = 16;
override A_VEC: u32 = 0;
override B_VEC: u32 = 0;
override PAIR: u32 = 0;
override A2_VEC: u32 = 0;
override B2_VEC: u32 = 0;
override TAIL: u32 = 1;
override ADDEND: u32 = 0;
override ACT: u32 = 0;

const NN = 0u;
const NT = 1u;
const TN = 2u;

struct Params {
  m: u32,
  n: u32,
  k: u32,
  k2: u32,
  aBatch: u32,
  bBatch: u32,
  a2Batch: u32,
  b2Batch: u32,
  cRow: u32,
  cBatch: u32,
  tilesM: u32,
  tilesN: u32,
  tiles: u32,
  gridX: u32,
  rowsFirst: u32,
  alpha: f32,
  alpha2: f32,
}

@group(0) @binding(0) var<storage, read> a: array<vec4f>;
@group(0) @binding(1) var<storage, read> b: array<vec4f>;
@group(0) @binding(2) var<storage, read> a2: array<vec4f>;
@group(0) @binding(3) var<storage, read> b2: array<vec4f>;
@group(0) @binding(4) var<storage, read> c: array<f32>;
@group(0) @binding(5) var<storage, read_write> out: array<f32>;
@group(0) @binding(6) var<uniform> params: Params;

var<private> acc0: vec4f;
var<private> acc1: vec4f;
var<private> acc2: vec4f;
var<private> acc3: vec4f;
var<private> acc4: vec4f;
var<private> acc5: vec4f;
var<private> acc6: vec4f;
var<private> acc7: vec4f;
var<private> acc8: vec4f;
var<private> acc9: vec4f;
var<private> acc10: vec4f;
var<private> acc11: vec4f;
var<private> acc12: vec4f;
var<private> acc13: vec4f;
var<private> acc14: vec4f;
var<private> acc15: vec4f;
var<private> acc16: vec4f;
var<private> acc17: vec4f;
var<private> acc18: vec4f;
var<private> acc19: vec4f;
var<private> acc20: vec4f;
var<private> acc21: vec4f;
var<private> acc22: vec4f;
var<private> acc23: vec4f;
var<private> acc24: vec4f;
var<private> acc25: vec4f;
var<private> acc26: vec4f;
var<private> acc27: vec4f;
var<private> acc28: vec4f;
var<private> acc29: vec4f;
var<private> acc30: vec4f;
var<private> acc31: vec4f;
var<private> acc32: vec4f;
var<private> acc33: vec4f;
var<private> acc34: vec4f;
var<private> acc35: vec4f;
var<private> acc36: vec4f;
var<private> acc37: vec4f;
var<private> acc38: vec4f;
var<private> acc39: vec4f;

// Inner indices k…k+3, kept inside the matrix when K is not a multiple of 4.
fn inner(k: u32, size: u32) -> vec4u {
  let ks = vec4u(k, k + 1u, k + 2u, k + 3u);
  return select(ks, min(ks, vec4u(size - 1u)), TAIL == 1u);
}

// Zeros for the inner indices past the last, of which \`left\` remain.
fn trimRow(x: vec4f, left: u32) -> vec4f {
  return select(select(vec4f(), x, vec4u(0u, 1u, 2u, 3u) < vec4u(left)), x, TAIL == 0u);
}
fn trim(y: mat4x4f, left: u32) -> mat4x4f {
  if (TAIL == 0u) { return y; }
  let z = vec4f();
  return mat4x4f(y[0], select(z, y[1], left > 1u), select(z, y[2], left > 2u), select(z, y[3], left > 3u));
}

// Rows of the first pair: four inner values k…k+3 of one row of op(a), whose k = 0 is element \`base\`.
fn loadA(base: u32, k: u32) -> vec4f {
  if (A_VEC == 1u) { return a[(base + k) >> 2u]; }
  let at = base + inner(k, params.k) * select(1u, params.m, FORM == TN);
  return trimRow(vec4f(aAt(at.x), aAt(at.y), aAt(at.z), aAt(at.w)), params.k - k);
}
fn aAt(i: u32) -> f32 { return a[i >> 2u][i & 3u]; }

// Columns: inner values k…k+3 (matrix columns) of this lane's four columns of op(b), whose k = 0 are elements \`base\`.
fn loadB(base: vec4u, k: u32) -> mat4x4f {
  let ks = inner(k, params.k);
  if (FORM == NT) {
    if (B_VEC == 1u) {
      let at = (base + k) >> vec4u(2u);
      return transpose(mat4x4f(b[at.x], b[at.y], b[at.z], b[at.w]));
    }
    return trim(mat4x4f(bAt(base + ks.x), bAt(base + ks.y), bAt(base + ks.z), bAt(base + ks.w)), params.k - k);
  }
  let at = ks * params.n;
  if (B_VEC == 1u) {
    let v = (base.x + at) >> vec4u(2u);
    return trim(mat4x4f(b[v.x], b[v.y], b[v.z], b[v.w]), params.k - k);
  }
  return trim(mat4x4f(bAt(base + at.x), bAt(base + at.y), bAt(base + at.z), bAt(base + at.w)), params.k - k);
}
fn bAt(i: vec4u) -> vec4f {
  let j = i >> vec4u(2u);
  let l = i & vec4u(3u);
  return vec4f(b[j.x][l.x], b[j.y][l.y], b[j.z][l.z], b[j.w][l.w]);
}

// Rows of the second pair: four inner values k…k+3 of one row of op(a2), whose k = 0 is element \`base\`.
fn loadA2(base: u32, k: u32) -> vec4f {
  if (A2_VEC == 1u) { return a2[(base + k) >> 2u]; }
  let at = base + inner(k, params.k2) * select(1u, params.m, FORM == TN);
  return trimRow(vec4f(a2At(at.x), a2At(at.y), a2At(at.z), a2At(at.w)), params.k2 - k);
}
fn a2At(i: u32) -> f32 { return a2[i >> 2u][i & 3u]; }

// Columns: inner values k…k+3 (matrix columns) of this lane's four columns of op(b2), whose k = 0 are elements \`base\`.
fn loadB2(base: vec4u, k: u32) -> mat4x4f {
  let ks = inner(k, params.k2);
  if (FORM == NT) {
    if (B2_VEC == 1u) {
      let at = (base + k) >> vec4u(2u);
      return transpose(mat4x4f(b2[at.x], b2[at.y], b2[at.z], b2[at.w]));
    }
    return trim(mat4x4f(b2At(base + ks.x), b2At(base + ks.y), b2At(base + ks.z), b2At(base + ks.w)), params.k2 - k);
  }
  let at = ks * params.n;
  if (B2_VEC == 1u) {
    let v = (base.x + at) >> vec4u(2u);
    return trim(mat4x4f(b2[v.x], b2[v.y], b2[v.z], b2[v.w]), params.k2 - k);
  }
  return trim(mat4x4f(b2At(base + at.x), b2At(base + at.y), b2At(base + at.z), b2At(base + at.w)), params.k2 - k);
}
fn b2At(i: vec4u) -> vec4f {
  let j = i >> vec4u(2u);
  let l = i & vec4u(3u);
  return vec4f(b2[j.x][l.x], b2[j.y][l.y], b2[j.z][l.z], b2[j.w][l.w]);
}

fn addRow(acc: vec4f, x: vec4f, y: mat4x4f) -> vec4f {
  return fma(vec4f(x.w), y[3], fma(vec4f(x.z), y[2], fma(vec4f(x.y), y[1], fma(vec4f(x.x), y[0], acc))));
}

// acc[r] += x[r, k…k+3] · y: lane l holds rows l + LANES·i in xi; y[j] is inner index k+j, this lane's columns.
fn step(x0: vec4f, x1: vec4f, x2: vec4f, x3: vec4f, x4: vec4f, y: mat4x4f) {
  if (LANES == 4u) {
    acc0 = addRow(acc0, subgroupBroadcast(x0, 0u), y);
    acc1 = addRow(acc1, subgroupBroadcast(x0, 1u), y);
    acc2 = addRow(acc2, subgroupBroadcast(x0, 2u), y);
    acc3 = addRow(acc3, subgroupBroadcast(x0, 3u), y);
    acc4 = addRow(acc4, subgroupBroadcast(x1, 0u), y);
    acc5 = addRow(acc5, subgroupBroadcast(x1, 1u), y);
    acc6 = addRow(acc6, subgroupBroadcast(x1, 2u), y);
    acc7 = addRow(acc7, subgroupBroadcast(x1, 3u), y);
    acc8 = addRow(acc8, subgroupBroadcast(x2, 0u), y);
    acc9 = addRow(acc9, subgroupBroadcast(x2, 1u), y);
    acc10 = addRow(acc10, subgroupBroadcast(x2, 2u), y);
    acc11 = addRow(acc11, subgroupBroadcast(x2, 3u), y);
    acc12 = addRow(acc12, subgroupBroadcast(x3, 0u), y);
    acc13 = addRow(acc13, subgroupBroadcast(x3, 1u), y);
    acc14 = addRow(acc14, subgroupBroadcast(x3, 2u), y);
    acc15 = addRow(acc15, subgroupBroadcast(x3, 3u), y);
    return;
  }
  acc0 = addRow(acc0, subgroupBroadcast(x0, 0u), y);
  acc1 = addRow(acc1, subgroupBroadcast(x0, 1u), y);
  acc2 = addRow(acc2, subgroupBroadcast(x0, 2u), y);
  acc3 = addRow(acc3, subgroupBroadcast(x0, 3u), y);
  if (ROWS > 4u) {
    acc4 = addRow(acc4, subgroupBroadcast(x0, 4u), y);
    acc5 = addRow(acc5, subgroupBroadcast(x0, 5u), y);
    acc6 = addRow(acc6, subgroupBroadcast(x0, 6u), y);
    acc7 = addRow(acc7, subgroupBroadcast(x0, 7u), y);
  }
  if (ROWS > 8u) {
    acc8 = addRow(acc8, subgroupBroadcast(x1, 0u), y);
    acc9 = addRow(acc9, subgroupBroadcast(x1, 1u), y);
    acc10 = addRow(acc10, subgroupBroadcast(x1, 2u), y);
    acc11 = addRow(acc11, subgroupBroadcast(x1, 3u), y);
    acc12 = addRow(acc12, subgroupBroadcast(x1, 4u), y);
    acc13 = addRow(acc13, subgroupBroadcast(x1, 5u), y);
    acc14 = addRow(acc14, subgroupBroadcast(x1, 6u), y);
    acc15 = addRow(acc15, subgroupBroadcast(x1, 7u), y);
  }
  if (ROWS > 16u) {
    acc16 = addRow(acc16, subgroupBroadcast(x2, 0u), y);
    acc17 = addRow(acc17, subgroupBroadcast(x2, 1u), y);
    acc18 = addRow(acc18, subgroupBroadcast(x2, 2u), y);
    acc19 = addRow(acc19, subgroupBroadcast(x2, 3u), y);
    acc20 = addRow(acc20, subgroupBroadcast(x2, 4u), y);
    acc21 = addRow(acc21, subgroupBroadcast(x2, 5u), y);
    acc22 = addRow(acc22, subgroupBroadcast(x2, 6u), y);
    acc23 = addRow(acc23, subgroupBroadcast(x2, 7u), y);
    acc24 = addRow(acc24, subgroupBroadcast(x3, 0u), y);
    acc25 = addRow(acc25, subgroupBroadcast(x3, 1u), y);
    acc26 = addRow(acc26, subgroupBroadcast(x3, 2u), y);
    acc27 = addRow(acc27, subgroupBroadcast(x3, 3u), y);
    acc28 = addRow(acc28, subgroupBroadcast(x3, 4u), y);
    acc29 = addRow(acc29, subgroupBroadcast(x3, 5u), y);
    acc30 = addRow(acc30, subgroupBroadcast(x3, 6u), y);
    acc31 = addRow(acc31, subgroupBroadcast(x3, 7u), y);
  }
  if (ROWS > 32u) {
    acc32 = addRow(acc32, subgroupBroadcast(x4, 0u), y);
    acc33 = addRow(acc33, subgroupBroadcast(x4, 1u), y);
    acc34 = addRow(acc34, subgroupBroadcast(x4, 2u), y);
    acc35 = addRow(acc35, subgroupBroadcast(x4, 3u), y);
    acc36 = addRow(acc36, subgroupBroadcast(x4, 4u), y);
    acc37 = addRow(acc37, subgroupBroadcast(x4, 5u), y);
    acc38 = addRow(acc38, subgroupBroadcast(x4, 6u), y);
    acc39 = addRow(acc39, subgroupBroadcast(x4, 7u), y);
  }
}

fn scaleRows(s: f32) {
  acc0 *= s; acc1 *= s; acc2 *= s; acc3 *= s;
  acc4 *= s; acc5 *= s; acc6 *= s; acc7 *= s;
  acc8 *= s; acc9 *= s; acc10 *= s; acc11 *= s;
  acc12 *= s; acc13 *= s; acc14 *= s; acc15 *= s;
  acc16 *= s; acc17 *= s; acc18 *= s; acc19 *= s;
  acc20 *= s; acc21 *= s; acc22 *= s; acc23 *= s;
  acc24 *= s; acc25 *= s; acc26 *= s; acc27 *= s;
  acc28 *= s; acc29 *= s; acc30 *= s; acc31 *= s;
  acc32 *= s; acc33 *= s; acc34 *= s; acc35 *= s;
  acc36 *= s; acc37 *= s; acc38 *= s; acc39 *= s;
}

fn activate(x: vec4f) -> vec4f {
  switch ACT {
    case 1u: { return x * cdf4(x); }
    case 2u: { return x * sigmoid4(1.702 * x); }
    case 3u: { return tanh4(x); }
    case 4u: { return keepNan4(max(x, vec4f()), x); }
    case 5u: { return sigmoid4(x); }
    default: { return x; }
  }
}

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(subgroup_invocation_id) lane: u32) {
  let id = group.x + group.y * params.gridX;
  if (id >= params.tiles) { return; }
  let z = id / (params.tilesM * params.tilesN);
  let t = id % (params.tilesM * params.tilesN);
  let row0 = select(t / params.tilesN, t % params.tilesM, params.rowsFirst == 1u) * ROWS;
  let col0 = select(t % params.tilesN, t / params.tilesM, params.rowsFirst == 1u) * 4u * LANES + lane * 4u;
  let rows = min(vec4u(row0 + lane) + vec4u(0u, 1u, 2u, 3u) * LANES, vec4u(params.m - 1u));
  let row4 = min(row0 + lane + 4u * LANES, params.m - 1u);
  let cols = min(vec4u(col0, col0 + 1u, col0 + 2u, col0 + 3u), vec4u(params.n - 1u));
  {
    let rs = rows * select(params.k, 1u, FORM == TN) + z * params.aBatch;
    let r4 = row4 * select(params.k, 1u, FORM == TN) + z * params.aBatch;
    let cs = cols * select(1u, params.k, FORM == NT) + z * params.bBatch;
    for (var k = 0u; k < params.k; k += 4u) {
      let y = loadB(cs, k);
      let x0 = loadA(rs.x, k);
      var x1 = vec4f();
      var x2 = vec4f();
      var x3 = vec4f();
      var x4 = vec4f();
      if (ROWS > LANES) { x1 = loadA(rs.y, k); }
      if (ROWS > 2u * LANES) { x2 = loadA(rs.z, k); x3 = loadA(rs.w, k); }
      if (ROWS > 4u * LANES) { x4 = loadA(r4, k); }
      step(x0, x1, x2, x3, x4, y);
    }
  }
  scaleRows(params.alpha);
  if (PAIR == 1u) {
    let rs = rows * select(params.k2, 1u, FORM == TN) + z * params.a2Batch;
    let r4 = row4 * select(params.k2, 1u, FORM == TN) + z * params.a2Batch;
    let cs = cols * select(1u, params.k2, FORM == NT) + z * params.b2Batch;
    let s = params.alpha2;
    for (var k = 0u; k < params.k2; k += 4u) {
      let y = loadB2(cs, k);
      let x0 = loadA2(rs.x, k) * s;
      var x1 = vec4f();
      var x2 = vec4f();
      var x3 = vec4f();
      var x4 = vec4f();
      if (ROWS > LANES) { x1 = loadA2(rs.y, k) * s; }
      if (ROWS > 2u * LANES) { x2 = loadA2(rs.z, k) * s; x3 = loadA2(rs.w, k) * s; }
      if (ROWS > 4u * LANES) { x4 = loadA2(r4, k) * s; }
      step(x0, x1, x2, x3, x4, y);
    }
  }

  var tile: array<vec4f, 40>;
  tile[0] = acc0; tile[1] = acc1; tile[2] = acc2; tile[3] = acc3;
  if (ROWS > 4u) {
    tile[4] = acc4; tile[5] = acc5; tile[6] = acc6; tile[7] = acc7;
  }
  if (ROWS > 8u) {
    tile[8] = acc8; tile[9] = acc9; tile[10] = acc10; tile[11] = acc11;
    tile[12] = acc12; tile[13] = acc13; tile[14] = acc14; tile[15] = acc15;
  }
  if (ROWS > 16u) {
    tile[16] = acc16; tile[17] = acc17; tile[18] = acc18; tile[19] = acc19;
    tile[20] = acc20; tile[21] = acc21; tile[22] = acc22; tile[23] = acc23;
    tile[24] = acc24; tile[25] = acc25; tile[26] = acc26; tile[27] = acc27;
    tile[28] = acc28; tile[29] = acc29; tile[30] = acc30; tile[31] = acc31;
  }
  if (ROWS > 32u) {
    tile[32] = acc32; tile[33] = acc33; tile[34] = acc34; tile[35] = acc35;
    tile[36] = acc36; tile[37] = acc37; tile[38] = acc38; tile[39] = acc39;
  }
  let last = min(ROWS, params.m - row0);
  for (var r = 0u; r < last; r++) {
    var v = tile[r];
    let at = (z * params.m + row0 + r) * params.n;
    if (ADDEND == 1u) {
      let ci = z * params.cBatch + (row0 + r) * params.cRow + cols;
      v += vec4f(c[ci.x], c[ci.y], c[ci.z], c[ci.w]);
    }
    v = activate(v);
    if (col0 < params.n) { out[at + col0] = v.x; }
    if (col0 + 1u < params.n) { out[at + col0 + 1u] = v.y; }
    if (col0 + 2u < params.n) { out[at + col0 + 2u] = v.z; }
    if (col0 + 3u < params.n) { out[at + col0 + 3u] = v.w; }
  }
}

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
`,
};

export const matmul: Kernel<
  'a' | 'b' | 'a2' | 'b2' | 'c' | 'out',
  'm' | 'n' | 'k' | 'k2' | 'aBatch' | 'bBatch' | 'a2Batch' | 'b2Batch' | 'cRow' | 'cBatch' | 'tilesM' | 'tilesN' | 'tiles' | 'gridX' | 'rowsFirst' | 'alpha' | 'alpha2',
  'FORM' | 'SIDE' | 'PAIR' | 'ADDEND' | 'ACT'
> = {
  name: 'matmul',
  bindings: [
    { name: 'a', access: 'read' },
    { name: 'b', access: 'read' },
    { name: 'a2', access: 'read' },
    { name: 'b2', access: 'read' },
    { name: 'c', access: 'read' },
    { name: 'out', access: 'read_write' },
  ],
  params: [
    { name: 'm', type: 'u32', offset: 0 },
    { name: 'n', type: 'u32', offset: 4 },
    { name: 'k', type: 'u32', offset: 8 },
    { name: 'k2', type: 'u32', offset: 12 },
    { name: 'aBatch', type: 'u32', offset: 16 },
    { name: 'bBatch', type: 'u32', offset: 20 },
    { name: 'a2Batch', type: 'u32', offset: 24 },
    { name: 'b2Batch', type: 'u32', offset: 28 },
    { name: 'cRow', type: 'u32', offset: 32 },
    { name: 'cBatch', type: 'u32', offset: 36 },
    { name: 'tilesM', type: 'u32', offset: 40 },
    { name: 'tilesN', type: 'u32', offset: 44 },
    { name: 'tiles', type: 'u32', offset: 48 },
    { name: 'gridX', type: 'u32', offset: 52 },
    { name: 'rowsFirst', type: 'u32', offset: 56 },
    { name: 'alpha', type: 'f32', offset: 60 },
    { name: 'alpha2', type: 'f32', offset: 64 },
  ],
  paramBytes: 80,
  constants: ['FORM', 'SIDE', 'PAIR', 'ADDEND', 'ACT'],
  subgroups: false,
  source: `// out[z,m,n] = act(alpha·Σ_k A[z,m,k]·B[z,k,n] + alpha2·Σ_k2 A2[z,m,k2]·B2[z,k2,n] + c), f32, on any adapter.
// NN: A (M×K), B (K×N); NT: B stored (N×K); TN: A stored (K×M). A workgroup of SIDE×SIDE invocations computes
// 4·SIDE × 4·SIDE elements, 4×4 an invocation, from slices of depth SIDE in workgroup memory.
// use math.part.wgsl
override FORM: u32 = 0;
override SIDE: u32 = 16;
override PAIR: u32 = 0;
override ADDEND: u32 = 0;
override ACT: u32 = 0;

const NT = 1u;
const TN = 2u;

struct Params {
  m: u32,
  n: u32,
  k: u32,
  k2: u32,
  aBatch: u32,
  bBatch: u32,
  a2Batch: u32,
  b2Batch: u32,
  cRow: u32,
  cBatch: u32,
  tilesM: u32,
  tilesN: u32,
  tiles: u32,
  gridX: u32,
  rowsFirst: u32,
  alpha: f32,
  alpha2: f32,
}

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read> a2: array<f32>;
@group(0) @binding(3) var<storage, read> b2: array<f32>;
@group(0) @binding(4) var<storage, read> c: array<f32>;
@group(0) @binding(5) var<storage, read_write> out: array<f32>;
@group(0) @binding(6) var<uniform> params: Params;

// Entry k·SIDE + i holds rows 4i…4i+3 of A, or columns 4i…4i+3 of B, at inner index k of the slice.
var<workgroup> rowsOfA: array<vec4f, SIDE * SIDE>;
var<workgroup> columnsOfB: array<vec4f, SIDE * SIDE>;

// Four rows of op(A), or four columns of op(B), at inner index k; zeros past the last k, repeats past the last row.
fn loadA(row: u32, k: u32, z: u32) -> vec4f {
  let rows = min(vec4u(row, row + 1u, row + 2u, row + 3u), vec4u(params.m - 1u));
  let kk = min(k, params.k - 1u);
  let i = z * params.aBatch + select(rows * params.k + kk, kk * params.m + rows, FORM == TN);
  return select(vec4f(), vec4f(a[i.x], a[i.y], a[i.z], a[i.w]), k < params.k);
}

fn loadB(column: u32, k: u32, z: u32) -> vec4f {
  let columns = min(vec4u(column, column + 1u, column + 2u, column + 3u), vec4u(params.n - 1u));
  let kk = min(k, params.k - 1u);
  let i = z * params.bBatch + select(kk * params.n + columns, columns * params.k + kk, FORM == NT);
  return select(vec4f(), vec4f(b[i.x], b[i.y], b[i.z], b[i.w]), k < params.k);
}

fn loadA2(row: u32, k: u32, z: u32) -> vec4f {
  let rows = min(vec4u(row, row + 1u, row + 2u, row + 3u), vec4u(params.m - 1u));
  let kk = min(k, params.k2 - 1u);
  let i = z * params.a2Batch + select(rows * params.k2 + kk, kk * params.m + rows, FORM == TN);
  return select(vec4f(), vec4f(a2[i.x], a2[i.y], a2[i.z], a2[i.w]), k < params.k2);
}

fn loadB2(column: u32, k: u32, z: u32) -> vec4f {
  let columns = min(vec4u(column, column + 1u, column + 2u, column + 3u), vec4u(params.n - 1u));
  let kk = min(k, params.k2 - 1u);
  let i = z * params.b2Batch + select(kk * params.n + columns, columns * params.k2 + kk, FORM == NT);
  return select(vec4f(), vec4f(b2[i.x], b2[i.y], b2[i.z], b2[i.w]), k < params.k2);
}

fn activate(x: vec4f) -> vec4f {
  switch ACT {
    case 1u: { return x * cdf4(x); }
    case 2u: { return x * sigmoid4(1.702 * x); }
    case 3u: { return tanh4(x); }
    case 4u: { return keepNan4(max(x, vec4f()), x); }
    case 5u: { return sigmoid4(x); }
    default: { return x; }
  }
}

fn store(x: vec4f, row: u32, column: u32, z: u32) {
  if (row >= params.m) { return; }
  let left = params.n - min(column, params.n);
  let columns = min(vec4u(column, column + 1u, column + 2u, column + 3u), vec4u(params.n - 1u));
  var v = x;
  if (ADDEND == 1u) {
    let i = z * params.cBatch + row * params.cRow + columns;
    v += vec4f(c[i.x], c[i.y], c[i.z], c[i.w]);
  }
  v = activate(v);
  let at = (z * params.m + row) * params.n + column;
  if (left > 0u) { out[at] = v.x; }
  if (left > 1u) { out[at + 1u] = v.y; }
  if (left > 2u) { out[at + 2u] = v.z; }
  if (left > 3u) { out[at + 3u] = v.w; }
}

@compute @workgroup_size(SIDE, SIDE)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let id = group.x + group.y * params.gridX;
  if (id >= params.tiles) { return; }
  let z = id / (params.tilesM * params.tilesN);
  let t = id % (params.tilesM * params.tilesN);
  let row0 = select(t / params.tilesN, t % params.tilesM, params.rowsFirst == 1u) * 4u * SIDE;
  let column0 = select(t % params.tilesN, t / params.tilesM, params.rowsFirst == 1u) * 4u * SIDE;
  // What this invocation brings into workgroup memory, neighbours along the contiguous direction: (4 rows at one k).
  let forA = select(local.yx, local.xy, FORM == TN);
  let forB = select(local.xy, local.yx, FORM == NT);
  var acc0 = vec4f();
  var acc1 = vec4f();
  var acc2 = vec4f();
  var acc3 = vec4f();
  for (var pair = 0u; pair <= PAIR; pair++) {
    let inner = select(params.k, params.k2, pair == 1u);
    for (var k0 = 0u; k0 < inner; k0 += SIDE) {
      var x = vec4f();
      var y = vec4f();
      if (pair == 0u) {
        x = params.alpha * loadA(row0 + 4u * forA.x, k0 + forA.y, z);
        y = loadB(column0 + 4u * forB.x, k0 + forB.y, z);
      } else {
        x = params.alpha2 * loadA2(row0 + 4u * forA.x, k0 + forA.y, z);
        y = loadB2(column0 + 4u * forB.x, k0 + forB.y, z);
      }
      workgroupBarrier();
      rowsOfA[forA.y * SIDE + forA.x] = x;
      columnsOfB[forB.y * SIDE + forB.x] = y;
      workgroupBarrier();
      for (var k = 0u; k < SIDE; k++) {
        let p = rowsOfA[k * SIDE + local.y];
        let q = columnsOfB[k * SIDE + local.x];
        acc0 = fma(vec4f(p.x), q, acc0);
        acc1 = fma(vec4f(p.y), q, acc1);
        acc2 = fma(vec4f(p.z), q, acc2);
        acc3 = fma(vec4f(p.w), q, acc3);
      }
    }
  }
  let row = row0 + 4u * local.y;
  let column = column0 + 4u * local.x;
  store(acc0, row, column, z);
  store(acc1, row + 1u, column, z);
  store(acc2, row + 2u, column, z);
  store(acc3, row + 3u, column, z);
}

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
`,
};

export const normalize: Kernel<
  'x' | 't' | 'u' | 'y',
  'rows' | 'n' | 'weight' | 'eps',
  'ORDER' | 'CENTER' | 'SCALED' | 'LANES' | 'ROWS'
> = {
  name: 'normalize',
  bindings: [
    { name: 'x', access: 'read' },
    { name: 't', access: 'read' },
    { name: 'u', access: 'read' },
    { name: 'y', access: 'read_write' },
  ],
  params: [
    { name: 'rows', type: 'u32', offset: 0 },
    { name: 'n', type: 'u32', offset: 4 },
    { name: 'weight', type: 'f32', offset: 8 },
    { name: 'eps', type: 'f32', offset: 12 },
  ],
  paramBytes: 16,
  constants: ['ORDER', 'CENTER', 'SCALED', 'LANES', 'ROWS'],
  subgroups: false,
  source: `// Rows of length n, with x̂ = (x − μ)·r, r = 1/√(w·Σ(x−μ)² + eps); μ the mean (CENTER = 1) or 0, w = \`weight\`.
// ORDER 0: x̂, times gamma plus beta if SCALED; 1: the derivative of x̂ along t, D(t) = r(t − mean t − x̂·w⟨x̂,t⟩);
// 2: its derivative along u, −r·w(⟨x̂,u⟩D(t) + ⟨x̂,t⟩D(u) + x̂⟨D(u),t⟩).
// use rows.part.wgsl

override ORDER: u32 = 0;
override CENTER: u32 = 1;
override SCALED: u32 = 0;
override LANES: u32 = 1;
override ROWS: u32 = 8;

struct Params {
  rows: u32,
  n: u32,
  weight: f32,
  eps: f32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> t: array<f32>;
@group(0) @binding(2) var<storage, read> u: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

@compute @workgroup_size(LANES, ROWS)
fn main(@builtin(local_invocation_id) local: vec3u, @builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let row = (group.x + group.y * groups.x) * ROWS + local.y;
  let live = row < params.rows;
  let base = select(0u, row * params.n, live);
  let end = select(0u, params.n, live);
  let w = params.weight;
  let mean = f32(CENTER) / f32(params.n);
  var s = 0.0;
  if (CENTER == 1u) {
    for (var j = local.x; j < end; j += LANES) {
      s += x[base + j];
    }
    s = rowSum(s, local) * mean;
  }
  var q = 0.0;
  for (var j = local.x; j < end; j += LANES) {
    let d = x[base + j] - s;
    q = fma(d, d, q);
  }
  let r = inverseSqrt(w * rowSum(q, local) + params.eps);
  if (ORDER == 0u) {
    for (var j = local.x; j < end; j += LANES) {
      let v = (x[base + j] - s) * r;
      y[base + j] = select(v, fma(v, t[j], u[j]), SCALED == 1u);
    }
    return;
  }
  var sumT = 0.0;
  var dotT = 0.0;
  var sumU = 0.0;
  var dotU = 0.0;
  var dotTU = 0.0;
  for (var j = local.x; j < end; j += LANES) {
    let v = (x[base + j] - s) * r;
    let tj = t[base + j];
    sumT += tj;
    dotT = fma(v, tj, dotT);
    if (ORDER == 2u) {
      let uj = u[base + j];
      sumU += uj;
      dotU = fma(v, uj, dotU);
      dotTU = fma(tj, uj, dotTU);
    }
  }
  sumT = rowSum(sumT, local);
  dotT = rowSum(dotT, local);
  if (ORDER == 1u) {
    for (var j = local.x; j < end; j += LANES) {
      let v = (x[base + j] - s) * r;
      y[base + j] = r * (t[base + j] - mean * sumT - v * (w * dotT));
    }
    return;
  }
  sumU = rowSum(sumU, local);
  dotU = rowSum(dotU, local);
  dotTU = rowSum(dotTU, local);
  let inner = r * (dotTU - mean * sumT * sumU - w * dotT * dotU);
  for (var j = local.x; j < end; j += LANES) {
    let v = (x[base + j] - s) * r;
    let dT = r * (t[base + j] - mean * sumT - v * (w * dotT));
    let dU = r * (u[base + j] - mean * sumU - v * (w * dotU));
    y[base + j] = -r * w * (dotU * dT + dotT * dU + v * inner);
  }
}

// Sums and maxima over the LANES invocations that share a row; nothing to do where each row has one invocation.

var<workgroup> shared_values: array<f32, LANES * ROWS>;

fn rowSum(v: f32, local: vec3u) -> f32 {
  if (LANES == 1u) {
    return v;
  }
  let slot = local.y * LANES + local.x;
  workgroupBarrier();
  shared_values[slot] = v;
  workgroupBarrier();
  for (var step = LANES / 2u; step > 0u; step /= 2u) {
    if (local.x < step) {
      shared_values[slot] += shared_values[slot + step];
    }
    workgroupBarrier();
  }
  return shared_values[local.y * LANES];
}

fn rowMax(v: f32, local: vec3u) -> f32 {
  if (LANES == 1u) {
    return v;
  }
  let slot = local.y * LANES + local.x;
  workgroupBarrier();
  shared_values[slot] = v;
  workgroupBarrier();
  for (var step = LANES / 2u; step > 0u; step /= 2u) {
    if (local.x < step) {
      shared_values[slot] = max(shared_values[slot], shared_values[slot + step]);
    }
    workgroupBarrier();
  }
  return shared_values[local.y * LANES];
}
`,
};

export const reduce: Kernel<
  'x' | 'y',
  'outputs' | 'inner' | 'length' | 'chunk' | 'chunks' | 'scale',
  'OP' | 'LANES' | 'ROWS'
> = {
  name: 'reduce',
  bindings: [
    { name: 'x', access: 'read' },
    { name: 'y', access: 'read_write' },
  ],
  params: [
    { name: 'outputs', type: 'u32', offset: 0 },
    { name: 'inner', type: 'u32', offset: 4 },
    { name: 'length', type: 'u32', offset: 8 },
    { name: 'chunk', type: 'u32', offset: 12 },
    { name: 'chunks', type: 'u32', offset: 16 },
    { name: 'scale', type: 'f32', offset: 20 },
  ],
  paramBytes: 32,
  constants: ['OP', 'LANES', 'ROWS'],
  subgroups: false,
  source: `// y[o, c, i] = reduction over r of x[o, r, i], r in the c-th chunk of [0, length): sum (0), max (1) or log Σ exp (2).
// LANES = 1: one invocation an output. LANES > 1: that many share a row (inner = 1) and meet in workgroup memory.

override OP: u32 = 0;
override LANES: u32 = 1;
override ROWS: u32 = 64;

struct Params {
  outputs: u32,
  inner: u32,
  length: u32,
  chunk: u32,
  chunks: u32,
  scale: f32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;

const LOWEST = -3.4028234e38;

var<workgroup> values: array<f32, LANES * ROWS>;
var<workgroup> peaks: array<f32, LANES * ROWS>;

// A partial result: for log Σ exp, \`value\` is Σ exp(x − peak); otherwise only \`value\` counts.
struct Partial {
  value: f32,
  peak: f32,
}

// y, or x where that is a NaN.
fn keepNan(y: f32, x: f32) -> f32 {
  return select(y, x, (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u);
}

fn merge(p: Partial, q: Partial) -> Partial {
  switch (OP) {
    case 0u: { return Partial(p.value + q.value, 0.0); }
    case 1u: { return Partial(keepNan(keepNan(max(p.value, q.value), q.value), p.value), 0.0); }
    default: {
      let peak = max(p.peak, q.peak);
      return Partial(p.value * exp(p.peak - peak) + q.value * exp(q.peak - peak), peak);
    }
  }
}

@compute @workgroup_size(LANES, ROWS)
fn main(@builtin(local_invocation_id) local: vec3u, @builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let row = (group.x + group.y * groups.x) * ROWS + local.y;
  let live = row < params.outputs;
  let i = row % params.inner;
  let c = (row / params.inner) % params.chunks;
  let o = row / (params.inner * params.chunks);
  let first = c * params.chunk;
  let last = select(first, min(first + params.chunk, params.length), live);
  let base = o * params.length * params.inner + i;
  var all = Partial(select(0.0, LOWEST, OP == 1u), LOWEST);
  for (var r = first + local.x; r < last; r += LANES) {
    let v = x[base + r * params.inner];
    all = merge(all, Partial(select(v, 1.0, OP == 2u), v));
  }
  if (LANES > 1u) {
    let slot = local.y * LANES + local.x;
    values[slot] = all.value;
    peaks[slot] = all.peak;
    workgroupBarrier();
    for (var step = LANES / 2u; step > 0u; step /= 2u) {
      if (local.x < step) {
        let merged = merge(Partial(values[slot], peaks[slot]), Partial(values[slot + step], peaks[slot + step]));
        values[slot] = merged.value;
        peaks[slot] = merged.peak;
      }
      workgroupBarrier();
    }
    all = Partial(values[local.y * LANES], peaks[local.y * LANES]);
  }
  if (live && local.x == 0u) {
    y[row] = select(all.value * params.scale, all.peak + log(all.value), OP == 2u);
  }
}
`,
};

export const scatterAdd: Kernel<
  'x' | 'index' | 'y',
  'n' | 'width' | 'first' | 'rows',
  never
> = {
  name: 'scatterAdd',
  bindings: [
    { name: 'x', access: 'read' },
    { name: 'index', access: 'read' },
    { name: 'y', access: 'read_write' },
  ],
  params: [
    { name: 'n', type: 'u32', offset: 0 },
    { name: 'width', type: 'u32', offset: 4 },
    { name: 'first', type: 'u32', offset: 8 },
    { name: 'rows', type: 'u32', offset: 12 },
  ],
  paramBytes: 16,
  constants: [],
  subgroups: false,
  source: `// y[index[i], ·] = Σ over j with index[j] = index[i] of x[j, ·], on a zero-filled y bound from row \`first\`. The first
// occurrence of an index owns its sum and adds in order, so the result does not depend on scheduling.

struct Params {
  n: u32,
  width: u32,
  first: u32,
  rows: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> index: array<i32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.x + id.y * groups.x * 64u;
  if (i >= params.n * params.width) {
    return;
  }
  let owner = i / params.width;
  let column = i % params.width;
  let target_row = index[owner];
  for (var j = 0u; j < owner; j++) {
    if (index[j] == target_row) {
      return;
    }
  }
  var total = 0.0;
  for (var j = owner; j < params.n; j++) {
    if (index[j] == target_row) {
      total += x[j * params.width + column];
    }
  }
  let row = u32(target_row) - params.first;
  if (row < params.rows) {
    y[row * params.width + column] = total;
  }
}
`,
};

export const softmax: Kernel<
  'a' | 'b' | 'c' | 'y',
  'rows' | 'n' | 'causal',
  'MODE' | 'LANES' | 'ROWS'
> = {
  name: 'softmax',
  bindings: [
    { name: 'a', access: 'read' },
    { name: 'b', access: 'read' },
    { name: 'c', access: 'read' },
    { name: 'y', access: 'read_write' },
  ],
  params: [
    { name: 'rows', type: 'u32', offset: 0 },
    { name: 'n', type: 'u32', offset: 4 },
    { name: 'causal', type: 'u32', offset: 8 },
  ],
  paramBytes: 16,
  constants: ['MODE', 'LANES', 'ROWS'],
  subgroups: false,
  source: `// Rows of length n. MODE 0: softmax of a (with \`causal\` = query rows q > 0, row r sees columns ≤ r mod q + n − q);
// 1: log-softmax of a; 2: with probabilities a, a∘(b − ⟨a,b⟩); 3: its derivative in a along c, c∘(b − ⟨a,b⟩) − a∘⟨c,b⟩.
// use rows.part.wgsl

override MODE: u32 = 0;
override LANES: u32 = 1;
override ROWS: u32 = 8;

struct Params {
  rows: u32,
  n: u32,
  causal: u32,
}

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read> c: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

const LOWEST = -3.4028234e38;

@compute @workgroup_size(LANES, ROWS)
fn main(@builtin(local_invocation_id) local: vec3u, @builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let row = (group.x + group.y * groups.x) * ROWS + local.y;
  let live = row < params.rows;
  let n = params.n;
  let base = select(0u, row * n, live);
  var end = select(0u, n, live);
  if (MODE < 2u) {
    if (params.causal > 0u) {
      end = min(end, row % params.causal + 1u + n - params.causal);
    }
    var peak = LOWEST;
    for (var j = local.x; j < end; j += LANES) {
      peak = max(peak, a[base + j]);
    }
    peak = rowMax(peak, local);
    var total = 0.0;
    for (var j = local.x; j < end; j += LANES) {
      total += exp(a[base + j] - peak);
    }
    total = rowSum(total, local);
    if (live) {
      let shift = peak + log(total);
      for (var j = local.x; j < n; j += LANES) {
        let v = a[base + j];
        if (MODE == 1u) {
          y[base + j] = v - shift;
        } else {
          y[base + j] = select(0.0, exp(v - peak) / total, j < end);
        }
      }
    }
    return;
  }
  var first = 0.0;
  var second = 0.0;
  for (var j = local.x; j < end; j += LANES) {
    first = fma(a[base + j], b[base + j], first);
    if (MODE == 3u) {
      second = fma(c[base + j], b[base + j], second);
    }
  }
  first = rowSum(first, local);
  if (MODE == 3u) {
    second = rowSum(second, local);
  }
  for (var j = local.x; j < end; j += LANES) {
    let k = base + j;
    if (MODE == 2u) {
      y[k] = a[k] * (b[k] - first);
    } else {
      y[k] = c[k] * (b[k] - first) - a[k] * second;
    }
  }
}

// Sums and maxima over the LANES invocations that share a row; nothing to do where each row has one invocation.

var<workgroup> shared_values: array<f32, LANES * ROWS>;

fn rowSum(v: f32, local: vec3u) -> f32 {
  if (LANES == 1u) {
    return v;
  }
  let slot = local.y * LANES + local.x;
  workgroupBarrier();
  shared_values[slot] = v;
  workgroupBarrier();
  for (var step = LANES / 2u; step > 0u; step /= 2u) {
    if (local.x < step) {
      shared_values[slot] += shared_values[slot + step];
    }
    workgroupBarrier();
  }
  return shared_values[local.y * LANES];
}

fn rowMax(v: f32, local: vec3u) -> f32 {
  if (LANES == 1u) {
    return v;
  }
  let slot = local.y * LANES + local.x;
  workgroupBarrier();
  shared_values[slot] = v;
  workgroupBarrier();
  for (var step = LANES / 2u; step > 0u; step /= 2u) {
    if (local.x < step) {
      shared_values[slot] = max(shared_values[slot], shared_values[slot + step]);
    }
    workgroupBarrier();
  }
  return shared_values[local.y * LANES];
}
`,
};

export const take: Kernel<
  'x' | 'index' | 'y',
  'n' | 'inputs' | 'outputs' | 'k' | 'missing',
  'PUT'
> = {
  name: 'take',
  bindings: [
    { name: 'x', access: 'read' },
    { name: 'index', access: 'read' },
    { name: 'y', access: 'read_write' },
  ],
  params: [
    { name: 'n', type: 'u32', offset: 0 },
    { name: 'inputs', type: 'u32', offset: 4 },
    { name: 'outputs', type: 'u32', offset: 8 },
    { name: 'k', type: 'u32', offset: 12 },
    { name: 'missing', type: 'u32', offset: 16 },
  ],
  paramBytes: 32,
  constants: ['PUT'],
  subgroups: false,
  source: `// Along the last axis: y[row, j] = x[row, index[row, j]] (PUT = 0), or its transpose
// y[row, c] = Σ over j with index[row, j] = c of x[row, j] (PUT = 1). An index out of range takes \`missing\`, a NaN.

override PUT: u32 = 0;

struct Params {
  n: u32,
  inputs: u32,
  outputs: u32,
  k: u32,
  missing: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> index: array<i32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.x + id.y * groups.x * 64u;
  if (i >= params.n) {
    return;
  }
  let row = i / params.outputs;
  if (PUT == 0u) {
    let column = u32(index[i]);
    y[i] = select(bitcast<f32>(params.missing), x[row * params.inputs + column], column < params.inputs);
    return;
  }
  let column = i32(i % params.outputs);
  var total = 0.0;
  for (var j = 0u; j < params.k; j++) {
    if (index[row * params.k + j] == column) {
      total += x[row * params.k + j];
    }
  }
  y[i] = total;
}
`,
};

export const topk: Kernel<
  'x' | 'y',
  'rows' | 'columns' | 'k',
  never
> = {
  name: 'topk',
  bindings: [
    { name: 'x', access: 'read' },
    { name: 'y', access: 'read_write' },
  ],
  params: [
    { name: 'rows', type: 'u32', offset: 0 },
    { name: 'columns', type: 'u32', offset: 4 },
    { name: 'k', type: 'u32', offset: 8 },
  ],
  paramBytes: 16,
  constants: [],
  subgroups: false,
  source: `// y[row, j] = index of the j-th largest of x[row, ·], the lower index first among equals; one invocation a row.

struct Params {
  rows: u32,
  columns: u32,
  k: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<i32>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let row = id.x + id.y * groups.x * 64u;
  if (row >= params.rows) {
    return;
  }
  let base = row * params.columns;
  var bound = 0.0;
  var boundAt = 0u;
  for (var j = 0u; j < params.k; j++) {
    var best = 0.0;
    var bestAt = params.columns;
    for (var c = 0u; c < params.columns; c++) {
      let v = x[base + c];
      let open = j == 0u || v < bound || (v == bound && c > boundAt);
      if (open && (bestAt == params.columns || v > best)) {
        best = v;
        bestAt = c;
      }
    }
    y[row * params.k + j] = i32(bestAt);
    bound = best;
    boundAt = bestAt;
  }
}
`,
};

export const unary: Kernel<
  'x' | 'y',
  'n' | 'p' | 'q' | 'missing',
  'OP'
> = {
  name: 'unary',
  bindings: [
    { name: 'x', access: 'read' },
    { name: 'y', access: 'read_write' },
  ],
  params: [
    { name: 'n', type: 'u32', offset: 0 },
    { name: 'p', type: 'f32', offset: 4 },
    { name: 'q', type: 'f32', offset: 8 },
    { name: 'missing', type: 'u32', offset: 12 },
  ],
  paramBytes: 16,
  constants: ['OP'],
  subgroups: false,
  source: `// y[i] = f(x[i]) for n vec4s; the elements after the last whole vec4 fall into the buffers' padding.
// use unary.part.wgsl
// use math.part.wgsl

override OP: u32 = 0;

struct Params {
  n: u32,
  p: f32,
  q: f32,
  missing: u32,
}

@group(0) @binding(0) var<storage, read> x: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> y: array<vec4f>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.x + id.y * groups.x * 64u;
  if (i < params.n) {
    y[i] = unary4(x[i], params.p, params.q);
  }
}

// Elementwise functions of one value, chosen by OP; p and q are the op's constants.

const QUICK = 1.702;

// x^p for a constant p; a negative x has a power only where p is whole, and \`missing\`, a NaN, elsewhere.
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
`,
};

export const where: Kernel<
  'mask' | 'a' | 'b' | 'y',
  'n',
  never
> = {
  name: 'where',
  bindings: [
    { name: 'mask', access: 'read' },
    { name: 'a', access: 'read' },
    { name: 'b', access: 'read' },
    { name: 'y', access: 'read_write' },
  ],
  params: [
    { name: 'n', type: 'u32', offset: 0 },
  ],
  paramBytes: 16,
  constants: [],
  subgroups: false,
  source: `// y[i] = mask[i] ≠ 0 ? a[i] : b[i] for n vec4s.

struct Params {
  n: u32,
}

@group(0) @binding(0) var<storage, read> mask: array<vec4f>;
@group(0) @binding(1) var<storage, read> a: array<vec4f>;
@group(0) @binding(2) var<storage, read> b: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4f>;
@group(0) @binding(4) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.x + id.y * groups.x * 64u;
  if (i < params.n) {
    y[i] = select(b[i], a[i], mask[i] != vec4f(0.0));
  }
}
`,
};
