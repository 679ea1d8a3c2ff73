// Along the last axis: y[row, j] = x[row, index[row, j]] (PUT = 0), or its transpose
// y[row, c] = Σ over j with index[row, j] = c of x[row, j] (PUT = 1). An index out of range takes `missing`, a NaN.

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
