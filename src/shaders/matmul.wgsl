// out[z,m,n] = act(alpha·Σ_k A[z,m,k]·B[z,k,n] + alpha2·Σ_k2 A2[z,m,k2]·B2[z,k2,n] + c), f32, on any adapter.
// NN: A (M×K), B (K×N); NT: B stored (N×K); TN: A stored (K×M). A workgroup of SIDE×SIDE invocations computes
// 4·SIDE × 4·SIDE elements, 4×4 an invocation, from slices of depth SIDE in workgroup memory.
// use math.part.wgsl
override FORM: u32 = 0;
override SIDE: u32 = 16;
override PAIR: u32 = 0;
override ADDEND: u32 = 0;
override ACT: u32 = 0;

const NT = 1u;
const TN = 2u;

struct Params {
  m: u32,
  n: u32,
  k: u32,
  k2: u32,
  aBatch: u32,
  bBatch: u32,
  a2Batch: u32,
  b2Batch: u32,
  cRow: u32,
  cBatch: u32,
  tilesM: u32,
  tilesN: u32,
  tiles: u32,
  gridX: u32,
  rowsFirst: u32,
  alpha: f32,
  alpha2: f32,
}

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read> a2: array<f32>;
@group(0) @binding(3) var<storage, read> b2: array<f32>;
@group(0) @binding(4) var<storage, read> c: array<f32>;
@group(0) @binding(5) var<storage, read_write> out: array<f32>;
@group(0) @binding(6) var<uniform> params: Params;

// Entry k·SIDE + i holds rows 4i…4i+3 of A, or columns 4i…4i+3 of B, at inner index k of the slice.
var<workgroup> rowsOfA: array<vec4f, SIDE * SIDE>;
var<workgroup> columnsOfB: array<vec4f, SIDE * SIDE>;

// Four rows of op(A), or four columns of op(B), at inner index k; zeros past the last k, repeats past the last row.
fn loadA(row: u32, k: u32, z: u32) -> vec4f {
  let rows = min(vec4u(row, row + 1u, row + 2u, row + 3u), vec4u(params.m - 1u));
  let kk = min(k, params.k - 1u);
  let i = z * params.aBatch + select(rows * params.k + kk, kk * params.m + rows, FORM == TN);
  return select(vec4f(), vec4f(a[i.x], a[i.y], a[i.z], a[i.w]), k < params.k);
}

fn loadB(column: u32, k: u32, z: u32) -> vec4f {
  let columns = min(vec4u(column, column + 1u, column + 2u, column + 3u), vec4u(params.n - 1u));
  let kk = min(k, params.k - 1u);
  let i = z * params.bBatch + select(kk * params.n + columns, columns * params.k + kk, FORM == NT);
  return select(vec4f(), vec4f(b[i.x], b[i.y], b[i.z], b[i.w]), k < params.k);
}

fn loadA2(row: u32, k: u32, z: u32) -> vec4f {
  let rows = min(vec4u(row, row + 1u, row + 2u, row + 3u), vec4u(params.m - 1u));
  let kk = min(k, params.k2 - 1u);
  let i = z * params.a2Batch + select(rows * params.k2 + kk, kk * params.m + rows, FORM == TN);
  return select(vec4f(), vec4f(a2[i.x], a2[i.y], a2[i.z], a2[i.w]), k < params.k2);
}

fn loadB2(column: u32, k: u32, z: u32) -> vec4f {
  let columns = min(vec4u(column, column + 1u, column + 2u, column + 3u), vec4u(params.n - 1u));
  let kk = min(k, params.k2 - 1u);
  let i = z * params.b2Batch + select(kk * params.n + columns, columns * params.k2 + kk, FORM == NT);
  return select(vec4f(), vec4f(b2[i.x], b2[i.y], b2[i.z], b2[i.w]), k < params.k2);
}

fn activate(x: vec4f) -> vec4f {
  switch ACT {
    case 1u: { return x * cdf4(x); }
    case 2u: { return x * sigmoid4(1.702 * x); }
    case 3u: { return tanh4(x); }
    case 4u: { return keepNan4(max(x, vec4f()), x); }
    case 5u: { return sigmoid4(x); }
    default: { return x; }
  }
}

fn store(x: vec4f, row: u32, column: u32, z: u32) {
  if (row >= params.m) { return; }
  let left = params.n - min(column, params.n);
  let columns = min(vec4u(column, column + 1u, column + 2u, column + 3u), vec4u(params.n - 1u));
  var v = x;
  if (ADDEND == 1u) {
    let i = z * params.cBatch + row * params.cRow + columns;
    v += vec4f(c[i.x], c[i.y], c[i.z], c[i.w]);
  }
  v = activate(v);
  let at = (z * params.m + row) * params.n + column;
  if (left > 0u) { out[at] = v.x; }
  if (left > 1u) { out[at + 1u] = v.y; }
  if (left > 2u) { out[at + 2u] = v.z; }
  if (left > 3u) { out[at + 3u] = v.w; }
}

@compute @workgroup_size(SIDE, SIDE)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let id = group.x + group.y * params.gridX;
  if (id >= params.tiles) { return; }
  let z = id / (params.tilesM * params.tilesN);
  let t = id % (params.tilesM * params.tilesN);
  let row0 = select(t / params.tilesN, t % params.tilesM, params.rowsFirst == 1u) * 4u * SIDE;
  let column0 = select(t % params.tilesN, t / params.tilesM, params.rowsFirst == 1u) * 4u * SIDE;
  // What this invocation brings into workgroup memory, neighbours along the contiguous direction: (4 rows at one k).
  let forA = select(local.yx, local.xy, FORM == TN);
  let forB = select(local.xy, local.yx, FORM == NT);
  var acc0 = vec4f();
  var acc1 = vec4f();
  var acc2 = vec4f();
  var acc3 = vec4f();
  for (var pair = 0u; pair <= PAIR; pair++) {
    let inner = select(params.k, params.k2, pair == 1u);
    for (var k0 = 0u; k0 < inner; k0 += SIDE) {
      var x = vec4f();
      var y = vec4f();
      if (pair == 0u) {
        x = params.alpha * loadA(row0 + 4u * forA.x, k0 + forA.y, z);
        y = loadB(column0 + 4u * forB.x, k0 + forB.y, z);
      } else {
        x = params.alpha2 * loadA2(row0 + 4u * forA.x, k0 + forA.y, z);
        y = loadB2(column0 + 4u * forB.x, k0 + forB.y, z);
      }
      workgroupBarrier();
      rowsOfA[forA.y * SIDE + forA.x] = x;
      columnsOfB[forB.y * SIDE + forB.x] = y;
      workgroupBarrier();
      for (var k = 0u; k < SIDE; k++) {
        let p = rowsOfA[k * SIDE + local.y];
        let q = columnsOfB[k * SIDE + local.x];
        acc0 = fma(vec4f(p.x), q, acc0);
        acc1 = fma(vec4f(p.y), q, acc1);
        acc2 = fma(vec4f(p.z), q, acc2);
        acc3 = fma(vec4f(p.w), q, acc3);
      }
    }
  }
  let row = row0 + 4u * local.y;
  let column = column0 + 4u * local.x;
  store(acc0, row, column, z);
  store(acc1, row + 1u, column, z);
  store(acc2, row + 2u, column, z);
  store(acc3, row + 3u, column, z);
}
