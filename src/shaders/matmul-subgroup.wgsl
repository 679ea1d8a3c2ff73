// out[z,m,n] = act(alpha·Σ_k A[z,m,k]·B[z,k,n] + alpha2·Σ_k2 A2[z,m,k2]·B2[z,k2,n] + c), f32, for subgroups of 4 or 8.
// NN: A (M×K), B (K×N); NT: B stored (N×K); TN: A stored (K×M). One subgroup computes ROWS × 4·LANES: each lane
// loads different rows of A and keeps four columns of B; the rows are shared with subgroupBroadcast.
// use math.part.wgsl
enable subgroups;

override FORM: u32 = 0;
override LANES: u32 = 8;
override ROWS: u32 = 16;
override A_VEC: u32 = 0;
override B_VEC: u32 = 0;
override PAIR: u32 = 0;
override A2_VEC: u32 = 0;
override B2_VEC: u32 = 0;
override TAIL: u32 = 1;
override ADDEND: u32 = 0;
override ACT: u32 = 0;

const NN = 0u;
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

@group(0) @binding(0) var<storage, read> a: array<vec4f>;
@group(0) @binding(1) var<storage, read> b: array<vec4f>;
@group(0) @binding(2) var<storage, read> a2: array<vec4f>;
@group(0) @binding(3) var<storage, read> b2: array<vec4f>;
@group(0) @binding(4) var<storage, read> c: array<f32>;
@group(0) @binding(5) var<storage, read_write> out: array<f32>;
@group(0) @binding(6) var<uniform> params: Params;

var<private> acc0: vec4f;
var<private> acc1: vec4f;
var<private> acc2: vec4f;
var<private> acc3: vec4f;
var<private> acc4: vec4f;
var<private> acc5: vec4f;
var<private> acc6: vec4f;
var<private> acc7: vec4f;
var<private> acc8: vec4f;
var<private> acc9: vec4f;
var<private> acc10: vec4f;
var<private> acc11: vec4f;
var<private> acc12: vec4f;
var<private> acc13: vec4f;
var<private> acc14: vec4f;
var<private> acc15: vec4f;
var<private> acc16: vec4f;
var<private> acc17: vec4f;
var<private> acc18: vec4f;
var<private> acc19: vec4f;
var<private> acc20: vec4f;
var<private> acc21: vec4f;
var<private> acc22: vec4f;
var<private> acc23: vec4f;
var<private> acc24: vec4f;
var<private> acc25: vec4f;
var<private> acc26: vec4f;
var<private> acc27: vec4f;
var<private> acc28: vec4f;
var<private> acc29: vec4f;
var<private> acc30: vec4f;
var<private> acc31: vec4f;
var<private> acc32: vec4f;
var<private> acc33: vec4f;
var<private> acc34: vec4f;
var<private> acc35: vec4f;
var<private> acc36: vec4f;
var<private> acc37: vec4f;
var<private> acc38: vec4f;
var<private> acc39: vec4f;

// Inner indices k…k+3, kept inside the matrix when K is not a multiple of 4.
fn inner(k: u32, size: u32) -> vec4u {
  let ks = vec4u(k, k + 1u, k + 2u, k + 3u);
  return select(ks, min(ks, vec4u(size - 1u)), TAIL == 1u);
}

// Zeros for the inner indices past the last, of which `left` remain.
fn trimRow(x: vec4f, left: u32) -> vec4f {
  return select(select(vec4f(), x, vec4u(0u, 1u, 2u, 3u) < vec4u(left)), x, TAIL == 0u);
}
fn trim(y: mat4x4f, left: u32) -> mat4x4f {
  if (TAIL == 0u) { return y; }
  let z = vec4f();
  return mat4x4f(y[0], select(z, y[1], left > 1u), select(z, y[2], left > 2u), select(z, y[3], left > 3u));
}

// Rows of the first pair: four inner values k…k+3 of one row of op(a), whose k = 0 is element `base`.
fn loadA(base: u32, k: u32) -> vec4f {
  if (A_VEC == 1u) { return a[(base + k) >> 2u]; }
  let at = base + inner(k, params.k) * select(1u, params.m, FORM == TN);
  return trimRow(vec4f(aAt(at.x), aAt(at.y), aAt(at.z), aAt(at.w)), params.k - k);
}
fn aAt(i: u32) -> f32 { return a[i >> 2u][i & 3u]; }

