// y[o, c, i] = reduction over r of x[o, r, i], r in the c-th chunk of [0, length): sum (0), max (1) or log Σ exp (2).
// LANES = 1: one invocation an output. LANES > 1: that many share a row (inner = 1) and meet in workgroup memory.

override OP: u32 = 0;
override LANES: u32 = 1;
override ROWS: u32 = 64;

struct Params {
  outputs: u32,
  inner: u32,
  length: u32,
  chunk: u32,
  chunks: u32,
  scale: f32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;

const LOWEST = -3.4028234e38;

var<workgroup> values: array<f32, LANES * ROWS>;
var<workgroup> peaks: array<f32, LANES * ROWS>;

// A partial result: for log Σ exp, `value` is Σ exp(x − peak); otherwise only `value` counts.
struct Partial {
  value: f32,
  peak: f32,
}

// y, or x where that is a NaN.
fn keepNan(y: f32, x: f32) -> f32 {
  return select(y, x, (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u);
}

fn merge(p: Partial, q: Partial) -> Partial {
  switch (OP) {
    case 0u: { return Partial(p.value + q.value, 0.0); }
    case 1u: { return Partial(keepNan(keepNan(max(p.value, q.value), q.value), p.value), 0.0); }
    default: {
      let peak = max(p.peak, q.peak);
      return Partial(p.value * exp(p.peak - peak) + q.value * exp(q.peak - peak), peak);
    }
  }
}

@compute @workgroup_size(LANES, ROWS)
fn main(@builtin(local_invocation_id) local: vec3u, @builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let row = (group.x + group.y * groups.x) * ROWS + local.y;
  let live = row < params.outputs;
  let i = row % params.inner;
  let c = (row / params.inner) % params.chunks;
  let o = row / (params.inner * params.chunks);
  let first = c * params.chunk;
  let last = select(first, min(first + params.chunk, params.length), live);
  let base = o * params.length * params.inner + i;
  var all = Partial(select(0.0, LOWEST, OP == 1u), LOWEST);
  for (var r = first + local.x; r < last; r += LANES) {
    let v = x[base + r * params.inner];
    all = merge(all, Partial(select(v, 1.0, OP == 2u), v));
  }
  if (LANES > 1u) {
    let slot = local.y * LANES + local.x;
    values[slot] = all.value;
    peaks[slot] = all.peak;
    workgroupBarrier();
    for (var step = LANES / 2u; step > 0u; step /= 2u) {
      if (local.x < step) {
        let merged = merge(Partial(values[slot], peaks[slot]), Partial(values[slot + step], peaks[slot + step]));
        values[slot] = merged.value;
        peaks[slot] = merged.peak;
      }
      workgroupBarrier();
    }
    all = Partial(values[local.y * LANES], peaks[local.y * LANES]);
  }
  if (live && local.x == 0u) {
    y[row] = select(all.value * params.scale, all.peak + log(all.value), OP == 2u);
  }
}
