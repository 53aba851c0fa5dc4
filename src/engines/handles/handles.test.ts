import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Fault } from "../../base/fault.ts";
import { createRoots, pinFile } from "../../base/path/index.ts";
import { mintPrincipal } from "../../base/principal.ts";
import { createHandles, type Handles, handlesOptions, isHandle } from "./index.ts";

const me = mintPrincipal("local", 1000);
const other = mintPrincipal("token", "other");
let dir: string;
let open: Handles[];

function store(options: object = {}): Handles {
  const roots = createRoots({ roots: [join(dir, "root")], state_dir: join(dir, "state") });
  const handles = createHandles(handlesOptions.parse(options), { state_dir: join(dir, "state"), roots });
  open.push(handles);
  return handles;
}

function pinned(name: string) {
  const roots = createRoots({ roots: [join(dir, "root")] });
  return pinFile(roots, roots.mint(name, "read"));
}

const code = (work: Promise<unknown>) =>
  work.then(
    () => "no fault",
    (error) => (error instanceof Fault ? error.code : String(error)),
  );

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "llmc-handles-"));
  mkdirSync(join(dir, "root"));
  open = [];
});
afterEach(async () => {
  for (const handles of open) await handles.close();
  rmSync(dir, { recursive: true });
});

describe("what is put", () => {
  it("comes back whole, with its meta, under an id that cannot be guessed", async () => {
    const handles = store();
    const id = await handles.put(me, "one\ntwo\nthree", { kind: "search_hits", root: "src" });
    expect(isHandle(id)).toBe(true);
    const page = await handles.readLines(me, id, 0, 200);
    expect(page).toEqual({
      content: "one\ntwo\nthree",
      meta: { kind: "search_hits", state: "done", progress: null, total_lines: 3, truncated: false },
    });
    expect(await handles.info(me, id)).toMatchObject({ kind: "search_hits", root: "src", bytes: 13, state: "done" });
  });

  it("is paged by lines and says when there is more", async () => {
    const handles = store();
    const id = await handles.put(me, "a\nb\nc\n", { kind: "output" });
    expect((await handles.readLines(me, id, 0, 2)).content).toBe("a\nb\n");
    expect((await handles.readLines(me, id, 0, 2)).meta.truncated).toBe(true);
    expect((await handles.readLines(me, id, 2, 2)).content).toBe("c\n");
    expect((await handles.readLines(me, id, 2, 2)).meta).toMatchObject({ truncated: false, total_lines: 3 });
    expect((await handles.readLines(me, id, 3, 2)).content).toBe("");
  });

  it("may be empty", async () => {
    const handles = store();
    const id = await handles.put(me, "", { kind: "output" });
    expect(await handles.readLines(me, id, 0, 10)).toMatchObject({
      content: "",
      meta: { total_lines: 0, truncated: false },
    });
    expect((await handles.readChunk(me, id, 0)).content).toBe("");
  });

  it("is read by bytes from any place", async () => {
    const handles = store();
    const bytes = Uint8Array.from({ length: 200_000 }, (_, index) => (index * 7) % 256);
    const id = await handles.put(me, bytes, { kind: "output" });
    const page = await handles.readBytes(me, id, 65_000, 70_000);
    expect(Buffer.compare(page.bytes, bytes.subarray(65_000, 135_000))).toBe(0);
    expect(page.total_bytes).toBe(200_000);
    expect((await handles.readBytes(me, id, 199_999, 10)).bytes).toHaveLength(1);
    expect((await handles.readBytes(me, id, 200_000, 10)).bytes).toHaveLength(0);
  });

  it("has bounded pages however long its lines are", async () => {
    const handles = store();
    const id = await handles.put(me, `${"x".repeat(3_000_000)}\nshort\n`, { kind: "output" });
    const page = await handles.readLines(me, id, 0, 10);
    expect(page.content.length).toBeLessThanOrEqual(1024 ** 2);
    expect(page.meta).toMatchObject({ truncated: true, line_cut: true, total_lines: 2 });
    expect((await handles.readLines(me, id, 1, 10)).content).toBe("short\n");
    expect((await handles.readChunk(me, id, 5)).content.length).toBeLessThanOrEqual(2 * 12 * 1024);
  });

  it("says where to go on when a page was full before its lines were", async () => {
    const handles = store();
    const line = `${"y".repeat(99_999)}\n`;
    const id = await handles.put(me, line.repeat(30), { kind: "output" });
    const first = await handles.readLines(me, id, 0, 200);
    expect(first.content).toBe(line.repeat(10));
    expect(first.meta.next_offset_lines).toBe(10);
  });
});

