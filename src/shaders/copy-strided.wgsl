// y[yStart + Σ kᵢ·yᵢ] = x[xStart + Σ kᵢ·xᵢ] for every index k of a shape d0…d5 (words of any type). An invocation copies
// RUN neighbours of the last axis, of which d5 counts the runs and n those of the whole shape: finding a place costs more than a copy.

struct Params {
  n: u32,
  xStart: u32,
  yStart: u32,
  d1: u32,
  d2: u32,
  d3: u32,
  d4: u32,
  d5: u32,
  x0: u32,
  x1: u32,
  x2: u32,
  x3: u32,
  x4: u32,
  x5: u32,
  y0: u32,
  y1: u32,
  y2: u32,
  y3: u32,
  y4: u32,
  y5: u32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

override RUN: u32 = 1u;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.x + id.y * groups.x * 64u;
  if (i >= params.n) {
    return;
  }
  let r5 = i / params.d5;
  let i5 = (i - r5 * params.d5) * RUN;
  let r4 = r5 / params.d4;
  let i4 = r5 - r4 * params.d4;
  let r3 = r4 / params.d3;
  let i3 = r4 - r3 * params.d3;
  let r2 = r3 / params.d2;
  let i2 = r3 - r2 * params.d2;
  let i0 = r2 / params.d1;
  let i1 = r2 - i0 * params.d1;
  let source = params.xStart + i0 * params.x0 + i1 * params.x1 + i2 * params.x2 + i3 * params.x3 + i4 * params.x4 + i5 * params.x5;
  let target_at = params.yStart + i0 * params.y0 + i1 * params.y1 + i2 * params.y2 + i3 * params.y3 + i4 * params.y4 + i5 * params.y5;
  for (var k = 0u; k < RUN; k++) {
    y[target_at + k * params.y5] = x[source + k * params.x5];
  }
}
