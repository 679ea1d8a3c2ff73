// flag = min(flag, ordinal) if any of the n values of x is a NaN or an infinity.

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
