// y[i] = mask[i] ≠ 0 ? a[i] : b[i] for n vec4s.

struct Params {
  n: u32,
}

@group(0) @binding(0) var<storage, read> mask: array<vec4f>;
@group(0) @binding(1) var<storage, read> a: array<vec4f>;
@group(0) @binding(2) var<storage, read> b: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4f>;
@group(0) @binding(4) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.x + id.y * groups.x * 64u;
  if (i < params.n) {
    y[i] = select(b[i], a[i], mask[i] != vec4f(0.0));
  }
}
