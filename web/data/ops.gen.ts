// Generated from src/autodiff/ops by `npm run gen`; do not edit.

/** The record of an op: its file, its source, and the functions beside it that it uses. */
export interface OpRecord {
  readonly file: string;
  readonly text: string;
  readonly helpers: readonly string[];
}

/** By the name of the op. */
export const OP_RECORDS: Readonly<Record<string, OpRecord>> = {
 "add": {
  "file": "src/autodiff/ops/binary.ts",
  "text": "const addOp = binary({\n  name: 'add',\n  code: 0,\n  value: (a, b) => a + b,\n  jvp:\n    () =>\n    ([da, db]) =>\n      addTangents(da, db),\n  vjp: (ct) => [ct, ct],\n  keeps: 'none',\n});",
  "helpers": []
 },
 "sub": {
  "file": "src/autodiff/ops/binary.ts",
  "text": "const subOp = binary({\n  name: 'sub',\n  code: 1,\n  value: (a, b) => a - b,\n  jvp:\n    () =>\n    ([da, db]) =>\n      da && db ? sub(da, db) : (da ?? (db && neg(db))),\n  vjp: (ct, _x, _y, _params, needs) => [ct, needs[1] ? neg(ct) : null],\n  keeps: 'none',\n});",
  "helpers": []
 },
 "mul": {
  "file": "src/autodiff/ops/binary.ts",
  "text": "const mulOp = binary({\n  name: 'mul',\n  code: 2,\n  value: (a, b) => a * b,\n  jvp:\n    ([a, b]) =>\n    ([da, db]) =>\n      addTangents(da && mul(da, b), db && mul(db, a)),\n  vjp: (ct, [a, b], _y, _params, needs) => [needs[0] ? mul(ct, b) : null, needs[1] ? mul(ct, a) : null],\n  keeps: 'inputs',\n});",
  "helpers": []
 },
 "div": {
  "file": "src/autodiff/ops/binary.ts",
  "text": "/** d(a/b) = da/b − y·db/b. */\nconst divOp = binary({\n  name: 'div',\n  code: 3,\n  value: (a, b) => a / b,\n  jvp:\n    ([, b], y) =>\n    ([da, db]) =>\n      addTangents(da && div(da, b), db && neg(div(mul(db, y), b))),\n  vjp: (ct, [, b], y, _params, needs) => [needs[0] ? div(ct, b) : null, needs[1] ? neg(div(mul(ct, y), b)) : null],\n  keeps: 'both',\n});",
  "helpers": []
 },
 "combine": {
  "file": "src/autodiff/ops/binary.ts",
  "text": "/** p·a + q·b for constants p and q, in one pass over tensors of one shape. */\nconst combineOp: Primitive<{ p: number; q: number }> = {\n  name: 'combine',\n  shape: (inputs) => {\n    expectDtypes('combine', inputs);\n    const [a, b] = inputs.map((x) => x.shape);\n    if (!sameShape(a, b)) {\n      throw new ShapeError(`combine: shapes differ, ${formatShape(a)} and ${formatShape(b)}; use add for broadcasting`);\n    }\n    return inputs[0];\n  },\n  cpu: ({ x: [a, b], y, params: { p, q } }) => {\n    for (let i = 0; i < y.length; i++) y[i] = p * a[i] + q * b[i];\n  },\n  gpu: gpuBinary(12),\n  jvp:\n    (_x, _y, { p, q }) =>\n    ([da, db]) =>\n      da && db ? combine(p, da, q, db) : da ? affine(da, p, 0) : db && affine(db, q, 0),\n  vjp: (ct, _x, _y, { p, q }, needs) => [needs[0] ? affine(ct, p, 0) : null, needs[1] ? affine(ct, q, 0) : null],\n  keeps: 'none',\n};",
  "helpers": []
 },
 "contrastive": {
  "file": "src/autodiff/ops/contrastive.ts",
  "text": "/** L = Σ_k [LSE_j S_kj − S_kk] + [LSE_j S_jk − S_kk], per matrix of the batch. */\nconst contrastiveOp: Primitive<null> = {\n  name: 'contrastive',\n  shape: (inputs) => ({ shape: squareRule('contrastive', inputs).shape.slice(0, -2), dtype: 'real' }),\n  cpu: ({ x: [s], y, shapes: [shape] }) => {\n    const n = shape[shape.length - 1];\n    eachBlock(s, n, (block, first) => {\n      const { lse } = cpuSoftmaxes(block, n);\n      let total = 0;\n      for (let k = 0; k < n; k++) total += lse[k] + lse[n + k] - 2 * block[k * n + k];\n      y[first / (n * n)] = total;\n    });\n  },\n  gpu: gpuContrastive(0),\n  jvp: ([s]) => {\n    const g = contrastiveGrad(s);\n    return ([ds]) => (ds === null ? null : sum(mul(g, ds), [-2, -1]));\n  },\n  vjp: (ct, [s]) => [mul(contrastiveGrad(s), reshape(ct, [...ct.shape, 1, 1]))],\n  keeps: 'inputs',\n};",
  "helpers": [
   "contrastive.ts:cpuSoftmaxes",
   "contrastive.ts:eachBlock"
  ]
 },
 "contrastiveGrad": {
  "file": "src/autodiff/ops/contrastive.ts",
  "text": "/** G = p + c − 2I. */\nconst contrastiveGradOp: Primitive<null> = {\n  name: 'contrastiveGrad',\n  shape: (inputs) => squareRule('contrastiveGrad', inputs),\n  cpu: ({ x: [s], y, shapes: [shape] }) => {\n    const n = shape[shape.length - 1];\n    eachBlock(s, n, (block, first) => {\n      const { p, c } = cpuSoftmaxes(block, n);\n      for (let i = 0; i < n * n; i++) y[first + i] = p[i] + c[i] - (i % (n + 1) === 0 ? 2 : 0);\n    });\n  },\n  gpu: gpuContrastive(1),\n  jvp:\n    ([s]) =>\n    ([ds]) =>\n      ds === null ? null : contrastiveHvp(s, ds),\n  vjp: (ct, [s]) => [contrastiveHvp(s, ct)],\n  keeps: 'inputs',\n};",
  "helpers": [
   "contrastive.ts:cpuSoftmaxes",
   "contrastive.ts:eachBlock"
  ]
 },
 "contrastiveHvp": {
  "file": "src/autodiff/ops/contrastive.ts",
  "text": "/** H·t = p∘(t − ⟨p,t⟩_row) + c∘(t − ⟨c,t⟩_col); positive semi-definite and symmetric in t. */\nconst contrastiveHvpOp: Fused<null> = {\n  name: 'contrastiveHvp',\n  shape: (inputs) => squareRule('contrastiveHvp', inputs),\n  cpu: ({ x: [s, t], y, shapes: [shape] }) => {\n    const n = shape[shape.length - 1];\n    eachBlock(s, n, (block, first) => {\n      const { p, c } = cpuSoftmaxes(block, n);\n      const [rows, columns] = [new Float64Array(n), new Float64Array(n)];\n      for (let k = 0, i = 0; k < n; k++)\n        for (let j = 0; j < n; j++, i++) {\n          rows[k] += p[i] * t[first + i];\n          columns[j] += c[i] * t[first + i];\n        }\n      for (let k = 0, i = 0; k < n; k++)\n        for (let j = 0; j < n; j++, i++)\n          y[first + i] = p[i] * (t[first + i] - rows[k]) + c[i] * (t[first + i] - columns[j]);\n    });\n  },\n  gpu: gpuContrastive(2),\n  define: ([s, t]) => add(softmaxForm(s, t), flip(softmaxForm(flip(s), flip(t)))),\n};",
  "helpers": [
   "contrastive.ts:cpuSoftmaxes",
   "contrastive.ts:eachBlock",
   "contrastive.ts:flip",
   "contrastive.ts:softmaxForm"
  ]
 },
 "reshape": {
  "file": "src/autodiff/ops/layout.ts",
  "text": "const reshapeOp: Primitive<Shape> = {\n  name: 'reshape',\n  alias: true,\n  shape: ([x], target) => {\n    if (sizeOf(x.shape) !== sizeOf(target)) {\n      throw new ShapeError(\n        `reshape: ${formatShape(x.shape)} has ${sizeOf(x.shape)} elements, ${formatShape(target)} has ${sizeOf(target)}; sizes must agree`,\n      );\n    }\n    return { shape: target, dtype: x.dtype };\n  },\n  cpu: ({ x, y }) => y.set(x[0]),\n  gpu: ({ device, x, y }) => gpuCopy('reshape', device, x[0], y, { shape: [y.size], from: at(0, [1]), to: at(0, [1]) }),\n  jvp:\n    (_x, _y, target) =>\n    ([dx]) =>\n      dx === null ? null : reshape(dx, target),\n  vjp: (ct, [x]) => [reshape(ct, x.shape)],\n  keeps: 'none',\n};",
  "helpers": []
 },
 "permute": {
  "file": "src/autodiff/ops/layout.ts",
  "text": "const permuteOp = mover<readonly number[]>(\n  'permute',\n  (shape, order) => {\n    if (order.length !== shape.length || ![...order].sort((a, b) => a - b).every((a, i) => a === i)) {\n      throw new ShapeError(`permute: order [${order.join(',')}] for shape ${formatShape(shape)}; list every axis once`);\n    }\n    return order.map((a) => shape[a]);\n  },\n  (from, to, order) => ({\n    shape: to,\n    from: at(\n      0,\n      order.map((a) => stridesOf(from)[a]),\n    ),\n    to: at(0, stridesOf(to)),\n  }),\n  (ct, _from, order) =>\n    permute(\n      ct,\n      order.map((_, i) => order.indexOf(i)),\n    ),\n  [\n    { inputs: [{ shape: [2, 3, 4], draw: 'normal' }], params: [2, 0, 1] },\n    { inputs: [{ shape: [2, 2, 2, 3, 2, 3], draw: 'normal' }], params: [0, 2, 4, 1, 3, 5] },\n  ],\n);",
  "helpers": [
   "layout.ts:mover"
  ]
 },
 "broadcastTo": {
  "file": "src/autodiff/ops/layout.ts",
  "text": "const broadcastToOp = mover<Shape>(\n  'broadcastTo',\n  (shape, target) => {\n    if (!sameShape(broadcastShapes('broadcastTo', shape, target), target)) {\n      throw new ShapeError(\n        `broadcastTo: ${formatShape(shape)} does not broadcast to ${formatShape(target)}; axes must be equal or 1`,\n      );\n    }\n    return target;\n  },\n  (from, to) => ({ shape: to, from: at(0, broadcastStrides(from, to)), to: at(0, stridesOf(to)) }),\n  (ct, from) => sumTo(ct, broadcastAxes(from, ct.shape), from),\n  [{ inputs: [{ shape: [3, 1], draw: 'normal' }], params: [2, 3, 4] }],\n);",
  "helpers": [
   "layout.ts:mover"
  ]
 },
 "slice": {
  "file": "src/autodiff/ops/layout.ts",
  "text": "const sliceOp = mover<Box>(\n  'slice',\n  (shape, { begin, size }) => {\n    const fits =\n      begin.length === shape.length &&\n      size.length === shape.length &&\n      shape.every((d, i) => begin[i] >= 0 && size[i] >= 0 && begin[i] + size[i] <= d);\n    if (!fits)\n      throw new ShapeError(\n        `slice: begin [${begin.join(',')}] size [${size.join(',')}] leaves ${formatShape(shape)}; stay inside`,\n      );\n    return size;\n  },\n  (from, to, { begin }) => ({\n    shape: to,\n    from: at(offsetOf(begin, stridesOf(from)), stridesOf(from)),\n    to: at(0, stridesOf(to)),\n  }),\n  (ct, from, { begin }) => pad(ct, begin, from),\n  [{ inputs: [{ shape: [4, 5], draw: 'normal' }], params: { begin: [1, 2], size: [2, 3] } }],\n);",
  "helpers": [
   "layout.ts:mover"
  ]
 },
 "pad": {
  "file": "src/autodiff/ops/layout.ts",
  "text": "const padOp = mover<Frame>(\n  'pad',\n  (inner, { begin, shape }) => {\n    const fits =\n      begin.length === inner.length &&\n      shape.length === inner.length &&\n      inner.every((d, i) => begin[i] >= 0 && begin[i] + d <= shape[i]);\n    if (!fits)\n      throw new ShapeError(\n        `pad: ${formatShape(inner)} at [${begin.join(',')}] leaves ${formatShape(shape)}; enlarge the frame`,\n      );\n    return shape;\n  },\n  (from, to, { begin }) => ({\n    shape: from,\n    from: at(0, stridesOf(from)),\n    to: at(offsetOf(begin, stridesOf(to)), stridesOf(to)),\n  }),\n  (ct, from, { begin }) => slice(ct, begin, from),\n  [{ inputs: [{ shape: [2, 3], draw: 'normal' }], params: { begin: [1, 0], shape: [4, 5] } }],\n);",
  "helpers": [
   "layout.ts:mover"
  ]
 },
 "concat": {
  "file": "src/autodiff/ops/layout.ts",
  "text": "const concatOp: Primitive<number> = {\n  name: 'concat',\n  shape: (inputs, axis) => {\n    const [{ shape, dtype }] = inputs;\n    expectDtypes('concat', inputs, ...inputs.map(() => dtype));\n    const fits =\n      Number.isInteger(axis) &&\n      axis >= 0 &&\n      axis < shape.length &&\n      inputs.every((x) => x.shape.length === shape.length && x.shape.every((d, i) => i === axis || d === shape[i]));\n    if (!fits)\n      throw new ShapeError(\n        `concat: axis ${axis} of shapes ${inputs.map((x) => formatShape(x.shape)).join(' ')}; only that axis may differ`,\n      );\n    return {\n      shape: shape.with(\n        axis,\n        inputs.reduce((n, x) => n + x.shape[axis], 0),\n      ),\n      dtype,\n    };\n  },\n  cpu: ({ x, y, shapes, shape, params }) =>\n    concatCopies(shapes, shape, params).forEach((copy, i) => cpuCopy(x[i], y, copy)),\n  gpu: ({ op, device, x, y, shapes, shape, params }) =>\n    concatCopies(shapes, shape, params).forEach((copy, i) => gpuCopy(op, device, x[i], y, copy)),\n  jvp: (x, _y, axis) => (dx) =>\n    concat(\n      dx.map((t, i) => t ?? zeros(x[i].device, x[i].shape)),\n      axis,\n    ),\n  vjp: (ct, x, _y, axis, needs) => {\n    let first = 0;\n    return x.map(({ shape }, i): Tangent => {\n      const begin = shape.map((_, a) => (a === axis ? first : 0));\n      first += shape[axis];\n      return needs[i] ? slice(ct, begin, shape) : null;\n    });\n  },\n  keeps: 'none',\n};",
  "helpers": [
   "layout.ts:concatCopies"
  ]
 },
 "stopGradient": {
  "file": "src/autodiff/ops/layout.ts",
  "text": "/** The identity with derivative zero. */\nconst stopGradientOp: Op<null> = {\n  name: 'stopGradient',\n  alias: true,\n  shape: ([x]) => x,\n  cpu: ({ x, y }) => y.set(x[0]),\n  gpu: ({ device, x, y }) =>\n    gpuCopy('stopGradient', device, x[0], y, { shape: [y.size], from: at(0, [1]), to: at(0, [1]) }),\n  derivative: 'zero',\n};",
  "helpers": []
 },
 "matmul": {
  "file": "src/autodiff/ops/matmul.ts",
  "text": "export const matmulOp: Primitive<MatmulParams> = {\n  name: 'matmul',\n  shape: shapeRule('matmul'),\n  cpu: cpuMatmul,\n  gpu: gpuMatmul,\n  jvp: (x, _y, params) => (dx) => {\n    const terms = termsOf(x, params).flatMap(({ a, b, alpha }, i): Term[] => {\n      const [da, db] = [dx[2 * i], dx[2 * i + 1]];\n      return [...(da ? [{ a: da, b, alpha }] : []), ...(db ? [{ a, b: db, alpha }] : [])];\n    });\n    return sumOfProducts(params.form, terms, params.addend ? dx[dx.length - 1] : null);\n  },\n  vjp: (ct, x, _y, params, needs) => {\n    const parts = termsOf(x, params).flatMap((term, i) =>\n      productVjp(params.form, ct, term, needs.slice(2 * i, 2 * i + 2)),\n    );\n    return params.addend ? [...parts, ct] : parts;\n  },\n  keeps: 'inputs',\n};",
  "helpers": [
   "matmul.ts:cpuProduct",
   "matmul.ts:cpuMatmul",
   "matmul.ts:sumOfProducts",
   "matmul.ts:productVjp",
   "matmul.ts:product",
   "matmul.ts:termsOf"
  ]
 },
 "activatedMatmul": {
  "file": "src/autodiff/ops/matmul.ts",
  "text": "/** matmul followed by an activation, in one kernel. */\nconst activatedMatmulOp: Fused<MatmulParams> = {\n  name: 'activatedMatmul',\n  shape: shapeRule('activatedMatmul'),\n  cpu: cpuMatmul,\n  gpu: gpuMatmul,\n  define: (x, params) => APPLY[params.act](bind(matmulOp, x, { ...params, act: 'none' })),\n};",
  "helpers": [
   "matmul.ts:cpuProduct",
   "matmul.ts:cpuMatmul"
  ]
 },
 "standardize": {
  "file": "src/autodiff/ops/normalize.ts",
  "text": "/** x̂ is the gradient of (1/w)·√(w·Σ(x−μ)² + eps), so its derivatives are symmetric forms. */\nconst standardizeOp: Primitive<Norm> = {\n  name: 'standardize',\n  shape: rowRule('standardize'),\n  cpu: ({ x: [x], y, shape, params }) =>\n    eachRow(x.length, lastOf(shape), (base) => y.set(standardRow(x, base, lastOf(shape), params).hat, base)),\n  gpu: gpuNormalize(0),\n  jvp:\n    ([x], _y, norm) =>\n    ([dx]) =>\n      dx === null ? null : standardizeGrad(x, dx, norm),\n  vjp: (ct, [x], _y, norm) => [standardizeGrad(x, ct, norm)],\n  keeps: 'inputs',\n};",
  "helpers": [
   "normalize.ts:weightOf",
   "normalize.ts:standardRow",
   "normalize.ts:standardize",
   "normalize.ts:standardizeGrad"
  ]
 },
 "standardizeGrad": {
  "file": "src/autodiff/ops/normalize.ts",
  "text": "const standardizeGradOp: Primitive<Norm> = {\n  name: 'standardizeGrad',\n  shape: rowRule('standardizeGrad'),\n  cpu: ({ x: [x, t], y, shape, params }) => {\n    const n = lastOf(shape);\n    eachRow(x.length, n, (base) =>\n      y.set(derivativeRow(standardRow(x, base, n, params), t.subarray(base, base + n), params), base),\n    );\n  },\n  gpu: gpuNormalize(1),\n  jvp:\n    ([x, t], _y, norm) =>\n    ([dx, dt]) =>\n      addTangents(dt && standardizeGrad(x, dt, norm), dx && standardizeGrad2(x, t, dx, norm)),\n  vjp: (ct, [x, t], _y, norm, needs) => [\n    needs[0] ? standardizeGrad2(x, t, ct, norm) : null,\n    needs[1] ? standardizeGrad(x, ct, norm) : null,\n  ],\n  keeps: 'inputs',\n};",
  "helpers": [
   "normalize.ts:weightOf",
   "normalize.ts:standardRow",
   "normalize.ts:derivativeRow",
   "normalize.ts:standardizeGrad",
   "normalize.ts:standardizeGrad2"
  ]
 },
 "standardizeGrad2": {
  "file": "src/autodiff/ops/normalize.ts",
  "text": "/** −r·w(⟨x̂,u⟩D(t) + ⟨x̂,t⟩D(u) + x̂⟨D(u),t⟩). */\nconst standardizeGrad2Op: Fused<Norm> = {\n  name: 'standardizeGrad2',\n  shape: rowRule('standardizeGrad2'),\n  cpu: ({ x: [x, t, u], y, shape, params }) => {\n    const n = lastOf(shape);\n    eachRow(x.length, n, (base) => {\n      const row = standardRow(x, base, n, params);\n      const [tr, ur] = [t.subarray(base, base + n), u.subarray(base, base + n)];\n      const [dT, dU] = [derivativeRow(row, tr, params), derivativeRow(row, ur, params)];\n      const dot = (a: Float64Array, b: Float64Array): number => a.reduce((s, v, j) => s + v * b[j], 0);\n      const [xt, xu, ut] = [dot(row.hat, tr), dot(row.hat, ur), dot(dU, tr)];\n      for (let j = 0; j < n; j++)\n        y[base + j] = -row.r * weightOf(params, n) * (xu * dT[j] + xt * dU[j] + row.hat[j] * ut);\n    });\n  },\n  gpu: gpuNormalize(2),\n  define: ([x, t, u], norm) => {\n    const n = lastOf(x.shape);\n    const w = weightOf(norm, n);\n    const centered = norm.center ? sub(x, mean(x, -1, { keepDims: true })) : x;\n    const r = rsqrt(affine(sum(square(centered), -1, { keepDims: true }), w, norm.eps));\n    const hat = mul(centered, r);\n    const derivative = (v: Tensor): Tensor => {\n      const shifted = norm.center ? sub(v, mean(v, -1, { keepDims: true })) : v;\n      return mul(r, sub(shifted, mul(hat, affine(rowDot(hat, v), w, 0))));\n    };\n    const [dT, dU] = [derivative(t), derivative(u)];\n    const total = add(add(mul(rowDot(hat, u), dT), mul(rowDot(hat, t), dU)), mul(hat, rowDot(dU, t)));\n    return neg(mul(affine(r, w, 0), total));\n  },\n};",
  "helpers": [
   "normalize.ts:weightOf",
   "normalize.ts:standardRow",
   "normalize.ts:derivativeRow",
   "normalize.ts:standardizeGrad2"
  ]
 },
 "layerNorm": {
  "file": "src/autodiff/ops/normalize.ts",
  "text": "/** γ∘x̂ + β. */\nconst layerNormOp: Fused<Norm> = {\n  name: 'layerNorm',\n  shape: ([x, gamma, beta]) => {\n    const spec = rowRule('layerNorm')([x]);\n    expectDtypes('layerNorm', [gamma, beta]);\n    for (const v of [gamma, beta]) {\n      if (!sameShape(v.shape, x.shape.slice(-1)))\n        throw new ShapeError(\n          `layerNorm: scale or shift ${formatShape(v.shape)} for rows of ${lastOf(x.shape)}; give [${lastOf(x.shape)}]`,\n        );\n    }\n    return spec;\n  },\n  cpu: ({ x: [x, gamma, beta], y, shape, params }) => {\n    const n = lastOf(shape);\n    eachRow(x.length, n, (base) =>\n      standardRow(x, base, n, params).hat.forEach((h, j) => (y[base + j] = h * gamma[j] + beta[j])),\n    );\n  },\n  gpu: gpuNormalize(0, 1),\n  define: ([x, gamma, beta], norm) => add(mul(standardize(x, norm), gamma), beta),\n};",
  "helpers": [
   "normalize.ts:weightOf",
   "normalize.ts:standardRow",
   "normalize.ts:standardize"
  ]
 },
 "greaterEqual": {
  "file": "src/autodiff/ops/piecewise.ts",
  "text": "const greaterEqualOp = comparison('greaterEqual', 6, (a, b) => (a >= b ? 1 : 0));",
  "helpers": [
   "piecewise.ts:comparison"
  ]
 },
 "equal": {
  "file": "src/autodiff/ops/piecewise.ts",
  "text": "const equalOp = comparison('equal', 7, (a, b) => (a === b ? 1 : 0));",
  "helpers": [
   "piecewise.ts:comparison"
  ]
 },
 "maximum": {
  "file": "src/autodiff/ops/piecewise.ts",
  "text": "const maximumOp = choice({ name: 'maximum', code: 4, value: Math.max }, (a, b) => greaterEqual(a, b));",
  "helpers": [
   "piecewise.ts:choice"
  ]
 },
 "minimum": {
  "file": "src/autodiff/ops/piecewise.ts",
  "text": "const minimumOp = choice({ name: 'minimum', code: 5, value: Math.min }, (a, b) => greaterEqual(b, a));",
  "helpers": [
   "piecewise.ts:choice"
  ]
 },
 "where": {
  "file": "src/autodiff/ops/piecewise.ts",
  "text": "/** mask ≠ 0 ? a : b, all of one shape. */\nconst whereOp: Primitive<null> = {\n  name: 'where',\n  shape: ([mask, a, b]) => {\n    expectDtypes('where', [mask, a, b]);\n    if (!sameShape(mask.shape, a.shape) || !sameShape(a.shape, b.shape)) {\n      const shapes = [mask, a, b].map((s) => formatShape(s.shape)).join(' ');\n      throw new ShapeError(`where: shapes differ, ${shapes}; broadcastTo first`);\n    }\n    return a;\n  },\n  cpu: ({ x: [mask, a, b], y }) => {\n    for (let i = 0; i < y.length; i++) y[i] = mask[i] !== 0 ? a[i] : b[i];\n  },\n  gpu: gpuWhere,\n  jvp:\n    ([mask]) =>\n    ([, da, db]) => {\n      const like = da ?? db;\n      return like && bind(whereOp, [mask, da ?? affine(like, 0, 0), db ?? affine(like, 0, 0)], null);\n    },\n  vjp: (ct, [mask], _y, _params, needs) => [\n    null,\n    needs[1] ? bind(whereOp, [mask, ct, affine(ct, 0, 0)], null) : null,\n    needs[2] ? bind(whereOp, [mask, affine(ct, 0, 0), ct], null) : null,\n  ],\n  keeps: 'inputs',\n};",
  "helpers": []
 },
 "sum": {
  "file": "src/autodiff/ops/reduce.ts",
  "text": "const sumOp: Primitive<Reduction> = {\n  name: 'sum',\n  shape: shapeRule('sum'),\n  cpu: ({ x, y, shapes, params }) => cpuReduce(x[0], y, shapes[0], params.axes, foldSum),\n  gpu: gpuReduce(0),\n  jvp:\n    (_x, _y, params) =>\n    ([dx]) =>\n      dx === null ? null : bind(sumOp, [dx], params),\n  vjp: (ct, [x], _y, { axes }) => [spread(ct, x, axes)],\n  keeps: 'none',\n};",
  "helpers": [
   "reduce.ts:cpuReduce",
   "reduce.ts:spread",
   "reduce.ts:foldSum"
  ]
 },
 "mean": {
  "file": "src/autodiff/ops/reduce.ts",
  "text": "const meanOp: Primitive<Reduction> = {\n  name: 'mean',\n  shape: shapeRule('mean'),\n  cpu: ({ x, y, shapes, params }) => {\n    cpuReduce(x[0], y, shapes[0], params.axes, foldSum);\n    for (let i = 0; i < y.length; i++) y[i] *= y.length / x[0].length;\n  },\n  gpu: gpuReduce(0, true),\n  jvp:\n    (_x, _y, params) =>\n    ([dx]) =>\n      dx === null ? null : bind(meanOp, [dx], params),\n  vjp: (ct, [x], y, { axes }) => [spread(affine(ct, y.size / x.size, 0), x, axes)],\n  keeps: 'none',\n};",
  "helpers": [
   "reduce.ts:cpuReduce",
   "reduce.ts:spread",
   "reduce.ts:foldSum"
  ]
 },
 "max": {
  "file": "src/autodiff/ops/reduce.ts",
  "text": "/** Tangents of the entries that attain the maximum, shared equally among ties. */\nconst maxOp: Primitive<Reduction> = {\n  name: 'max',\n  shape: shapeRule('max'),\n  cpu: ({ x, y, shapes, params }) => cpuReduce(x[0], y, shapes[0], params.axes, foldMax),\n  gpu: gpuReduce(1),\n  jvp: ([x], y, params) => {\n    const share = argmaxShare(x, y, params);\n    return ([dx]) => (dx === null ? null : bind(sumOp, [mul(share, dx)], params));\n  },\n  vjp: (ct, [x], y, params) => [mul(argmaxShare(x, y, params), keepAxes(ct, x, params.axes))],\n};",
  "helpers": [
   "reduce.ts:cpuReduce",
   "reduce.ts:keepAxes",
   "reduce.ts:foldMax",
   "reduce.ts:argmaxShare"
  ]
 },
 "logSumExp": {
  "file": "src/autodiff/ops/reduce.ts",
  "text": "/** log Σ exp; its derivative is the softmax over the reduced axes. */\nconst logSumExpOp: Primitive<Reduction> = {\n  name: 'logSumExp',\n  shape: shapeRule('logSumExp'),\n  cpu: ({ x, y, shapes, params }) => cpuReduce(x[0], y, shapes[0], params.axes, foldLogSumExp),\n  gpu: gpuReduce(2),\n  jvp: ([x], y, params) => {\n    const p = exp(sub(x, keepAxes(y, x, params.axes)));\n    return ([dx]) => (dx === null ? null : bind(sumOp, [mul(p, dx)], params));\n  },\n  vjp: (ct, [x], y, { axes }) => [mul(exp(sub(x, keepAxes(y, x, axes))), keepAxes(ct, x, axes))],\n};",
  "helpers": [
   "reduce.ts:cpuReduce",
   "reduce.ts:keepAxes",
   "reduce.ts:foldMax",
   "reduce.ts:foldLogSumExp"
  ]
 },
 "topk": {
  "file": "src/autodiff/ops/reduce.ts",
  "text": "const topkOp = picker('topk', (k) => [k], [1, 3, 7]);",
  "helpers": []
 },
 "argmax": {
  "file": "src/autodiff/ops/reduce.ts",
  "text": "const argmaxOp = picker('argmax', () => [], [1]);",
  "helpers": []
 },
 "tanhGrad": {
  "file": "src/autodiff/ops/slopes.ts",
  "text": "/** (1 − y²)·t. */\nconst tanhGradOp = slope({\n  name: 'tanhGrad',\n  code: 8,\n  value: (y, t) => (1 - y * y) * t,\n  apply: (y, t) => tanhGrad(y, t),\n  curvature: (y, t) => affine(mul(y, t), -2, 0),\n});",
  "helpers": [
   "slopes.ts:slope"
  ]
 },
 "sigmoidGrad": {
  "file": "src/autodiff/ops/slopes.ts",
  "text": "/** y(1 − y)·t. */\nconst sigmoidGradOp = slope({\n  name: 'sigmoidGrad',\n  code: 9,\n  value: (y, t) => y * (1 - y) * t,\n  apply: (y, t) => sigmoidGrad(y, t),\n  curvature: (y, t) => mul(affine(y, -2, 1), t),\n});",
  "helpers": [
   "slopes.ts:slope"
  ]
 },
 "geluGrad": {
  "file": "src/autodiff/ops/slopes.ts",
  "text": "/** (Φ(x) + x·φ(x))·t. */\nconst geluGradOp = slope({\n  name: 'geluGrad',\n  code: 10,\n  value: (x, t) => (normalCdf(x) + x * normalPdf(x)) * t,\n  apply: (x, t) => geluGrad(x, t),\n  curvature: (x, t) => mul(geluCurvature(x), t),\n});",
  "helpers": [
   "slopes.ts:slope"
  ]
 },
 "quickGeluGrad": {
  "file": "src/autodiff/ops/slopes.ts",
  "text": "/** (σ + a·x·σ(1 − σ))·t with σ = σ(a·x), a = 1.702. */\nconst quickGeluGradOp = slope({\n  name: 'quickGeluGrad',\n  code: 11,\n  value: (x, t) => {\n    const s = logistic(QUICK * x);\n    return (s + QUICK * x * s * (1 - s)) * t;\n  },\n  apply: (x, t) => quickGeluGrad(x, t),\n  curvature: (x, t) => mul(quickGeluCurvature(x), t),\n});",
  "helpers": [
   "slopes.ts:slope"
  ]
 },
 "softmax": {
  "file": "src/autodiff/ops/softmax.ts",
  "text": "const softmaxOp: Primitive<SoftmaxParams> = {\n  name: 'softmax',\n  shape: ([x], { causal }) => {\n    if (causal) expectRank('softmax', x, 2, 'a causal mask needs rows and columns');\n    return rowRule('softmax')([x]);\n  },\n  cpu: ({ x: [x], y, shape, params: { causal } }) => {\n    const n = lastOf(shape);\n    const queries = causal ? shape[shape.length - 2] : 0;\n    eachRow(x.length, n, (base, row) => {\n      const end = causal ? (row % queries) + 1 + n - queries : n;\n      let peak = -Infinity;\n      for (let j = 0; j < end; j++) peak = Math.max(peak, x[base + j]);\n      let total = 0;\n      for (let j = 0; j < end; j++) total += y[base + j] = Math.exp(x[base + j] - peak);\n      for (let j = 0; j < end; j++) y[base + j] /= total;\n    });\n  },\n  gpu: gpuSoftmax(0),\n  jvp:\n    (_x, y) =>\n    ([dx]) =>\n      dx === null ? null : softmaxGrad(y, dx),\n  vjp: (ct, _x, y) => [softmaxGrad(y, ct)],\n  keeps: 'output',\n};",
  "helpers": [
   "softmax.ts:softmaxGrad"
  ]
 },
 "softmaxGrad": {
  "file": "src/autodiff/ops/softmax.ts",
  "text": "/** p∘(t − ⟨p,t⟩): the Jacobian of softmax at probabilities p, symmetric in t and its cotangent. */\nconst softmaxGradOp: Primitive<null> = {\n  name: 'softmaxGrad',\n  shape: rowRule('softmaxGrad'),\n  cpu: ({ x: [p, t], y, shape }) =>\n    eachRow(p.length, lastOf(shape), (base) => {\n      let dot = 0;\n      for (let j = base; j < base + lastOf(shape); j++) dot += p[j] * t[j];\n      for (let j = base; j < base + lastOf(shape); j++) y[j] = p[j] * (t[j] - dot);\n    }),\n  gpu: gpuSoftmax(2),\n  jvp:\n    ([p, t]) =>\n    ([dp, dt]) =>\n      addTangents(dt && softmaxGrad(p, dt), dp && softmaxGrad2(p, t, dp)),\n  vjp: (ct, [p, t], _y, _params, needs) => [\n    // ⟨ct, dp∘(t − ⟨p,t⟩) − p⟨dp,t⟩⟩ read as a form in dp.\n    needs[0] ? sub(mul(ct, sub(t, rowDot(p, t))), mul(t, rowDot(p, ct))) : null,\n    needs[1] ? softmaxGrad(p, ct) : null,\n  ],\n  keeps: 'inputs',\n};",
  "helpers": [
   "softmax.ts:softmaxGrad",
   "softmax.ts:softmaxGrad2"
  ]
 },
 "softmaxGrad2": {
  "file": "src/autodiff/ops/softmax.ts",
  "text": "/** d∘(t − ⟨p,t⟩) − p∘⟨d,t⟩: the derivative of softmaxGrad in p along d. */\nconst softmaxGrad2Op: Fused<null> = {\n  name: 'softmaxGrad2',\n  shape: rowRule('softmaxGrad2'),\n  cpu: ({ x: [p, t, d], y, shape }) =>\n    eachRow(p.length, lastOf(shape), (base) => {\n      let [pt, dt] = [0, 0];\n      for (let j = base; j < base + lastOf(shape); j++) {\n        pt += p[j] * t[j];\n        dt += d[j] * t[j];\n      }\n      for (let j = base; j < base + lastOf(shape); j++) y[j] = d[j] * (t[j] - pt) - p[j] * dt;\n    }),\n  gpu: gpuSoftmax(3),\n  define: ([p, t, d]) => sub(mul(d, sub(t, rowDot(p, t))), mul(p, rowDot(d, t))),\n};",
  "helpers": [
   "softmax.ts:softmaxGrad",
   "softmax.ts:softmaxGrad2"
  ]
 },
 "logSoftmax": {
  "file": "src/autodiff/ops/softmax.ts",
  "text": "const logSoftmaxOp: Fused<null> = {\n  name: 'logSoftmax',\n  shape: rowRule('logSoftmax'),\n  cpu: ({ x: [x], y, shape }) =>\n    eachRow(x.length, lastOf(shape), (base) => {\n      const row = x.subarray(base, base + lastOf(shape));\n      const peak = row.reduce((m, v) => Math.max(m, v), -Infinity);\n      const shift = peak + Math.log(row.reduce((n, v) => n + Math.exp(v - peak), 0));\n      for (let j = 0; j < row.length; j++) y[base + j] = row[j] - shift;\n    }),\n  gpu: gpuSoftmax(1),\n  define: ([x]) => sub(x, logSumExp(x, -1, { keepDims: true })),\n};",
  "helpers": []
 },
 "affine": {
  "file": "src/autodiff/ops/unary.ts",
  "text": "/** p·x + q. */\nconst affineOp = unary({\n  name: 'affine',\n  code: 0,\n  value: (x, { p, q }) => p * x + q,\n  slope: (t, _x, _y, { p }) => affine(t, p, 0),\n  keeps: 'none',\n  params: [{ p: -1.5, q: 0.5 }],\n});",
  "helpers": [
   "unary.ts:shapeRule",
   "unary.ts:cpuMap",
   "unary.ts:unary"
  ]
 },
 "neg": {
  "file": "src/autodiff/ops/unary.ts",
  "text": "const negOp = unary({ name: 'neg', code: 1, value: (x) => -x, slope: (t) => neg(t), keeps: 'none', });",
  "helpers": [
   "unary.ts:shapeRule",
   "unary.ts:cpuMap",
   "unary.ts:unary"
  ]
 },
 "exp": {
  "file": "src/autodiff/ops/unary.ts",
  "text": "const expOp = unary({\n  name: 'exp',\n  code: 2,\n  value: Math.exp,\n  slope: (t, _x, y) => mul(t, y),\n  keeps: 'output',\n});",
  "helpers": [
   "unary.ts:shapeRule",
   "unary.ts:cpuMap",
   "unary.ts:unary"
  ]
 },
 "log": {
  "file": "src/autodiff/ops/unary.ts",
  "text": "const logOp = unary({\n  name: 'log',\n  code: 3,\n  value: Math.log,\n  slope: (t, x) => div(t, x),\n  keeps: 'inputs',\n});",
  "helpers": [
   "unary.ts:shapeRule",
   "unary.ts:cpuMap",
   "unary.ts:unary"
  ]
 },
 "log1p": {
  "file": "src/autodiff/ops/unary.ts",
  "text": "const log1pOp = unary({\n  name: 'log1p',\n  code: 4,\n  value: Math.log1p,\n  slope: (t, x) => div(t, affine(x, 1, 1)),\n  keeps: 'inputs',\n});",
  "helpers": [
   "unary.ts:shapeRule",
   "unary.ts:cpuMap",
   "unary.ts:unary"
  ]
 },
 "expm1": {
  "file": "src/autodiff/ops/unary.ts",
  "text": "const expm1Op = unary({\n  name: 'expm1',\n  code: 5,\n  value: Math.expm1,\n  slope: (t, _x, y) => mul(t, affine(y, 1, 1)),\n  keeps: 'output',\n});",
  "helpers": [
   "unary.ts:shapeRule",
   "unary.ts:cpuMap",
   "unary.ts:unary"
  ]
 },
 "sqrt": {
  "file": "src/autodiff/ops/unary.ts",
  "text": "const sqrtOp = unary({\n  name: 'sqrt',\n  code: 6,\n  value: Math.sqrt,\n  slope: (t, _x, y) => div(t, affine(y, 2, 0)),\n  keeps: 'output',\n});",
  "helpers": [
   "unary.ts:shapeRule",
   "unary.ts:cpuMap",
   "unary.ts:unary"
  ]
 },
 "rsqrt": {
  "file": "src/autodiff/ops/unary.ts",
  "text": "/** f′ = −½·y³. */\nconst rsqrtOp = unary({\n  name: 'rsqrt',\n  code: 7,\n  value: (x) => 1 / Math.sqrt(x),\n  slope: (t, _x, y) => mul(t, affine(mul(square(y), y), -0.5, 0)),\n  keeps: 'output',\n});",
  "helpers": [
   "unary.ts:shapeRule",
   "unary.ts:cpuMap",
   "unary.ts:unary"
  ]
 },
 "square": {
  "file": "src/autodiff/ops/unary.ts",
  "text": "const squareOp = unary({\n  name: 'square',\n  code: 8,\n  value: (x) => x * x,\n  slope: (t, x) => mul(t, affine(x, 2, 0)),\n  keeps: 'inputs',\n});",
  "helpers": [
   "unary.ts:shapeRule",
   "unary.ts:cpuMap",
   "unary.ts:unary"
  ]
 },
 "abs": {
  "file": "src/autodiff/ops/unary.ts",
  "text": "const absOp = unary({\n  name: 'abs',\n  code: 9,\n  value: Math.abs,\n  slope: (t, x) => mul(t, sign(x)),\n  keeps: 'inputs',\n});",
  "helpers": [
   "unary.ts:shapeRule",
   "unary.ts:cpuMap",
   "unary.ts:unary"
  ]
 },
 "tanh": {
  "file": "src/autodiff/ops/unary.ts",
  "text": "const tanhOp = unary({\n  name: 'tanh',\n  code: 10,\n  value: Math.tanh,\n  slope: (t, _x, y) => tanhGrad(y, t),\n  keeps: 'output',\n});",
  "helpers": [
   "unary.ts:shapeRule",
   "unary.ts:cpuMap",
   "unary.ts:unary"
  ]
 },
 "sigmoid": {
  "file": "src/autodiff/ops/unary.ts",
  "text": "const sigmoidOp = unary({\n  name: 'sigmoid',\n  code: 11,\n  value: logistic,\n  slope: (t, _x, y) => sigmoidGrad(y, t),\n  keeps: 'output',\n});",
  "helpers": [
   "unary.ts:shapeRule",
   "unary.ts:cpuMap",
   "unary.ts:unary"
  ]
 },
 "erf": {
  "file": "src/autodiff/ops/unary.ts",
  "text": "/** f′ = 2/√π·e^{−x²}. */\nconst erfOp = unary({\n  name: 'erf',\n  code: 12,\n  value: erf64,\n  slope: (t, x) => mul(t, affine(exp(neg(square(x))), 2 / Math.sqrt(Math.PI), 0)),\n  keeps: 'inputs',\n});",
  "helpers": [
   "unary.ts:shapeRule",
   "unary.ts:cpuMap",
   "unary.ts:unary"
  ]
 },
 "gelu": {
  "file": "src/autodiff/ops/unary.ts",
  "text": "/** x·Φ(x). */\nconst geluOp = unary({\n  name: 'gelu',\n  code: 13,\n  value: (x) => x * normalCdf(x),\n  slope: (t, x) => geluGrad(x, t),\n  keeps: 'inputs',\n});",
  "helpers": [
   "unary.ts:shapeRule",
   "unary.ts:cpuMap",
   "unary.ts:unary"
  ]
 },
 "quickGelu": {
  "file": "src/autodiff/ops/unary.ts",
  "text": "/** x·σ(1.702·x). */\nconst quickGeluOp = unary({\n  name: 'quickGelu',\n  code: 14,\n  value: (x) => x * logistic(QUICK * x),\n  slope: (t, x) => quickGeluGrad(x, t),\n  keeps: 'inputs',\n});",
  "helpers": [
   "unary.ts:shapeRule",
   "unary.ts:cpuMap",
   "unary.ts:unary"
  ]
 },
 "relu": {
  "file": "src/autodiff/ops/unary.ts",
  "text": "const reluOp = unary({\n  name: 'relu',\n  code: 15,\n  value: (x) => Math.max(x, 0),\n  slope: (t, _x, y) => mul(t, sign(y)),\n  keeps: 'output',\n});",
  "helpers": [
   "unary.ts:shapeRule",
   "unary.ts:cpuMap",
   "unary.ts:unary"
  ]
 },
 "pow": {
  "file": "src/autodiff/ops/unary.ts",
  "text": "/** x^p for a constant p; x > 0 unless p is whole. */\nconst powOp = unary({\n  name: 'pow',\n  code: 16,\n  value: (x, { p }) => x ** p,\n  // p = 0 and p = 1 apart: 0·x⁻¹ has no value at x = 0.\n  slope: (t, x, _y, { p }) => (p === 0 || p === 1 ? affine(t, p, 0) : mul(t, affine(pow(x, p - 1), p, 0))),\n  keeps: 'inputs',\n  params: [\n    { p: 2.5, q: 0 },\n    { p: 3, q: 0 },\n    { p: -1, q: 0 },\n  ],\n});",
  "helpers": [
   "unary.ts:shapeRule",
   "unary.ts:cpuMap",
   "unary.ts:unary"
  ]
 },
 "clamp": {
  "file": "src/autodiff/ops/unary.ts",
  "text": "const clampOp = unary({\n  name: 'clamp',\n  code: 17,\n  value: (x, { p, q }) => Math.min(Math.max(x, p), q),\n  slope: (t, x, y) => mul(t, equal(x, y)),\n  keeps: 'both',\n  params: [{ p: -0.5, q: 0.75 }],\n});",
  "helpers": [
   "unary.ts:shapeRule",
   "unary.ts:cpuMap",
   "unary.ts:unary"
  ]
 },
 "geluCurvature": {
  "file": "src/autodiff/ops/unary.ts",
  "text": "/** gelu″ = φ(x)(2 − x²); its slope is φ(x)·x·(x² − 4). */\nconst geluCurvatureOp = unary({\n  name: 'geluCurvature',\n  code: 18,\n  value: (x) => normalPdf(x) * (2 - x * x),\n  slope: (t, x) => mul(mul(t, pdf(x)), mul(x, affine(square(x), 1, -4))),\n  keeps: 'inputs',\n});",
  "helpers": [
   "unary.ts:shapeRule",
   "unary.ts:cpuMap",
   "unary.ts:unary",
   "unary.ts:pdf"
  ]
 },
 "quickGeluCurvature": {
  "file": "src/autodiff/ops/unary.ts",
  "text": "/** quickGelu″ = a·s(2 + a·x·(1 − 2σ)) with s = σ(1 − σ); its slope is a²·s·(3(1 − 2σ) + a·x·(1 − 6s)). */\nconst quickGeluCurvatureOp = unary({\n  name: 'quickGeluCurvature',\n  code: 19,\n  value: (x) => {\n    const s = logistic(QUICK * x);\n    return QUICK * s * (1 - s) * (2 + QUICK * x * (1 - 2 * s));\n  },\n  slope: (t, x) => {\n    const y = sigmoid(affine(x, QUICK, 0));\n    const s = mul(y, affine(y, -1, 1));\n    const bracket = add(affine(y, -6, 3), mul(affine(x, QUICK, 0), affine(s, -6, 1)));\n    return mul(affine(t, QUICK * QUICK, 0), mul(s, bracket));\n  },\n  keeps: 'inputs',\n});",
  "helpers": [
   "unary.ts:shapeRule",
   "unary.ts:cpuMap",
   "unary.ts:unary"
  ]
 },
 "sign": {
  "file": "src/autodiff/ops/unary.ts",
  "text": "/** −1, 0 or 1. */\nconst signOp: Constant<Pair> = {\n  name: 'sign',\n  shape: shapeRule('sign'),\n  cpu: cpuMap(Math.sign),\n  gpu: gpuUnary(20),\n  derivative: 'zero',\n};",
  "helpers": [
   "unary.ts:shapeRule",
   "unary.ts:cpuMap"
  ]
 }
};

