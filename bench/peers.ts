// The libraries we measure against, each behind the same small interface and each in its fastest form.

import { onnxModel, type OnnxNode, transpose } from './onnx-model.ts';
import { type OrtProvider, ortSession, type OrtSession } from './onnx-session.ts';

/** out[z] = A[z] (M×K) · B[z], with B stored K×N (nn) or N×K (nt); batch 1 means plain matrices. */
export interface MatmulSpec {
  readonly form: 'nn' | 'nt';
  readonly batch: number;
  readonly m: number;
  readonly n: number;
  readonly k: number;
}

/** A product with its inputs already on the device. */
export interface PreparedMatmul {
  /** Computes the product `repeat` times and waits once, for the last. */
  run(): Promise<void>;
  result(): Promise<Float32Array>;
  dispose(): void;
}

export interface Peer {
  readonly name: string;
  /** True, or the reason why this peer cannot run here. */
  available(): Promise<true | string>;
  matmul(spec: MatmulSpec, a: Float32Array, b: Float32Array, repeat: number): Promise<PreparedMatmul>;
}

/** Gives Node a browser's `navigator.gpu`, once; call before the peers, and let our engine use the same object. */
export async function installWebGpu(): Promise<GPU> {
  const host = globalThis as { ecifBenchGpu?: GPU };
  if (host.ecifBenchGpu) return host.ecifBenchGpu;
  const { create, globals } = await import('webgpu');
  Object.assign(globalThis, globals);
  const gpu = create([]);
  host.ecifBenchGpu = gpu;
  const navigator = { gpu, userAgent: 'Node', hardwareConcurrency: 2 };
  Object.defineProperty(globalThis, 'navigator', { value: navigator, configurable: true });
  return gpu;
}

const shapeA = ({ batch, m, k }: MatmulSpec): number[] => (batch > 1 ? [batch, m, k] : [m, k]);
const shapeOut = ({ batch, m, n }: MatmulSpec): number[] => (batch > 1 ? [batch, m, n] : [m, n]);
const shapeB = ({ form, batch, n, k }: MatmulSpec): number[] => {
  const matrix = form === 'nt' ? [n, k] : [k, n];
  return batch > 1 ? [batch, ...matrix] : matrix;
};

/** The parts of each library's interface used here; the packages are installed under bench/ only when measuring. */
async function load<T>(name: string): Promise<T> {
  return (await import(name)) as T;
}

