/** Python: CPython compiled to WebAssembly, its memory put back to a pristine image between runs that share nothing. */
import { createFiles } from "../files.ts";
import { type Images, takeImages } from "../image.ts";
import { outcome } from "../outcome.ts";
import type { Answer, Bridge, Command, LimitName, Look, Setup } from "../types.ts";
import { createChannel } from "./channel.ts";
import { createFdTable, type SavedDescriptor } from "./descriptors.ts";
import { DRIVER } from "./driver.ts";
import { createWasi, GuestExit } from "./wasi.ts";

/** Memory never shrinks: an interpreter that grew more than this is not used for another stateless run. */
const GROWTH_MARGIN = 16 * 1024 * 1024;

export async function servePython(bridge: Bridge, setup: Setup): Promise<void> {
  const { quotas } = setup;
  const files = createFiles({ max_bytes: quotas.workspace_bytes, max_files: quotas.workspace_files });
  const packages = readOnly(setup.packages);
  const llmc = readOnly(new Map([["bridge", new Uint8Array(0)]]));
  const table = createFdTable(
    [
      { name: "/workspace", files },
      { name: "/packages", files: packages },
      { name: "/llmc", files: llmc },
    ],
    llmc.find("bridge")!,
  );
  const channel = createChannel(bridge);
  // Not part of the pristine image: an operator who adds a package does not end the sessions that sleep.
  const paths = packages.list().length === 0 ? [] : packagePaths([...setup.packages.keys()]);
  const wasi = createWasi({
    table,
    args: ["python", "-I", "-B", "-X", "utf8", "-c", DRIVER],
    env: [],
    wait,
    write: (stream, bytes) => bridge.write(stream, bytes),
    bridgeWrite: channel.write,
    bridgeRead: channel.read,
    sleep: (ms) => bridge.sleep(ms),
  });
  const instance = await WebAssembly.instantiate(setup.module, { wasi_snapshot_preview1: wasi.imports });
  const memory = instance.exports["memory"] as WebAssembly.Memory;
  wasi.attach(memory);

  let images: Images | undefined;
  let place: string | undefined;
  let descriptors: readonly SavedDescriptor[] = [];
  let running: (Command & { t: "run" }) | "look" | "put" | undefined;

  /** The guest waits for its next command. Between two commands its state is its memory and nothing else. */
  function wait(where: string, buffer: () => Uint8Array): number {
    if (!images) {
      images = takeImages({ runtime_id: setup.runtime_id, memory, files, quotas });
      place = where;
      descriptors = table.save();
      wasi.wake();
    }
    // A program that reads its standard input finds it empty.
    if (running && !channel.finished()) return 0;
    const moved = where !== place;
    if (running) finish(running, moved);
    for (;;) {
      const command = bridge.next();
      if (command.t === "run" || command.t === "look" || command.t === "put") {
        begin(command);
        return buffer().fill(1).length;
      }
      bridge.answer(moved ? { t: "refused", reason: "its interpreter is not at rest" } : serveAtRest(command));
    }
  }

  function begin(command: Command & { t: "run" | "look" | "put" }): void {
    running = command.t === "run" ? command : command.t;
    if (command.t === "look") return channel.begin({ op: "look" });
    if (command.t === "put") {
      const { name, at, total, bytes } = command;
      return channel.begin({ op: "put", name, at, total, size: bytes.length }, bytes);
    }
    const { code, tools, reseed, freeze } = command;
    channel.begin({ op: "run", code, tools, reseed, packages: paths, freeze: freeze === true });
  }

  function finish(done: NonNullable<typeof running>, moved: boolean): void {
    running = undefined;
    const told = channel.end();
    if (done === "look") return bridge.answer(lookOf(told));
    if (done === "put") return bridge.answer({ t: "loaded" });
    const grown = memory.buffer.byteLength - images!.pristine_bytes;
    const retire = done.stateless && (moved || grown > GROWTH_MARGIN);
    bridge.answer({
      ...outcome(bridge, files, quotas, {
        exit_code: moved ? 1 : Number(told["exit_code"] ?? 1),
        result: typeof told["result"] === "string" ? told["result"] : null,
        limits: new Set<LimitName>(told["memory"] === true ? ["memory"] : []),
        memory,
      }),
      ...(retire ? { retire: true } : {}),
      ...(moved ? { broken: true } : {}),
    });
    // Made new, or kept, right away: while nobody waits for it.
    if (done.held) return;
    if (!done.stateless && !moved) bridge.keep(images!.keep({ descriptors: table.save() }));
    if (done.stateless && !retire) {
      images!.renew();
      table.load(descriptors);
    }
  }

  function lookOf(told: Record<string, unknown>): Look {
    const rows = (told["variables"] ?? []) as [string, string][];
    return {
      t: "looked",
      variables: rows.map(([name, type]) => ({ name, type })),
      imports: (told["imports"] ?? []) as string[],
      files: files.list(),
    };
  }

  function serveAtRest(command: Command): Answer {
    switch (command.t) {
      case "save":
        return { t: "saved", image: images!.save({ descriptors: table.save() }) };
      case "load": {
        const loaded = images!.load(command.image);
        if ("refused" in loaded) return { t: "refused", reason: loaded.refused };
        table.load(loaded.more["descriptors"] as SavedDescriptor[]);
        return { t: "loaded" };
      }
      default:
        throw new Error("not a command");
    }
  }

  try {
    (instance.exports["_start"] as () => void)();
  } catch (error) {
    if (!(error instanceof GuestExit) && !(error instanceof WebAssembly.RuntimeError) && !(error instanceof RangeError))
      throw error;
    // It fell over: out of memory, out of stack, or it left. What it printed stands.
    const exit_code = error instanceof GuestExit && error.exit_code !== 0 ? error.exit_code : 1;
    const limits = new Set<LimitName>([error instanceof GuestExit ? "crash" : "stack"]);
    bridge.answer({ ...outcome(bridge, files, quotas, { exit_code, result: null, limits, memory }), broken: true });
  }
}

/** Archives are importable by themselves; modules and packages through the folder they lie in. */
function packagePaths(names: readonly string[]): string[] {
  const archives = names.filter((name) => /\.(whl|zip)$/.test(name) && !name.includes("/"));
  return ["/packages", ...archives.sort().map((name) => `/packages/${name}`)];
}

function readOnly(contents: ReadonlyMap<string, Uint8Array>) {
  const files = createFiles({ max_bytes: Number.MAX_SAFE_INTEGER, max_files: 100_000, read_only: true });
  const names = [...contents.keys()].sort();
  const folders = new Set(
    names.flatMap((name) => name.split("/").map((_, depth, all) => all.slice(0, depth).join("/"))),
  );
  folders.delete("");
  files.load({
    entries: [
      ...[...folders].sort().map((path) => ({ path, bytes: 0, folder: true as const })),
      ...names.map((path) => ({ path, bytes: contents.get(path)!.length })),
    ],
    bytes: Buffer.concat(names.map((name) => contents.get(name)!)),
  });
  return files;
}
