// y[i, ·] = table[index[i], ·] for rows of `width`, the table bound from row `first` with `rows` rows; other rows keep y.

struct Params {
  n: u32,
  width: u32,
  first: u32,
  rows: u32,
}

@group(0) @binding(0) var<storage, read> source: array<f32>;
@group(0) @binding(1) var<storage, read> index: array<i32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.x + id.y * groups.x * 64u;
  if (i >= params.n) {
    return;
  }
  let k = i / params.width;
  let row = u32(index[k]) - params.first;
  if (row < params.rows) {
    y[i] = source[row * params.width + i % params.width];
  }
}
