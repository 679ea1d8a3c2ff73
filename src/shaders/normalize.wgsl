// Rows of length n, with x̂ = (x − μ)·r, r = 1/√(w·Σ(x−μ)² + eps); μ the mean (CENTER = 1) or 0, w = `weight`.
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
