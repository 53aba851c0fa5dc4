/** A guest's memory as the host reads it. The buffer is another one after every growth, so it is never kept. */
export interface View {
  attach(memory: WebAssembly.Memory): void;
  bytes(): Uint8Array;
  data(): DataView;
  u32(ptr: number, value: number): void;
  text(ptr: number, length: number): string;
  vectors(iovs: number, count: number): [ptr: number, length: number][];
}

export function createView(): View {
  let memory: WebAssembly.Memory;
  let bytes = new Uint8Array(0);
  let data = new DataView(new ArrayBuffer(0));
  const decoder = new TextDecoder();
  const refresh = () => {
    if (bytes.buffer === memory.buffer) return;
    bytes = new Uint8Array(memory.buffer);
    data = new DataView(memory.buffer);
  };
  const view: View = {
    attach: (attached) => (memory = attached),
    bytes() {
      refresh();
      return bytes;
    },
    data() {
      refresh();
      return data;
    },
    u32: (ptr, value) => view.data().setUint32(ptr, value, true),
    text: (ptr, length) => decoder.decode(view.bytes().subarray(ptr, ptr + length)),
    vectors(iovs, count) {
      const d = view.data();
      return Array.from({ length: Math.min(count, 1024) }, (_, index) => [
        d.getUint32(iovs + index * 8, true),
        d.getUint32(iovs + index * 8 + 4, true),
      ]);
    },
  };
  return view;
}
