import { JSValueHandle, type QuickJS } from "quickjs-wasi";
import type { Put } from "../types.ts";
import { searchText } from "./search-text.ts";

/** Long texts as variables. Their UTF-8 stays in the guest's memory beside the string, so that they are searched at native speed. */
export function createTexts(vm: QuickJS) {
  const exports = vm._getExports();
  const memory = vm._getMemory();
  const places = new Map<string, { at: number; length: number }>();

  function put({ name, at, total, bytes }: Put): void {
    if (at === 0) {
      const place = exports.wasm_malloc(total + 1);
      if (place === 0) throw new Error("out of memory");
      places.set(name, { at: place, length: total });
    }
    const place = places.get(name)!;
    const target = new Uint8Array(memory.buffer);
    target.set(bytes, place.at + at);
    if (at + bytes.length < total) return;
    target[place.at + total] = 0;
    const text = new JSValueHandle(vm, exports.qjs_new_string(place.at, total));
    if (!text.isString) throw new Error("out of memory");
    vm.setProp(vm.global, PASSED, text);
    vm.evalCode(frozen(name), "llmc").dispose();
  }

  /** The request and the hits are JSON. */
  function search(json: string): string {
    const { name, ...wanted } = JSON.parse(json) as { name: string } & Parameters<typeof searchText>[1];
    const place = places.get(name);
    if (!place) throw new Error(`there is no text ${name}`);
    return JSON.stringify(searchText(Buffer.from(memory.buffer, place.at, place.length), wanted));
  }

  return { put, search };
}

const PASSED = "__passed";

/** A variable that says so when it is overwritten. */
function frozen(name: string): string {
  const key = JSON.stringify(name);
  return `((value) => { delete globalThis.${PASSED}; Object.defineProperty(globalThis, ${key}, { get: () => value, set() { throw new TypeError(${key} + " is frozen: use another name"); }, enumerable: false, configurable: false }); })(globalThis.${PASSED})`;
}
