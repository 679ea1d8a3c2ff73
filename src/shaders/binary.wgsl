// y[i] = f(a[·], b[·]) for n vec4s. An operand is read whole (0), as one value (1), as a row repeated (2), or as a
// column whose values each fill a row (3); `row` is the row length in vec4s.
// use binary.part.wgsl
// use math.part.wgsl

override OP: u32 = 0;
override A_MODE: u32 = 0;
override B_MODE: u32 = 0;

struct Params {
  p: f32,
  q: f32,
  n: u32,
  row: u32,
}

@group(0) @binding(0) var<storage, read> a: array<vec4f>;
@group(0) @binding(1) var<storage, read> b: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4f>;
@group(0) @binding(3) var<uniform> params: Params;

fn readA(i: u32) -> vec4f {
  switch (A_MODE) {
    case 0u: { return a[i]; }
    case 1u: { return vec4f(a[0].x); }
    case 2u: { return a[i % params.row]; }
    default: {
      let k = i / params.row;
      return vec4f(a[k / 4u][k % 4u]);
    }
  }
}

fn readB(i: u32) -> vec4f {
  switch (B_MODE) {
    case 0u: { return b[i]; }
    case 1u: { return vec4f(b[0].x); }
    case 2u: { return b[i % params.row]; }
    default: {
      let k = i / params.row;
      return vec4f(b[k / 4u][k % 4u]);
    }
  }
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.x + id.y * groups.x * 64u;
  if (i < params.n) {
    y[i] = binary4(readA(i), readB(i));
  }
}
