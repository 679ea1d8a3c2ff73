// The contrastive loss of B×B similarities s, from the statistics of contrastive-stats.wgsl (p row, c column softmax).
// MODE 0: loss[z] = Σ_k lse_row + lse_col − 2 s_kk; 1: gradient p + c − 2I; 2: Hessian times t,
// p∘(t − ⟨p,t⟩_row) + c∘(t − ⟨c,t⟩_col).

override MODE: u32 = 0;

struct Params {
  batches: u32,
  n: u32,
}

@group(0) @binding(0) var<storage, read> s: array<f32>;
@group(0) @binding(1) var<storage, read> t: array<f32>;
@group(0) @binding(2) var<storage, read> lse: array<f32>;
@group(0) @binding(3) var<storage, read> dots: array<f32>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;
@group(0) @binding(5) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.x + id.y * groups.x * 64u;
  let n = params.n;
  if (MODE == 0u) {
    if (i >= params.batches) {
      return;
    }
    var total = 0.0;
    for (var k = 0u; k < n; k++) {
      total += lse[(2u * i) * n + k] + lse[(2u * i + 1u) * n + k] - 2.0 * s[(i * n + k) * n + k];
    }
    y[i] = total;
    return;
  }
  if (i >= params.batches * n * n) {
    return;
  }
  let z = i / (n * n);
  let row = (i / n) % n;
  let column = i % n;
  let rowAt = 2u * z * n + row;
  let columnAt = (2u * z + 1u) * n + column;
  let p = exp(s[i] - lse[rowAt]);
  let c = exp(s[i] - lse[columnAt]);
  if (MODE == 1u) {
    y[i] = p + c - select(0.0, 2.0, row == column);
  } else {
    y[i] = p * (t[i] - dots[rowAt]) + c * (t[i] - dots[columnAt]);
  }
}