describe("the owner", () => {
  it("is the only one for whom a handle exists", async () => {
    const handles = store();
    const id = await handles.put(me, "secret", { kind: "output" });
    const job = await handles.startJob(me, { kind: "job" }, () => {});
    for (const handle of [id, job.handle]) {
      const foreign = await handles.readLines(other, handle, 0, 1).catch((error) => error.message);
      const missing = await handles
        .readLines(other, "res_00000000000000000000000000", 0, 1)
        .catch((error) => error.message);
      expect(foreign).toBe(missing);
      expect(await code(handles.info(other, handle))).toBe("handle_expired");
      expect(await code(handles.readChunk(other, handle, 0))).toBe("handle_expired");
      expect(await code(handles.readBytes(other, handle, 0, 1))).toBe("handle_expired");
      expect(await code(handles.cancel(other, handle))).toBe("handle_expired");
      expect(await code(handles.wait(other, handle, 1, AbortSignal.timeout(1000)))).toBe("handle_expired");
    }
  });
});

describe("the limits", () => {
  it("take the oldest away when there are too many", async () => {
    const handles = store({ max_count: 3 });
    const ids = [];
    for (const text of ["1", "2", "3", "4", "5"]) ids.push(await handles.put(me, text, { kind: "output" }));
    const codes = await Promise.all(ids.map((id) => code(handles.info(me, id))));
    expect(codes).toEqual(["handle_expired", "handle_expired", "no fault", "no fault", "no fault"]);
  });

  it("take the oldest away when they hold too many bytes, and free the space", async () => {
    const handles = store({ max_bytes: 1_000_000 });
    const ids = [];
    for (let index = 0; index < 40; index++)
      ids.push(await handles.put(me, `${index}${"z".repeat(250_000)}`, { kind: "output" }));
    const alive = await Promise.all(ids.map(async (id) => (await code(handles.info(me, id))) === "no fault"));
    expect(alive.filter(Boolean)).toHaveLength(3);
    expect(alive.slice(-3)).toEqual([true, true, true]);
    expect(statSync(join(dir, "state", "handles.db")).size).toBeLessThan(4_000_000);
  });

  it("count content that many handles share once, and keep it until the last one goes", async () => {
    const handles = store({ max_bytes: 1_000_000, max_count: 6 });
    const text = "same\n".repeat(100_000);
    const ids = [];
    for (let index = 0; index < 6; index++) ids.push(await handles.put(me, text, { kind: "output" }));
    for (const id of ids) expect((await handles.info(me, id)).bytes).toBe(500_000);
    await handles.put(me, "another", { kind: "output" });
    expect(await code(handles.info(me, ids[0]!))).toBe("handle_expired");
    expect((await handles.readLines(me, ids[5]!, 99_999, 5)).content).toBe("same\n");
  });

  it("let a handle live only so long", async () => {
    const handles = store({ ttl_s: 1 });
    const id = await handles.put(me, "soon gone", { kind: "output" });
    expect((await handles.readLines(me, id, 0, 1)).content).toBe("soon gone");
    await new Promise((done) => setTimeout(done, 1100));
    expect(await code(handles.readLines(me, id, 0, 1))).toBe("handle_expired");
  });

  it("refuse one result that is larger than the whole store, and leave nothing of it", async () => {
    const handles = store({ max_bytes: 1_000_000 });
    const before = await handles.put(me, "stays", { kind: "output" });
    async function* endless() {
      for (;;) yield Buffer.alloc(100_000, "e");
    }
    expect(await code(handles.put(me, "x".repeat(1_000_001), { kind: "output" }))).toBe("store_unavailable");
    expect(await code(handles.put(me, endless(), { kind: "output" }))).toBe("store_unavailable");
    expect((await handles.readLines(me, before, 0, 1)).content).toBe("stays");
  });
});

describe("a stream", () => {
  it("of any pieces becomes the same blob as the whole", async () => {
    const handles = store();
    const text = Array.from({ length: 60_000 }, (_, index) => `line ${index}`).join("\n");
    async function* pieces() {
      for (let at = 0; at < text.length; at += 7_777) yield Buffer.from(text.slice(at, at + 7_777));
    }
    const streamed = await handles.put(me, pieces(), { kind: "output" });
    const whole = await handles.put(me, text, { kind: "output" });
    for (const id of [streamed, whole]) {
      expect((await handles.readLines(me, id, 59_999, 5)).content).toBe("line 59999");
      expect((await handles.readLines(me, id, 30_000, 2)).content).toBe("line 30000\nline 30001\n");
      expect((await handles.readLines(me, id, 0, 1)).meta.total_lines).toBe(60_000);
    }
  });

  it("that breaks off leaves no handle and no bytes", async () => {
    const handles = store({ max_bytes: 3_000_000 });
    async function* broken() {
      yield Buffer.alloc(2_500_000, "b");
      throw new Error("broken pipe");
    }
    await expect(handles.put(me, broken(), { kind: "output" })).rejects.toThrow("broken pipe");
    const id = await handles.put(me, "k".repeat(2_900_000), { kind: "output" });
    expect((await handles.info(me, id)).bytes).toBe(2_900_000);
  });

  it("of 200 MB goes in and is paged out with flat memory", async () => {
    const handles = store();
    const block = Buffer.from("0123456789abcde\n".repeat(65_536));
    async function* much() {
      for (let index = 0; index < 200; index++) yield block;
    }
    await handles.put(me, "warm", { kind: "output" });
    global.gc?.();
    const before = process.memoryUsage().rss;
    let peak = 0;
    const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 5);
    const id = await handles.put(me, much(), { kind: "output" });
    for (const line of [0, 6_000_000, 13_107_100])
      expect((await handles.readLines(me, id, line, 3)).content).toBe("0123456789abcde\n".repeat(3));
    clearInterval(watch);
    expect((await handles.info(me, id)).bytes).toBe(200 * 1024 ** 2);
    expect(Math.max(peak, process.memoryUsage().rss) - before).toBeLessThan(60 * 1024 ** 2);
  });
});

