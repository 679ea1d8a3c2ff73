// y[i] = f(a[·], b[·]) for n elements of a shape d0…d5, operands read with strides (0 where they are broadcast).
// use binary.part.wgsl
// use math.part.wgsl

override OP: u32 = 0;

struct Params {
  p: f32,
  q: f32,
  n: u32,
  d1: u32,
  d2: u32,
  d3: u32,
  d4: u32,
  d5: u32,
  a0: u32,
  a1: u32,
  a2: u32,
  a3: u32,
  a4: u32,
  a5: u32,
  b0: u32,
  b1: u32,
  b2: u32,
  b3: u32,
  b4: u32,
  b5: u32,
}

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.x + id.y * groups.x * 64u;
  if (i >= params.n) {
    return;
  }
  let r5 = i / params.d5;
  let i5 = i - r5 * params.d5;
  let r4 = r5 / params.d4;
  let i4 = r5 - r4 * params.d4;
  let r3 = r4 / params.d3;
  let i3 = r4 - r3 * params.d3;
  let r2 = r3 / params.d2;
  let i2 = r3 - r2 * params.d2;
  let i0 = r2 / params.d1;
  let i1 = r2 - i0 * params.d1;
  let p = i0 * params.a0 + i1 * params.a1 + i2 * params.a2 + i3 * params.a3 + i4 * params.a4 + i5 * params.a5;
  let q = i0 * params.b0 + i1 * params.b1 + i2 * params.b2 + i3 * params.b3 + i4 * params.b4 + i5 * params.b5;
  y[i] = binary4(vec4f(a[p]), vec4f(b[q])).x;
}
