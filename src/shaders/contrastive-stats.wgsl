// Per batch z of B×B similarities: stats[z, 0, k] over row k and stats[z, 1, k] over column k. MODE 0: log Σ exp of s;
// 1: Σ softmax(s)·t, with the log-sum-exps of MODE 0 in `lse`.

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
