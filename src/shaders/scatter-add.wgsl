// y[index[i], ·] = Σ over j with index[j] = index[i] of x[j, ·], on a zero-filled y bound from row `first`. The first
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
