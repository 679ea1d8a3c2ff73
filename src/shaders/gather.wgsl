// y[i, ·] = table[index[i], ·] for rows of `width`, the table bound from row `first` with `rows` rows; other rows keep y, or are NaN
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