// Columns: inner values k…k+3 (matrix columns) of this lane's four columns of op(b), whose k = 0 are elements `base`.
fn loadB(base: vec4u, k: u32) -> mat4x4f {
  let ks = inner(k, params.k);
  if (FORM == NT) {
    if (B_VEC == 1u) {
      let at = (base + k) >> vec4u(2u);
      return transpose(mat4x4f(b[at.x], b[at.y], b[at.z], b[at.w]));
    }
    return trim(mat4x4f(bAt(base + ks.x), bAt(base + ks.y), bAt(base + ks.z), bAt(base + ks.w)), params.k - k);
  }
  let at = ks * params.n;
  if (B_VEC == 1u) {
    let v = (base.x + at) >> vec4u(2u);
    return trim(mat4x4f(b[v.x], b[v.y], b[v.z], b[v.w]), params.k - k);
  }
  return trim(mat4x4f(bAt(base + at.x), bAt(base + at.y), bAt(base + at.z), bAt(base + at.w)), params.k - k);
}
fn bAt(i: vec4u) -> vec4f {
  let j = i >> vec4u(2u);
  let l = i & vec4u(3u);
  return vec4f(b[j.x][l.x], b[j.y][l.y], b[j.z][l.z], b[j.w][l.w]);
}

// Rows of the second pair: four inner values k…k+3 of one row of op(a2), whose k = 0 is element `base`.
fn loadA2(base: u32, k: u32) -> vec4f {
  if (A2_VEC == 1u) { return a2[(base + k) >> 2u]; }
  let at = base + inner(k, params.k2) * select(1u, params.m, FORM == TN);
  return trimRow(vec4f(a2At(at.x), a2At(at.y), a2At(at.z), a2At(at.w)), params.k2 - k);
}
fn a2At(i: u32) -> f32 { return a2[i >> 2u][i & 3u]; }

// Columns: inner values k…k+3 (matrix columns) of this lane's four columns of op(b2), whose k = 0 are elements `base`.
fn loadB2(base: vec4u, k: u32) -> mat4x4f {
  let ks = inner(k, params.k2);
  if (FORM == NT) {
    if (B2_VEC == 1u) {
      let at = (base + k) >> vec4u(2u);
      return transpose(mat4x4f(b2[at.x], b2[at.y], b2[at.z], b2[at.w]));
    }
    return trim(mat4x4f(b2At(base + ks.x), b2At(base + ks.y), b2At(base + ks.z), b2At(base + ks.w)), params.k2 - k);
  }
  let at = ks * params.n;
  if (B2_VEC == 1u) {
    let v = (base.x + at) >> vec4u(2u);
    return trim(mat4x4f(b2[v.x], b2[v.y], b2[v.z], b2[v.w]), params.k2 - k);
  }
  return trim(mat4x4f(b2At(base + at.x), b2At(base + at.y), b2At(base + at.z), b2At(base + at.w)), params.k2 - k);
}
fn b2At(i: vec4u) -> vec4f {
  let j = i >> vec4u(2u);
  let l = i & vec4u(3u);
  return vec4f(b2[j.x][l.x], b2[j.y][l.y], b2[j.z][l.z], b2[j.w][l.w]);
}

fn addRow(acc: vec4f, x: vec4f, y: mat4x4f) -> vec4f {
  return fma(vec4f(x.w), y[3], fma(vec4f(x.z), y[2], fma(vec4f(x.y), y[1], fma(vec4f(x.x), y[0], acc))));
}