describe("a file", () => {
  it("that is small is kept as it was", async () => {
    const handles = store();
    const path = join(dir, "root", "small.txt");
    writeFileSync(path, "old\n");
    using file = pinned("small.txt");
    const id = await handles.putFile(me, file, { kind: "file_content", path: "small.txt" });
    writeFileSync(path, "new\n");
    expect((await handles.readLines(me, id, 0, 5)).content).toBe("old\n");
  });

  it("that is large is read in place by lines, chunks and bytes", async () => {
    const handles = store({ inline_file_bytes: 1000 });
    const text = Array.from({ length: 300_000 }, (_, index) => `line ${index}`).join("\n");
    writeFileSync(join(dir, "root", "large.log"), text);
    using file = pinned("large.log");
    const id = await handles.putFile(me, file, { kind: "file_content", path: "large.log" });
    for (const line of [0, 150_000, 299_999, 75_000])
      expect((await handles.readLines(me, id, line, 1)).content.trimEnd()).toBe(`line ${line}`);
    expect((await handles.readLines(me, id, 300_000, 1)).meta).toMatchObject({
      total_lines: 300_000,
      truncated: false,
    });
    const joined = [];
    for (let chunk = 0, more = true; more; chunk++) {
      const page = await handles.readChunk(me, id, chunk);
      joined.push(page.content);
      more = page.meta.truncated;
    }
    expect(joined.join("")).toBe(text);
    const { bytes } = await handles.readBytes(me, id, 100, 20);
    expect(Buffer.from(bytes).toString()).toBe(text.slice(100, 120));
  });

  it("that is large expires when it changes, is replaced, cut or removed", async () => {
    const handles = store({ inline_file_bytes: 0 });
    const path = join(dir, "root", "log");
    const changes = [
      () => appendFileSync(path, "more"),
      () => writeFileSync(path, "b\n"),
      () => truncateSync(path, 1),
      () => rmSync(path),
      () => {
        rmSync(path);
        writeFileSync(path, "a\n");
      },
    ];
    for (const change of changes) {
      writeFileSync(path, "a\n");
      using file = pinned("log");
      const id = await handles.putFile(me, file, { kind: "file_content", path: "log" });
      expect((await handles.readLines(me, id, 0, 1)).content).toBe("a\n");
      // The clock of the file system ticks every few milliseconds.
      await new Promise((done) => setTimeout(done, 20));
      change();
      expect(await code(handles.readLines(me, id, 0, 1))).toBe("handle_expired");
    }
  });
});

describe("the store", () => {
  it("is read by another store on the same folder, now and after a restart", async () => {
    const first = store();
    const second = store();
    const id = await first.put(me, "shared", { kind: "output" });
    expect((await second.readLines(me, id, 0, 1)).content).toBe("shared");
    await first.close();
    expect((await store().readLines(me, id, 0, 1)).content).toBe("shared");
  });

  it("keeps what was acknowledged when its process is killed", async () => {
    const child = spawn(process.execPath, [join(import.meta.dirname, "handles.child.ts"), dir, "put"], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const [line] = await once(child.stdout, "data");
    child.kill("SIGKILL");
    await once(child, "close");
    expect((await store().readLines(me, String(line).trim(), 0, 1)).content).toBe("from the child\n");
  });

  it("is private to its user", async () => {
    await store().put(me, "x", { kind: "output" });
    for (const name of ["handles.db", "handles.db-wal"])
      expect(statSync(join(dir, "state", name)).mode & 0o077).toBe(0);
  });

  it("that is corrupt says so", async () => {
    mkdirSync(join(dir, "state"));
    writeFileSync(join(dir, "state", "handles.db"), "this is no database, but long enough to be looked at".repeat(100));
    const handles = store();
    const fault = await handles.put(me, "x", { kind: "output" }).catch((error) => error);
    expect(fault).toBeInstanceOf(Fault);
    expect(fault).toMatchObject({ code: "store_unavailable", hint: expect.stringContaining("state_dir") });
    expect(readFileSync(join(dir, "state", "handles.db"), "utf8")).toContain("this is no database");
  });

  it("that finds no room on the disk says so, and works for what fits", async () => {
    const script = `ulimit -f 2000; exec "${process.execPath}" "${join(import.meta.dirname, "handles.child.ts")}" "${dir}" full`;
    const child = spawn("/bin/bash", ["-c", script], { stdio: ["pipe", "pipe", "inherit"] });
    let out = "";
    for await (const piece of child.stdout) out += piece;
    expect(JSON.parse(out)).toEqual({ large: "store_unavailable", small: "fits" });
  });
});
