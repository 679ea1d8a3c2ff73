// A gradient, a Hessian product and a check of both, on whatever device there is: `npx tsx examples/engine.ts`.
import * as ecif from '../src/index.ts';

const device = await ecif.openDevice();
const rng = ecif.createRng(1);
const normal = (...shape: number[]) =>
  ecif.tensor(
    device,
    Float64Array.from({ length: shape[0] * shape[1] }, () => rng.normal()),
    shape,
  );

const [text, image] = [normal(8, 5), normal(8, 4)]; // eight pairs of features
const theta = { w: normal(5, 4) };
const direction = { w: normal(5, 4) };

// The contrastive loss of S = X·W·Yᵀ/τ, both directions.
const loss = ({ w }: typeof theta) =>
  ecif.contrastive(ecif.matmul(ecif.matmul(text, w), image, { form: 'nt', alpha: 2 }));

const { value, grad } = ecif.valueAndGrad(loss)(theta);
const hv = ecif.hvp(loss, theta, direction);
console.log(`loss      ${(await value.item()).toFixed(4)}  on ${device.kind}`);
console.log('gradient ', [...(await grad.w.data()).slice(0, 4)].map((x) => x.toFixed(4)).join(' '), '…');
console.log('H·v      ', [...(await hv.w.data()).slice(0, 4)].map((x) => x.toFixed(4)).join(' '), '…');
console.log('relative errors against finite differences', await ecif.checkGrads(loss, theta));
