// y[i] = f(x[i]) for n vec4s; the elements after the last whole vec4 fall into the buffers' padding.
// use unary.part.wgsl
// use math.part.wgsl

override OP: u32 = 0;

struct Params {
  n: u32,
  p: f32,
  q: f32,
  missing: u32,
}

@group(0) @binding(0) var<storage, read> x: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> y: array<vec4f>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.x + id.y * groups.x * 64u;
  if (i < params.n) {
    y[i] = unary4(x[i], params.p, params.q);
  }
}
