// Sums and maxima over the LANES invocations that share a row; nothing to do where each row has one invocation.

var<workgroup> shared_values: array<f32, LANES * ROWS>;

fn rowSum(v: f32, local: vec3u) -> f32 {
  if (LANES == 1u) {
    return v;
  }
  let slot = local.y * LANES + local.x;
  workgroupBarrier();
  shared_values[slot] = v;
  workgroupBarrier();
  for (var step = LANES / 2u; step > 0u; step /= 2u) {
    if (local.x < step) {
      shared_values[slot] += shared_values[slot + step];
    }
    workgroupBarrier();
  }
  return shared_values[local.y * LANES];
}

fn rowMax(v: f32, local: vec3u) -> f32 {
  if (LANES == 1u) {
    return v;
  }
  let slot = local.y * LANES + local.x;
  workgroupBarrier();
  shared_values[slot] = v;
  workgroupBarrier();
  for (var step = LANES / 2u; step > 0u; step /= 2u) {
    if (local.x < step) {
      shared_values[slot] = max(shared_values[slot], shared_values[slot + step]);
    }
    workgroupBarrier();
  }
  return shared_values[local.y * LANES];
}
