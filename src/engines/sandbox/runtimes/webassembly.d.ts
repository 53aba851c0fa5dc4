/** The parts of WebAssembly's interface that are used here: the language's own types have none without a browser's. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: ArrayBufferView | ArrayBuffer);
  }
  class Instance {
    readonly exports: Record<string, unknown>;
  }
  class Memory {
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }
  class Table {}
  class Global {
    value: unknown;
  }
  class RuntimeError extends Error {}
  function instantiate(module: Module, imports: Record<string, Record<string, unknown>>): Promise<Instance>;
}

type BufferSource = ArrayBufferView | ArrayBuffer;
