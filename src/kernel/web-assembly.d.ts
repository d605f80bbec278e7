/** What the kernel uses of WebAssembly, which only the types for browsers describe. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array)
  }
  class Instance {
    readonly exports: unknown
    constructor(module: Module, imports: Record<string, Record<string, (...values: number[]) => unknown>>)
  }
  class RuntimeError extends Error {}
  interface Memory {
    readonly buffer: ArrayBuffer
  }
  interface Global {
    readonly value: number
  }
  function validate(bytes: Uint8Array): boolean
}
