// ONNX Runtime, which is installed under bench/ only when measuring: sessions of models given as bytes.

/** Where a session runs. */
export type OrtProvider = 'cpu' | 'webgpu';

/** A tensor of ONNX Runtime. */
export interface OrtTensor {
  getData(): Promise<Float32Array>;
}

/** A model ready to run; results are in host memory. */
export interface OrtSession {
  run(feeds: Readonly<Record<string, OrtTensor>>): Promise<Record<string, OrtTensor>>;
  release(): Promise<void>;
}

interface Ort {
  InferenceSession: { create(model: Uint8Array, options: Record<string, unknown>): Promise<OrtSession> };
  Tensor: new (type: string, data: Float32Array | BigInt64Array, dims: readonly number[]) => OrtTensor;
}

async function loadOrt(): Promise<Ort> {
  const name = 'onnxruntime-node';
  const module = (await import(name)) as Ort & { default?: Ort };
  return module.default ?? module;
}

/** @param optimise what ONNX Runtime may do to the graph before it runs */
export async function ortSession(
  model: Uint8Array,
  provider: OrtProvider,
  optimise: 'disabled' | 'all',
): Promise<OrtSession> {
  const options = { executionProviders: [provider], graphOptimizationLevel: optimise, logSeverityLevel: 3 };
  return (await loadOrt()).InferenceSession.create(model, options);
}

/** A tensor in host memory, to be given to a session. */
export async function ortTensor(data: Float32Array | BigInt64Array, dims: readonly number[]): Promise<OrtTensor> {
  const { Tensor } = await loadOrt();
  return new Tensor(data instanceof Float32Array ? 'float32' : 'int64', data, dims);
}
