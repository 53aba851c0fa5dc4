/** JavaScript and TypeScript: QuickJS compiled to WebAssembly, its memory put back to a pristine image between runs that share nothing. */
import { stripTypeScriptTypes } from "node:module";
import { EvalFlags, JSException, JSValueHandle, QuickJS } from "quickjs-wasi";
import { createFiles } from "../files.ts";
import { takeImages } from "../image.ts";
import { outcome } from "../outcome.ts";
import type { Answer, Bridge, Command, LimitName, Look, RunOutcome, Setup } from "../types.ts";
import { builtinModule, PRELUDE } from "./prelude.ts";
import { asCell } from "./rewrite.ts";
import { createTexts } from "./texts.ts";
import { createFileCalls } from "./workspace.ts";

const FIXED_TIME_NS = 1_700_000_000_000_000_000n;
const GROWTH_MARGIN = 32 * 1024 * 1024;
const STACK_BYTES = 512 * 1024;

export async function serveJavaScript(bridge: Bridge, setup: Setup): Promise<void> {
  const { quotas } = setup;
  const files = createFiles({ max_bytes: quotas.workspace_bytes, max_files: quotas.workspace_files });
  let awake = false;
  const rejected = new Map<number, string>();
  const vm = await QuickJS.create({
    wasm: setup.module,
    memoryLimit: quotas.memory_bytes,
    maxStackSize: STACK_BYTES,
    timezoneOffset: 0,
    interruptHandler: () => bridge.stopped(),
    onUnhandledRejection(promise, reason, isHandled) {
      if (isHandled) rejected.delete(promise.identity);
      else rejected.set(promise.identity, explained(reason));
    },
    moduleLoader: { normalize: (_base, name) => name.replace(/^(node:|\.\/)/, ""), load: moduleSource },
    wasi: (memory) => ({
      clock_time_get(_id: number, _precision: bigint, out: number) {
        const time = awake ? BigInt(Date.now()) * 1_000_000n : FIXED_TIME_NS;
        new DataView(memory.buffer).setBigUint64(out, time, true);
        return 0;
      },
      random_get(ptr: number, length: number) {
        const target = new Uint8Array(memory.buffer, ptr, length);
        if (awake) crypto.getRandomValues(target);
        else target.fill(7);
        return 0;
      },
      fd_write: () => 0,
    }),
  });
  const exports = vm._getExports();
  const memory = vm._getMemory();
  const texts = createTexts(vm);
  const guest = boot();
  const images = takeImages({ runtime_id: setup.runtime_id, memory, files, quotas });
  const stack_pointer = exports.__stack_pointer.value as number;
  let cells = 0;
  awake = true;

  for (;;) {
    const command = bridge.next();
    if (command.t === "run") {
      const done = run(command);
      const grown = memory.buffer.byteLength - images.pristine_bytes;
      const retire = command.stateless && grown > GROWTH_MARGIN;
      bridge.answer({ ...done, ...(retire ? { retire: true } : {}) });
      if (done.broken || retire) return;
      if (command.held) continue;
      if (command.stateless) renew();
      else bridge.keep(images.keep({ cells }));
    } else bridge.answer(served(command));
  }

  function boot() {
    vm.setProp(
      vm.global,
      "__host",
      vm.newFunction("host", (op, text) => {
        const said = text!.toString();
        const stream = op!.toString();
        switch (stream) {
          case "stdout":
          case "stderr":
            bridge.write(stream, Buffer.from(said));
            return bridge.outputLimits().includes(stream) ? vm.true : vm.undefined;
          case "search":
            return vm.newString(texts.search(said));
          default: {
            const cut = said.indexOf("\n");
            return vm.newNumber(bridge.call(said.slice(0, cut), said.slice(cut + 1)));
          }
        }
      }),
    );
    const fileCalls = createFileCalls(vm, files);
    vm.setProp(
      vm.global,
      "__files",
      vm.newFunction("files", (op, path, more) => fileCalls(op!.toString(), path!.toString(), more)),
    );
    const made = vm.evalCode(PRELUDE, "llmc");
    const names = ["tick", "settle", "explain", "begin", "waiting", "show", "look"] as const;
    const functions = Object.fromEntries(names.map((name) => [name, made.getProp(name)]));
    // Made now, so that they lie in the pristine image.
    void [vm.undefined, vm.null, vm.true, vm.false];
    return functions as Record<(typeof names)[number], JSValueHandle>;
  }

  function call(fn: JSValueHandle, ...args: JSValueHandle[]): JSValueHandle {
    return vm.callFunction(fn, vm.undefined, ...args);
  }

  function moduleSource(name: string): string {
    const own = builtinModule(name);
    if (own !== undefined) return own;
    for (const file of [name, `${name}.js`, `${name}.mjs`]) {
      const there = setup.packages.get(file);
      if (there) return Buffer.from(there).toString("utf8");
      const written = files.find(file);
      if (written?.kind === "file") return Buffer.from(written.data.subarray(0, written.size)).toString("utf8");
    }
    const names = [...setup.packages.keys()].map((file) => file.replace(/\.m?js$/, ""));
    throw new Error(`Cannot find ${JSON.stringify(name)}. There are: ${["fs", "path", "util", ...names].join(", ")}.`);
  }

  function explained(reason: JSValueHandle): string {
    try {
      return call(guest.explain, reason).consume((text) => text.toString());
    } catch {
      return "Error";
    }
  }

  function run(command: Command & { t: "run" }): RunOutcome {
    const limits = new Set<LimitName>();
    let exit_code = 0;
    let result: string | null = null;
    let broken: true | undefined;
    rejected.clear();
    const fail = (text: string) => {
      exit_code = 1;
      if (/\bout of memory\b/.test(text)) limits.add("memory");
      if (/\bstack size exceeded|stack overflow\b/.test(text)) limits.add("stack");
      bridge.write("stderr", Buffer.from(`${text}\n`));
    };
    try {
      const source = asCell(command.typescript ? withoutTypes(command.code) : command.code);
      const seed = command.reseed ? JSON.stringify([...crypto.getRandomValues(new Int32Array(4))]) : "";
      call(guest.begin, vm.newString(seed), vm.newString(JSON.stringify(command.tools))).dispose();
      const promise = vm.evalCode(source, `cell ${++cells}`, EvalFlags.ASYNC);
      settle(promise);
      rejected.delete(promise.identity);
      if (bridge.stopped()) exit_code = 124;
      else if (promise.promiseState === 0) fail("Error: the last promise never settles: nothing is left to wait for.");
      else {
        const value = new JSValueHandle(vm, exports.qjs_promise_result(promise.ptr));
        if (promise.promiseState === 2) fail(explained(value));
        else result = shown(value);
      }
      for (const text of rejected.values()) fail(`Uncaught (in promise) ${text}`);
    } catch (error) {
      if (bridge.stopped()) exit_code = 124;
      else if (error instanceof JSException) fail(explained(error.handle));
      else if (error instanceof WebAssembly.RuntimeError || error instanceof RangeError) {
        broken = true;
        exit_code = 1;
        limits.add("stack");
      } else if (error instanceof Error && error.name !== "Error") fail(`${error.name}: ${error.message}`);
      else if (error instanceof SyntaxError || (error instanceof Error && "code" in error))
        fail(`SyntaxError: ${error.message}`);
      else throw error;
    }
    return { ...outcome(bridge, files, quotas, { exit_code, result, limits, memory }), ...(broken ? { broken } : {}) };
  }

  /** Runs what is due until nothing is: promises, timers, replies of tools. */
  function settle(promise: JSValueHandle): void {
    for (;;) {
      vm.executePendingJobs();
      if (bridge.stopped()) return;
      const waiting = call(guest.waiting).consume((count) => count.toNumber());
      const next_ms = call(guest.tick).consume((left) => left.toNumber());
      if (next_ms === 0) continue;
      if (waiting > 0) {
        const answered = bridge.reply(next_ms < 0 ? Number.POSITIVE_INFINITY : next_ms);
        if (!answered) continue;
        const { call: id, reply } = answered;
        call(guest.settle, vm.newNumber(id), reply.ok ? vm.true : vm.false, vm.newString(reply.json)).dispose();
      } else if (next_ms < 0) {
        if (promise.promiseState === 0 && exports.qjs_is_job_pending()) continue;
        return;
      } else bridge.sleep(next_ms);
    }
  }

  function shown(value: JSValueHandle): string | null {
    const text = call(guest.show, value.getProp("value")).consume((handle) => handle.toString());
    return text === "" ? null : text;
  }

  function look(): Look {
    const rows = JSON.parse(call(guest.look).consume((text) => text.toString())) as [string, string][];
    return {
      t: "looked",
      variables: rows.map(([name, type]) => ({ name, type })),
      imports: [],
      files: files.list(),
    };
  }

  function renew(): void {
    images.renew();
    exports.__stack_pointer.value = stack_pointer;
    cells = 0;
  }

  /** A guest that bent what we look at it with is refused, not feared. */
  function served(command: Command): Answer {
    try {
      return serve(command);
    } catch (error) {
      return { t: "refused", reason: error instanceof Error ? error.message.slice(0, 200) : "it cannot be read" };
    }
  }

  function serve(command: Command): Answer {
    switch (command.t) {
      case "look":
        return look();
      case "put":
        texts.put(command);
        return { t: "loaded" };
      case "save":
        return { t: "saved", image: images.save({ cells }) };
      case "load": {
        const loaded = images.load(command.image);
        if ("refused" in loaded) return { t: "refused", reason: loaded.refused };
        exports.__stack_pointer.value = stack_pointer;
        cells = Number(loaded.more["cells"]);
        return { t: "loaded" };
      }
      default:
        throw new Error("not a command");
    }
  }
}

/** Types become blanks, so that positions stay; what has no place to stay (enums, namespaces) is translated. */
function withoutTypes(code: string): string {
  try {
    return stripTypeScriptTypes(code);
  } catch (error) {
    if (!(error instanceof Error) || !/strip-only/.test(error.message)) throw error;
    return stripTypeScriptTypes(code, { mode: "transform" });
  }
}