/** Sources of those functions. */
export const OP_HELPERS: Readonly<Record<string, string>> = {
 "contrastive.ts:cpuSoftmaxes": "/** Row and column softmax of one B×B block, in float64. */\nfunction cpuSoftmaxes(s: Float64Array, n: number): { p: Float64Array; c: Float64Array; lse: Float64Array } {\n  const [p, c, lse] = [new Float64Array(n * n), new Float64Array(n * n), new Float64Array(2 * n)];\n  for (const [side, out] of [p, c].entries()) {\n    const [step, stride] = side === 0 ? [n, 1] : [1, n];\n    for (let k = 0; k < n; k++) {\n      const [first, end] = [k * step, k * step + n * stride];\n      let peak = -Infinity;\n      for (let i = first; i < end; i += stride) if (!(s[i] <= peak)) peak = s[i];\n      let total = 0;\n      for (let i = first; i < end; i += stride) total += out[i] = Math.exp(s[i] - peak);\n      lse[side * n + k] = peak + Math.log(total);\n      for (let i = first; i < end; i += stride) out[i] /= total;\n    }\n  }\n  return { p, c, lse };\n}",
 "contrastive.ts:eachBlock": "function eachBlock(s: Float64Array, n: number, run: (block: Float64Array, first: number) => void): void {\n  for (let first = 0; first < s.length; first += n * n) run(s.subarray(first, first + n * n), first);\n}",
 "contrastive.ts:flip": "const flip = (x: Tensor): Tensor =>\n  permute(x, [...x.shape.keys()].with(-1, x.shape.length - 2).with(-2, x.shape.length - 1));",
 "contrastive.ts:softmaxForm": "/** p∘(t − ⟨p,t⟩) with p the softmax of the rows of s. */\nfunction softmaxForm(s: Tensor, t: Tensor): Tensor {\n  const p = softmax(s);\n  return mul(p, sub(t, sum(mul(p, t), -1, { keepDims: true })));\n}",
 "layout.ts:mover": "/** A linear op on one tensor made of one copy; `transpose` maps the cotangent back. */\nfunction mover<P>(\n  name: string,\n  shapeOf: (shape: Shape, params: P) => Shape,\n  copy: (from: Shape, to: Shape, params: P) => Copy,\n  transpose: (ct: Tensor, from: Shape, params: P) => Tensor,\n  samples: Primitive<P>['samples'],\n): Primitive<P> {\n  const op: Primitive<P> = {\n    name,\n    shape: ([x], params) => ({ shape: shapeOf(x.shape, params), dtype: x.dtype }),\n    cpu: ({ x, y, shapes, shape, params }) => cpuCopy(x[0], y, copy(shapes[0], shape, params)),\n    gpu: ({ device, x, y, shapes, shape, params }) => {\n      const box = copy(shapes[0], shape, params);\n      if (sizeOf(box.shape) < y.size) gpuFill(name, device, y, 0);\n      gpuCopy(name, device, x[0], y, box);\n    },\n    jvp:\n      (_x, _y, params) =>\n      ([dx]) =>\n        dx === null ? null : bind(op, [dx], params),\n    vjp: (ct, [x], _y, params) => [transpose(ct, x.shape, params)],\n    keeps: 'none',\n    samples,\n  };\n  return op;\n}",
 "layout.ts:concatCopies": "/** The copies that lay tensors one after another along an axis. */\nfunction concatCopies(shapes: readonly Shape[], target: Shape, axis: number): Copy[] {\n  const strides = stridesOf(target);\n  let first = 0;\n  return shapes.map((shape) => {\n    const start = first * strides[axis];\n    first += shape[axis];\n    return { shape, from: at(0, stridesOf(shape)), to: at(start, strides) };\n  });\n}",
 "matmul.ts:cpuProduct": "/** y += alpha·A·B for one matrix of a batch. */\nfunction cpuProduct(\n  form: MatmulForm,\n  alpha: number,\n  a: Float64Array,\n  b: Float64Array,\n  y: Float64Array,\n  { m, n, k }: { m: number; n: number; k: number },\n): void {\n  if (form === 'nt') {\n    for (let i = 0; i < m; i++) {\n      for (let j = 0; j < n; j++) {\n        let total = 0;\n        for (let p = 0, r = i * k, c = j * k; p < k; p++) total += a[r + p] * b[c + p];\n        y[i * n + j] += alpha * total;\n      }\n    }\n    return;\n  }\n  const [rowStep, innerStep] = form === 'nn' ? [k, 1] : [1, m];\n  for (let i = 0; i < m; i++) {\n    for (let p = 0; p < k; p++) {\n      const factor = alpha * a[i * rowStep + p * innerStep];\n      for (let j = 0, r = i * n, c = p * n; j < n; j++) y[r + j] += factor * b[c + j];\n    }\n  }\n}",
 "matmul.ts:cpuMatmul": "function cpuMatmul({ x, y, shapes, shape, params: { form, alpha, alpha2, addend, act } }: CpuCall<MatmulParams>): void {\n  const [m, n] = shape.slice(-2);\n  const batch = sizeOf(shape.slice(0, -2));\n  if (addend) {\n    const c = x[x.length - 1];\n    for (let i = 0; i < y.length; i++) y[i] = c[i % c.length];\n  }\n  const pairs = [{ at: 0, factor: alpha }, ...(alpha2 === null ? [] : [{ at: 2, factor: alpha2 }])];\n  for (const { at, factor } of pairs) {\n    const { k } = productSizes(form, shapes[at], shapes[at + 1]);\n    for (let z = 0; z < batch; z++) {\n      const part = (i: number): Float64Array => {\n        const size = sizeOf(shapes[i].slice(-2));\n        return shapes[i].length > 2 ? x[i].subarray(z * size, (z + 1) * size) : x[i];\n      };\n      cpuProduct(form, factor, part(at), part(at + 1), y.subarray(z * m * n, (z + 1) * m * n), { m, n, k });\n    }\n  }\n  if (act !== 'none') for (let i = 0; i < y.length; i++) y[i] = ACTIVATIONS[act](y[i]);\n}",
 "matmul.ts:sumOfProducts": "/** Σ alpha·A·B + c in as few kernels as two products each allow; null if there is nothing to add. */\nfunction sumOfProducts(form: MatmulForm, terms: readonly Term[], c: Tangent): Tangent {\n  let total: Tangent = c;\n  for (let i = 0; i < terms.length; i += 2) {\n    const [first, second] = [terms[i], terms.at(i + 1)];\n    const inputs = [first.a, first.b, ...(second ? [second.a, second.b] : []), ...(total ? [total] : [])];\n    const alpha2 = second?.alpha ?? null;\n    total = bind(matmulOp, inputs, { form, alpha: first.alpha, alpha2, addend: total !== null, act: 'none' });\n  }\n  return total;\n}",
 "matmul.ts:productVjp": "/** Cotangents of A and B in alpha·A·B, each again a product of one of the three forms. */\nfunction productVjp(form: MatmulForm, ct: Tensor, { a, b, alpha }: Term, needs: readonly boolean[]): Tangent[] {\n  const da = (): Tensor =>\n    form === 'tn' ? product('nt', b, ct, alpha) : product(form === 'nn' ? 'nt' : 'nn', ct, b, alpha);\n  const db = (): Tensor =>\n    form === 'nt' ? product('tn', ct, a, alpha) : product(form === 'nn' ? 'tn' : 'nn', a, ct, alpha);\n  return [needs[0] ? da() : null, needs[1] ? db() : null];\n}",
 "matmul.ts:product": "const product = (form: MatmulForm, a: Tensor, b: Tensor, alpha: number): Tensor =>\n  bind(matmulOp, [a, b], { form, alpha, alpha2: null, addend: false, act: 'none' });",
 "matmul.ts:termsOf": "const termsOf = (x: readonly Tensor[], { alpha, alpha2 }: MatmulParams): Term[] => [\n  { a: x[0], b: x[1], alpha },\n  ...(alpha2 === null ? [] : [{ a: x[2], b: x[3], alpha: alpha2 }]),\n];",
 "normalize.ts:weightOf": "const weightOf = ({ center }: Norm, n: number): number => (center ? 1 / n : 1);",
 "normalize.ts:standardRow": "/** Row statistics in float64: x̂ and r. */\nfunction standardRow(x: Float64Array, base: number, n: number, norm: Norm): { hat: Float64Array; r: number } {\n  let mu = 0;\n  if (norm.center) for (let j = 0; j < n; j++) mu += x[base + j] / n;\n  let q = 0;\n  for (let j = 0; j < n; j++) q += (x[base + j] - mu) ** 2;\n  const r = 1 / Math.sqrt(weightOf(norm, n) * q + norm.eps);\n  return { hat: Float64Array.from({ length: n }, (_, j) => (x[base + j] - mu) * r), r };\n}",
 "normalize.ts:standardize": "const standardize = (x: Tensor, norm: Norm): Tensor => bind(standardizeOp, [x], norm);",
 "normalize.ts:standardizeGrad": "const standardizeGrad = (x: Tensor, t: Tensor, norm: Norm): Tensor => bind(standardizeGradOp, [x, t], norm);",
 "normalize.ts:derivativeRow": "/** D(t) = r(t − mean t − x̂·w⟨x̂,t⟩). */\nfunction derivativeRow({ hat, r }: { hat: Float64Array; r: number }, t: Float64Array, norm: Norm): Float64Array {\n  const n = hat.length;\n  const shift = norm.center ? t.reduce((a, b) => a + b, 0) / n : 0;\n  const dot = weightOf(norm, n) * hat.reduce((a, h, j) => a + h * t[j], 0);\n  return t.map((v, j) => r * (v - shift - hat[j] * dot));\n}",
 "normalize.ts:standardizeGrad2": "const standardizeGrad2 = (x: Tensor, t: Tensor, u: Tensor, norm: Norm): Tensor =>\n  bind(standardizeGrad2Op, [x, t, u], norm);",
 "piecewise.ts:comparison": "function comparison(name: string, code: number, value: (a: number, b: number) => number): Constant<null> {\n  return {\n    name,\n    shape: broadcastRule(name),\n    cpu: cpuBroadcast(value),\n    gpu: gpuBinary(code),\n    derivative: 'zero',\n  };\n}",
 "piecewise.ts:choice": "/** An op whose value is one of its operands; `first` is 1 where it is `a`. */\nfunction choice(op: Pick<Binary, 'name' | 'code' | 'value'>, first: (a: Tensor, b: Tensor) => Tensor): Primitive<null> {\n  return binary({\n    ...op,\n    jvp: ([a, b]) => {\n      const m = first(a, b);\n      return ([da, db]) => addTangents(da && mul(da, m), db && mul(db, affine(m, -1, 1)));\n    },\n    vjp: (ct, [a, b]) => {\n      const part = mul(ct, first(a, b));\n      return [part, sub(ct, part)];\n    },\n    keeps: 'inputs',\n  });\n}",
 "reduce.ts:cpuReduce": "function cpuReduce(x: Float64Array, y: Float64Array, shape: Shape, axes: readonly number[], fold: Fold): void {\n  let from = x;\n  for (const { outer, length, inner } of runsOf(shape, axes)) {\n    const to = new Float64Array(outer * inner);\n    for (let o = 0; o < outer; o++) {\n      for (let i = 0; i < inner; i++) to[o * inner + i] = fold(from, o * length * inner + i, length, inner);\n    }\n    from = to;\n  }\n  y.set(from);\n}",
 "reduce.ts:spread": "/** A result of a reduction, back over the axes that were reduced. */\nconst spread = (y: Tensor, x: Tensor, axes: readonly number[]): Tensor =>\n  broadcastTo(reshape(y, reducedShape(x.shape, axes, true)), x.shape);",
 "reduce.ts:foldSum": "const foldSum: Fold = (x, first, length, step) => {\n  let total = 0;\n  for (let r = 0; r < length; r++) total += x[first + r * step];\n  return total;\n};",
 "reduce.ts:keepAxes": "const keepAxes = (y: Tensor, x: Tensor, axes: readonly number[]): Tensor =>\n  reshape(y, reducedShape(x.shape, axes, true));",
 "reduce.ts:foldMax": "const foldMax: Fold = (x, first, length, step) => {\n  let best = -Infinity;\n  for (let r = 0; r < length; r++) best = Math.max(best, x[first + r * step]);\n  return best;\n};",
 "reduce.ts:argmaxShare": "function argmaxShare(x: Tensor, y: Tensor, params: Reduction): Tensor {\n  const hits = equal(x, keepAxes(y, x, params.axes));\n  const ties = keepAxes(bind(sumOp, [hits], params), x, params.axes);\n  return div(hits, ties);\n}",
 "reduce.ts:foldLogSumExp": "const foldLogSumExp: Fold = (x, first, length, step) => {\n  const peak = foldMax(x, first, length, step);\n  if (peak === -Infinity) return peak;\n  let total = 0;\n  for (let r = 0; r < length; r++) total += Math.exp(x[first + r * step] - peak);\n  return peak + Math.log(total);\n};",
 "slopes.ts:slope": "function slope({ name, code, value, apply, curvature }: Slope): Primitive<null> {\n  return binary({\n    name,\n    code,\n    value,\n    jvp:\n      ([x, t]) =>\n      ([dx, dt]) =>\n        addTangents(dt && apply(x, dt), dx && mul(curvature(x, t), dx)),\n    vjp: (ct, [x, t], _y, _params, needs) => [\n      needs[0] ? mul(curvature(x, t), ct) : null,\n      needs[1] ? apply(x, ct) : null,\n    ],\n    keeps: 'inputs',\n  });\n}",
 "softmax.ts:softmaxGrad": "const softmaxGrad = (p: Tensor, t: Tensor): Tensor => bind(softmaxGradOp, [p, t], null);",
 "softmax.ts:softmaxGrad2": "const softmaxGrad2 = (p: Tensor, t: Tensor, d: Tensor): Tensor => bind(softmaxGrad2Op, [p, t, d], null);",
 "unary.ts:shapeRule": "const shapeRule =\n  (name: string) =>\n  ([x]: readonly Spec[]): Spec => {\n    expectDtypes(name, [x]);\n    return x;\n  };",
 "unary.ts:cpuMap": "const cpuMap =\n  (value: Unary['value']): Primitive<Pair>['cpu'] =>\n  ({ x: [x], y, params }) => {\n    for (let i = 0; i < y.length; i++) y[i] = value(x[i], params);\n  };",
 "unary.ts:unary": "const unary = ({ name, code, value, slope, keeps, domain, params = [NO_PAIR] }: Unary): Primitive<Pair> => ({\n  name,\n  shape: shapeRule(name),\n  cpu: cpuMap(value),\n  gpu: gpuUnary(code),\n  jvp:\n    ([x], y, pair) =>\n    ([dx]) =>\n      dx === null ? null : slope(dx, x, y, pair),\n  vjp: (ct, [x], y, pair) => [slope(ct, x, y, pair)],\n  keeps,\n});",
 "unary.ts:pdf": "const pdf = (x: Tensor): Tensor => affine(exp(affine(square(x), -0.5, 0)), 1 / Math.sqrt(2 * Math.PI), 0);"
};