// acc[r] += x[r, k…k+3] · y: lane l holds rows l + LANES·i in xi; y[j] is inner index k+j, this lane's columns.
fn step(x0: vec4f, x1: vec4f, x2: vec4f, x3: vec4f, x4: vec4f, y: mat4x4f) {
  if (LANES == 4u) {
    acc0 = addRow(acc0, subgroupBroadcast(x0, 0u), y);
    acc1 = addRow(acc1, subgroupBroadcast(x0, 1u), y);
    acc2 = addRow(acc2, subgroupBroadcast(x0, 2u), y);
    acc3 = addRow(acc3, subgroupBroadcast(x0, 3u), y);
    acc4 = addRow(acc4, subgroupBroadcast(x1, 0u), y);
    acc5 = addRow(acc5, subgroupBroadcast(x1, 1u), y);
    acc6 = addRow(acc6, subgroupBroadcast(x1, 2u), y);
    acc7 = addRow(acc7, subgroupBroadcast(x1, 3u), y);
    acc8 = addRow(acc8, subgroupBroadcast(x2, 0u), y);
    acc9 = addRow(acc9, subgroupBroadcast(x2, 1u), y);
    acc10 = addRow(acc10, subgroupBroadcast(x2, 2u), y);
    acc11 = addRow(acc11, subgroupBroadcast(x2, 3u), y);
    acc12 = addRow(acc12, subgroupBroadcast(x3, 0u), y);
    acc13 = addRow(acc13, subgroupBroadcast(x3, 1u), y);
    acc14 = addRow(acc14, subgroupBroadcast(x3, 2u), y);
    acc15 = addRow(acc15, subgroupBroadcast(x3, 3u), y);
    return;
  }
  acc0 = addRow(acc0, subgroupBroadcast(x0, 0u), y);
  acc1 = addRow(acc1, subgroupBroadcast(x0, 1u), y);
  acc2 = addRow(acc2, subgroupBroadcast(x0, 2u), y);
  acc3 = addRow(acc3, subgroupBroadcast(x0, 3u), y);
  if (ROWS > 4u) {
    acc4 = addRow(acc4, subgroupBroadcast(x0, 4u), y);
    acc5 = addRow(acc5, subgroupBroadcast(x0, 5u), y);
    acc6 = addRow(acc6, subgroupBroadcast(x0, 6u), y);
    acc7 = addRow(acc7, subgroupBroadcast(x0, 7u), y);
  }
  if (ROWS > 8u) {
    acc8 = addRow(acc8, subgroupBroadcast(x1, 0u), y);
    acc9 = addRow(acc9, subgroupBroadcast(x1, 1u), y);
    acc10 = addRow(acc10, subgroupBroadcast(x1, 2u), y);
    acc11 = addRow(acc11, subgroupBroadcast(x1, 3u), y);
    acc12 = addRow(acc12, subgroupBroadcast(x1, 4u), y);
    acc13 = addRow(acc13, subgroupBroadcast(x1, 5u), y);
    acc14 = addRow(acc14, subgroupBroadcast(x1, 6u), y);
    acc15 = addRow(acc15, subgroupBroadcast(x1, 7u), y);
  }
  if (ROWS > 16u) {
    acc16 = addRow(acc16, subgroupBroadcast(x2, 0u), y);
    acc17 = addRow(acc17, subgroupBroadcast(x2, 1u), y);
    acc18 = addRow(acc18, subgroupBroadcast(x2, 2u), y);
    acc19 = addRow(acc19, subgroupBroadcast(x2, 3u), y);
    acc20 = addRow(acc20, subgroupBroadcast(x2, 4u), y);
    acc21 = addRow(acc21, subgroupBroadcast(x2, 5u), y);
    acc22 = addRow(acc22, subgroupBroadcast(x2, 6u), y);
    acc23 = addRow(acc23, subgroupBroadcast(x2, 7u), y);
    acc24 = addRow(acc24, subgroupBroadcast(x3, 0u), y);
    acc25 = addRow(acc25, subgroupBroadcast(x3, 1u), y);
    acc26 = addRow(acc26, subgroupBroadcast(x3, 2u), y);
    acc27 = addRow(acc27, subgroupBroadcast(x3, 3u), y);
    acc28 = addRow(acc28, subgroupBroadcast(x3, 4u), y);
    acc29 = addRow(acc29, subgroupBroadcast(x3, 5u), y);
    acc30 = addRow(acc30, subgroupBroadcast(x3, 6u), y);
    acc31 = addRow(acc31, subgroupBroadcast(x3, 7u), y);
  }
  if (ROWS > 32u) {
    acc32 = addRow(acc32, subgroupBroadcast(x4, 0u), y);
    acc33 = addRow(acc33, subgroupBroadcast(x4, 1u), y);
    acc34 = addRow(acc34, subgroupBroadcast(x4, 2u), y);
    acc35 = addRow(acc35, subgroupBroadcast(x4, 3u), y);
    acc36 = addRow(acc36, subgroupBroadcast(x4, 4u), y);
    acc37 = addRow(acc37, subgroupBroadcast(x4, 5u), y);
    acc38 = addRow(acc38, subgroupBroadcast(x4, 6u), y);
    acc39 = addRow(acc39, subgroupBroadcast(x4, 7u), y);
  }
}

