// Compute pipelines, compiled asynchronously and in parallel, one per kernel and set of constants.

import type { Kernel } from '../kernel.ts';

/** A pipeline that may still be compiling. */
export interface Pipeline {
  readonly key: number;
  readonly layout: GPUBindGroupLayout;
  ready: GPUComputePipeline | null;
  readonly promise: Promise<GPUComputePipeline>;
}

interface Module {
  readonly module: GPUShaderModule;
  readonly layout: GPUBindGroupLayout;
  readonly pipelineLayout: GPUPipelineLayout;
  readonly variants: Map<string, Pipeline>;
}

/** Compiles each variant once; all that are asked for compile side by side. */
export class PipelineCache {
  readonly #gpu: GPUDevice;
  readonly #modules = new Map<Kernel, Module>();
  #nextKey = 1;

  constructor(gpu: GPUDevice) {
    this.#gpu = gpu;
  }

  get(kernel: Kernel, constants: Readonly<Record<string, number>>): Pipeline {
    const module = this.#modules.get(kernel) ?? this.#addModule(kernel);
    const variant = kernel.constants.map((c) => constants[c] ?? '').join();
    return module.variants.get(variant) ?? this.#compile(kernel, module, variant, constants);
  }

  get size(): number {
    return [...this.#modules.values()].reduce((n, m) => n + m.variants.size, 0);
  }

  #addModule(kernel: Kernel): Module {
    const entries: GPUBindGroupLayoutEntry[] = kernel.bindings.map((b, binding) => ({
      binding,
      visibility: GPUShaderStage.COMPUTE,
      buffer: { type: b.access === 'read' ? 'read-only-storage' : 'storage' },
    }));
    entries.push({
      binding: kernel.bindings.length,
      visibility: GPUShaderStage.COMPUTE,
      buffer: { type: 'uniform', hasDynamicOffset: true, minBindingSize: kernel.paramBytes },
    });
    const layout = this.#gpu.createBindGroupLayout({ label: kernel.name, entries });
    const module: Module = {
      module: this.#gpu.createShaderModule({ label: kernel.name, code: kernel.source }),
      layout,
      pipelineLayout: this.#gpu.createPipelineLayout({ bindGroupLayouts: [layout] }),
      variants: new Map(),
    };
    this.#modules.set(kernel, module);
    return module;
  }

  #compile(kernel: Kernel, m: Module, variant: string, constants: Readonly<Record<string, number>>): Pipeline {
    const promise = this.#gpu.createComputePipelineAsync({
      label: `${kernel.name}(${variant})`,
      layout: m.pipelineLayout,
      compute: { module: m.module, entryPoint: 'main', constants: { ...constants } },
    });
    const pipeline: Pipeline = { key: this.#nextKey++, layout: m.layout, ready: null, promise };
    promise.then(
      (ready) => (pipeline.ready = ready),
      () => undefined, // reported by whoever waits for the promise
    );
    m.variants.set(variant, pipeline);
    return pipeline;
  }
}
