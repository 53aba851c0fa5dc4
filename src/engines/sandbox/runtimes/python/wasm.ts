/** Rewrites a WebAssembly binary: no custom sections (names, debug: half of the file), and a memory that cannot grow beyond a limit. */
export function withMemoryLimit(wasm: Uint8Array, max_bytes?: number): Uint8Array {
  const parts: Uint8Array[] = [wasm.subarray(0, 8)];
  let at = 8;
  while (at < wasm.length) {
    const start = at;
    const id = wasm[at]!;
    const [size, body] = readLeb(wasm, at + 1);
    at = body + size;
    if (id === 0) continue;
    if (id === 5 && max_bytes !== undefined) parts.push(memorySection(wasm, body, max_bytes));
    else parts.push(wasm.subarray(start, at));
  }
  return Buffer.concat(parts);
}

function memorySection(wasm: Uint8Array, body: number, max_bytes: number): Uint8Array {
  const [count, flags] = readLeb(wasm, body);
  if (count !== 1 || (wasm[flags]! & ~1) !== 0) throw new Error("unexpected memory section");
  const [min] = readLeb(wasm, flags + 1);
  const max = Math.max(min, Math.min(Math.ceil(max_bytes / 65_536), 65_536));
  const section = [1, 1, ...leb(min), ...leb(max)];
  return Uint8Array.from([5, ...leb(section.length), ...section]);
}

function readLeb(bytes: Uint8Array, at: number): [value: number, next: number] {
  let value = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at++]!;
    value |= (byte & 127) << shift;
    if (byte < 128) return [value >>> 0, at];
  }
}

function leb(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest & 127) | 128);
  }
}
