// The typed description of one WGSL kernel; `shaders/kernels.gen.ts` holds one per `.wgsl` file.

/** A scalar field of a kernel's `Params` uniform struct. */
export interface KernelParam<P extends string = string> {
  readonly name: P;
  readonly type: 'u32' | 'i32' | 'f32';
  readonly offset: number;
}

/**
 * One WGSL module with a single entry point `main`: storage bindings 0…n−1 of group 0, then the uniform `params` at
 * binding n (bound with a dynamic offset), and `override` constants.
 */
export interface Kernel<B extends string = string, P extends string = string, C extends string = string> {
  readonly name: string;
  readonly source: string;
  readonly bindings: readonly { readonly name: B; readonly access: 'read' | 'read_write' }[];
  readonly params: readonly KernelParam<P>[];
  readonly paramBytes: number;
  readonly constants: readonly C[];
  readonly subgroups: boolean;
}