async function check(start: () => Promise<unknown>): Promise<true | string> {
  try {
    await start();
    return true;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

interface JaxArray {
  readonly ref: JaxArray;
  reshape(shape: number[]): JaxArray;
  data(): Promise<Float32Array>;
  dispose(): void;
}
interface Jax {
  init(device: string): Promise<string[]>;
  defaultDevice(device: string): string;
  blockUntilReady(arrays: JaxArray[]): Promise<unknown>;
  numpy: {
    array(data: Float32Array): JaxArray;
    matmul(x: JaxArray, y: JaxArray): JaxArray;
    matrixTranspose(x: JaxArray): JaxArray;
  };
}

async function startJax(): Promise<Jax> {
  await installWebGpu();
  const jax = await load<Jax>('@jax-js/jax');
  const devices = await jax.init('webgpu');
  if (!devices.includes('webgpu')) throw new Error('jax-js: no WebGPU device');
  jax.defaultDevice('webgpu');
  return jax;
}

/** jax-js; the transpose is a view that its kernel reads through. */
export const jaxJs: Peer = {
  name: 'jax-js WebGPU',
  available: () => check(startJax),
  async matmul(spec, a, b, repeat) {
    const jax = await startJax();
    const { array, matmul, matrixTranspose } = jax.numpy;
    const x = array(a).reshape(shapeA(spec));
    const y = array(b).reshape(shapeB(spec));
    await jax.blockUntilReady([x, y]);
    const product = (): JaxArray => matmul(x.ref, spec.form === 'nt' ? matrixTranspose(y.ref) : y.ref);
    return {
      async run() {
        const results = Array.from({ length: repeat }, product);
        await jax.blockUntilReady(results);
        for (const r of results) r.dispose();
      },
      result: () => product().data(),
      dispose() {
        x.dispose();
        y.dispose();
      },
    };
  },
};

interface TfTensor {
  data(): Promise<Float32Array>;
  dispose(): void;
}
interface Tf {
  setBackend(name: string): Promise<boolean>;
  backend(): { endComputePassEncoder(): void; submitQueue(): void; device: GPUDevice };
  tensor(data: Float32Array, shape: number[]): TfTensor;
  matMul(a: TfTensor, b: TfTensor, transposeA: boolean, transposeB: boolean): TfTensor;
}

async function startTf(): Promise<Tf> {
  await installWebGpu();
  const tf = await load<Tf>('@tensorflow/tfjs-core');
  await load('@tensorflow/tfjs-backend-webgpu');
  if (!(await tf.setBackend('webgpu'))) throw new Error('tfjs: the WebGPU backend did not start');
  return tf;
}

/** TensorFlow.js; `transposeB` is part of its kernel. */
export const tfJs: Peer = {
  name: 'tfjs WebGPU',
  available: () => check(startTf),
  async matmul(spec, a, b, repeat) {
    const tf = await startTf();
    const x = tf.tensor(a, shapeA(spec));
    const y = tf.tensor(b, shapeB(spec));
    const product = (): TfTensor => tf.matMul(x, y, false, spec.form === 'nt');
    return {
      async run() {
        const results = Array.from({ length: repeat }, product);
        const backend = tf.backend();
        backend.endComputePassEncoder();
        backend.submitQueue();
        await backend.device.queue.onSubmittedWorkDone();
        for (const r of results) r.dispose();
      },
      async result() {
        const out = product();
        const data = await out.data();
        out.dispose();
        return data;
      },
      dispose() {
        x.dispose();
        y.dispose();
      },
    };
  },
};

/**
 * ONNX Runtime. A and B are constants of the model, so they are on the device before the clock starts; a plain B is
 * stored K×N, as exporters store linear layers, and a batch of N×K is transposed by a node.
 */
function onnxRuntime(name: string, provider: OrtProvider): Peer {
  const create = (model: Uint8Array): Promise<OrtSession> => ortSession(model, provider, 'disabled');
  const tiny: MatmulSpec = { form: 'nn', batch: 1, m: 2, n: 2, k: 2 };
  const four = new Float32Array(4);
  return {
    name,
    available: () => check(async () => (await create(ortModel(tiny, four, four, 0))).run({})),
    async matmul(spec, a, b, repeat) {
      const timed = await create(ortModel(spec, a, b, repeat));
      const single = await create(ortModel(spec, a, b, 0));
      return {
        async run() {
          await timed.run({});
        },
        result: async () => (await single.run({})).out.getData(),
        dispose() {
          void timed.release();
          void single.release();
        },
      };
    },
  };
}

/** `repeat` products of which one element each is the output, so that nothing is skipped; 0: one whole product. */
function ortModel(spec: MatmulSpec, a: Float32Array, b: Float32Array, repeat: number): Uint8Array {
  const stored = spec.form === 'nt' && spec.batch === 1;
  const inner = stored ? { name: 'b', dims: [spec.k, spec.n], data: transpose(b, spec.n, spec.k) } : null;
  const constants = [
    { name: 'a', dims: shapeA(spec), data: a },
    inner ?? { name: 'b', dims: shapeB(spec), data: b },
    { name: 'zero', dims: [1], data: new BigInt64Array(1) },
    { name: 'flat', dims: [1], data: BigInt64Array.from([-1n]) },
  ];
  const nodes: OnnxNode[] = [];
  const product = (out: string): void => {
    const turned = spec.form === 'nt' && !stored;
    if (turned) nodes.push({ op: 'Transpose', inputs: ['b'], output: `${out}T`, attributes: { perm: [0, 2, 1] } });
    nodes.push({ op: 'MatMul', inputs: ['a', turned ? `${out}T` : 'b'], output: out });
  };
  if (repeat === 0) {
    product('out');
    return onnxModel({ constants, nodes, output: { name: 'out', dims: shapeOut(spec) } });
  }
  const parts = Array.from({ length: repeat }, (_, i) => `y${i}`);
  for (const y of parts) {
    product(y);
    nodes.push({ op: 'Reshape', inputs: [y, 'flat'], output: `${y}flat` });
    nodes.push({ op: 'Gather', inputs: [`${y}flat`, 'zero'], output: `${y}first`, attributes: { axis: 0 } });
  }
  nodes.push({ op: 'Concat', inputs: parts.map((y) => `${y}first`), output: 'out', attributes: { axis: 0 } });
  return onnxModel({ constants, nodes, output: { name: 'out', dims: [repeat] } });
}

export const ortWebGpu = onnxRuntime('onnxruntime WebGPU', 'webgpu');

/** Native SGEMM on the CPU: what the machine can do without a GPU interface in between. */
export const ortCpu = onnxRuntime('onnxruntime CPU (native)', 'cpu');

/** Everyone, ours excepted. */
export const peers: readonly Peer[] = [jaxJs, tfJs, ortWebGpu, ortCpu];