fn scaleRows(s: f32) {
  acc0 *= s; acc1 *= s; acc2 *= s; acc3 *= s;
  acc4 *= s; acc5 *= s; acc6 *= s; acc7 *= s;
  acc8 *= s; acc9 *= s; acc10 *= s; acc11 *= s;
  acc12 *= s; acc13 *= s; acc14 *= s; acc15 *= s;
  acc16 *= s; acc17 *= s; acc18 *= s; acc19 *= s;
  acc20 *= s; acc21 *= s; acc22 *= s; acc23 *= s;
  acc24 *= s; acc25 *= s; acc26 *= s; acc27 *= s;
  acc28 *= s; acc29 *= s; acc30 *= s; acc31 *= s;
  acc32 *= s; acc33 *= s; acc34 *= s; acc35 *= s;
  acc36 *= s; acc37 *= s; acc38 *= s; acc39 *= s;
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

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(subgroup_invocation_id) lane: u32) {
  let id = group.x + group.y * params.gridX;
  if (id >= params.tiles) { return; }
  let z = id / (params.tilesM * params.tilesN);
  let t = id % (params.tilesM * params.tilesN);
  let row0 = select(t / params.tilesN, t % params.tilesM, params.rowsFirst == 1u) * ROWS;
  let col0 = select(t % params.tilesN, t / params.tilesM, params.rowsFirst == 1u) * 4u * LANES + lane * 4u;
  let rows = min(vec4u(row0 + lane) + vec4u(0u, 1u, 2u, 3u) * LANES, vec4u(params.m - 1u));
  let row4 = min(row0 + lane + 4u * LANES, params.m - 1u);
  let cols = min(vec4u(col0, col0 + 1u, col0 + 2u, col0 + 3u), vec4u(params.n - 1u));
  {
    let rs = rows * select(params.k, 1u, FORM == TN) + z * params.aBatch;
    let r4 = row4 * select(params.k, 1u, FORM == TN) + z * params.aBatch;
    let cs = cols * select(1u, params.k, FORM == NT) + z * params.bBatch;
    for (var k = 0u; k < params.k; k += 4u) {
      let y = loadB(cs, k);
      let x0 = loadA(rs.x, k);
      var x1 = vec4f();
      var x2 = vec4f();
      var x3 = vec4f();
      var x4 = vec4f();
      if (ROWS > LANES) { x1 = loadA(rs.y, k); }
      if (ROWS > 2u * LANES) { x2 = loadA(rs.z, k); x3 = loadA(rs.w, k); }
      if (ROWS > 4u * LANES) { x4 = loadA(r4, k); }
      step(x0, x1, x2, x3, x4, y);
    }
  }
  scaleRows(params.alpha);
  if (PAIR == 1u) {
    let rs = rows * select(params.k2, 1u, FORM == TN) + z * params.a2Batch;
    let r4 = row4 * select(params.k2, 1u, FORM == TN) + z * params.a2Batch;
    let cs = cols * select(1u, params.k2, FORM == NT) + z * params.b2Batch;
    let s = params.alpha2;
    for (var k = 0u; k < params.k2; k += 4u) {
      let y = loadB2(cs, k);
      let x0 = loadA2(rs.x, k) * s;
      var x1 = vec4f();
      var x2 = vec4f();
      var x3 = vec4f();
      var x4 = vec4f();
      if (ROWS > LANES) { x1 = loadA2(rs.y, k) * s; }
      if (ROWS > 2u * LANES) { x2 = loadA2(rs.z, k) * s; x3 = loadA2(rs.w, k) * s; }
      if (ROWS > 4u * LANES) { x4 = loadA2(r4, k) * s; }
      step(x0, x1, x2, x3, x4, y);
    }
  }

  var tile: array<vec4f, 40>;
  tile[0] = acc0; tile[1] = acc1; tile[2] = acc2; tile[3] = acc3;
  if (ROWS > 4u) {
    tile[4] = acc4; tile[5] = acc5; tile[6] = acc6; tile[7] = acc7;
  }
  if (ROWS > 8u) {
    tile[8] = acc8; tile[9] = acc9; tile[10] = acc10; tile[11] = acc11;
    tile[12] = acc12; tile[13] = acc13; tile[14] = acc14; tile[15] = acc15;
  }
  if (ROWS > 16u) {
    tile[16] = acc16; tile[17] = acc17; tile[18] = acc18; tile[19] = acc19;
    tile[20] = acc20; tile[21] = acc21; tile[22] = acc22; tile[23] = acc23;
    tile[24] = acc24; tile[25] = acc25; tile[26] = acc26; tile[27] = acc27;
    tile[28] = acc28; tile[29] = acc29; tile[30] = acc30; tile[31] = acc31;
  }
  if (ROWS > 32u) {
    tile[32] = acc32; tile[33] = acc33; tile[34] = acc34; tile[35] = acc35;
    tile[36] = acc36; tile[37] = acc37; tile[38] = acc38; tile[39] = acc39;
  }
  let last = min(ROWS, params.m - row0);
  for (var r = 0u; r < last; r++) {
    var v = tile[r];
    let at = (z * params.m + row0 + r) * params.n;
    if (ADDEND == 1u) {
      let ci = z * params.cBatch + (row0 + r) * params.cRow + cols;
      v += vec4f(c[ci.x], c[ci.y], c[ci.z], c[ci.w]);
    }
    v = activate(v);
    if (col0 < params.n) { out[at + col0] = v.x; }
    if (col0 + 1u < params.n) { out[at + col0 + 1u] = v.y; }
    if (col0 + 2u < params.n) { out[at + col0 + 2u] = v.z; }
    if (col0 + 3u < params.n) { out[at + col0 + 3u] = v.w; }
  }
}
