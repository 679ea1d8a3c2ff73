// y[z,t,·] = Σ_s softmax_s(scale·⟨q[z,t,·], k[z,s,·]⟩)·v[z,s,·], without storing the scores. A workgroup of LANES handles
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
