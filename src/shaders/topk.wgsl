// y[row, j] = index of the j-th largest of x[row, ·], the lower index first among equals; one invocation a row.

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
