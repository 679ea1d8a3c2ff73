// Rows of length n. MODE 0: softmax of a (with `causal` = query rows q > 0, row r sees columns ≤ r mod q + n − q);
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
