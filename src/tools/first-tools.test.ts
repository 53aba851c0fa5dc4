import { execFileSync } from "node:child_process";
import { appendFileSync, chmodSync, existsSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { createBed } from "../../tests/harness/bed.ts";
import { mintPrincipal } from "../base/principal.ts";

interface Read {
  data: string;
  meta: {
    path: string;
    length: number;
    truncated: boolean;
    next_offset_bytes?: number;
    handle?: string;
    size?: number;
    replaced?: boolean;
    binary?: boolean;
  };
}

describe("read_file", () => {
  it("reads a file, and slices that joined are the file", async () => {
    const text = "ligne é 😀 中\n".repeat(500);
    await using bed = createBed({ files: { "a.txt": text } });
    let joined = "";
    let offset: number | undefined = 0;
    while (offset !== undefined) {
      const { data, meta }: Read = await bed.payload<Read>("read_file", {
        path: "a.txt",
        offset_bytes: offset,
        max_bytes: 1001,
      });
      joined += data;
      offset = meta.next_offset_bytes;
      expect(meta.truncated).toBe(offset !== undefined);
    }
    expect(joined).toBe(text);
  });

  it("gives a model a page that fits and says where the next one begins", async () => {
    const text = Array.from({ length: 20_000 }, (_, line) => `export const value${line} = compute(${line});\n`).join(
      "",
    );
    await using bed = createBed({ files: { "big.ts": text } });
    let joined = "";
    let offset: number | undefined = 0;
    for (let page = 0; offset !== undefined && page < 200; page++) {
      const answer: string = await bed.text("read_file", { path: "big.ts", offset_bytes: offset });
      expect(countTokens(answer)).toBeLessThanOrEqual(8000);
      const cut = answer.indexOf("\n\n");
      joined += answer.slice(cut + 2);
      offset = (JSON.parse(answer.slice(0, cut)) as { next_offset_bytes?: number }).next_offset_bytes;
    }
    expect(joined).toBe(text);
  });

  it("keeps a truncated file behind a handle", async () => {
    await using bed = createBed({ files: { "a.txt": "0123456789" } });
    const { meta } = await bed.payload<Read>("read_file", { path: "a.txt", max_bytes: 4 });
    expect(meta).toMatchObject({ length: 4, truncated: true, next_offset_bytes: 4, size: 10 });
    expect((await bed.payload<Read>("read_file", { path: meta.handle })).data).toBe("0123456789");
    expect((await bed.payload<Read>("read_file", { path: meta.handle, offset_bytes: 8 })).data).toBe("89");
    const foreign = await bed.call("read_file", { path: meta.handle }, { principal: mintPrincipal("token", "other") });
    expect(foreign).toMatchObject({ ok: false, fault: { code: "handle_expired" } });
  });

  it("flags bytes that are not UTF-8, and says that a binary file is one", async () => {
    await using bed = createBed({
      files: { latin: Buffer.from("caf\xe9", "latin1"), image: Buffer.from("\x89PNG\r\n\x1a\n\0\0\0", "latin1") },
    });
    expect((await bed.payload<Read>("read_file", { path: "latin" })).meta.replaced).toBe(true);
    expect(await bed.payload<Read>("read_file", { path: "image" })).toMatchObject({
      data: "",
      meta: { binary: true, size: 11 },
    });
  });

  it("answers FIFOs at once, and an ordinary read after five of them", async () => {
    await using bed = createBed({ files: { a: "x" } });
    execFileSync("mkfifo", [join(bed.root, "fifo")]);
    const replies = await Promise.all(Array.from({ length: 5 }, () => bed.call("read_file", { path: "fifo" })));
    for (const reply of replies) expect(reply).toMatchObject({ ok: false, fault: { code: "path_denied" } });
    expect((await bed.payload<Read>("read_file", { path: "a" })).data).toBe("x");
  });

  it("reads two lines of a 3 GB file at once", async () => {
    await using bed = createBed({ files: { sparse: "one\ntwo\n" } });
    truncateSync(join(bed.root, "sparse"), 3 * 1024 ** 3);
    const before = process.memoryUsage().rss;
    const { data, meta } = await bed.payload<Read>("read_file", { path: "sparse", max_bytes: 8 });
    expect([data, meta.truncated]).toEqual(["one\ntwo\n", true]);
    expect(process.memoryUsage().rss - before).toBeLessThan(30 * 1024 ** 2);
  });

  it("tells a folder from a file, and a missing one from a forbidden one only inside", async () => {
    await using bed = createBed({ files: { "sub/a": "" } });
    const code = async (path: string) => {
      const reply = await bed.call("read_file", { path });
      return reply.ok ? "ok" : reply.fault.code;
    };
    expect([await code("sub"), await code("gone"), await code("../gone"), await code("../../etc/passwd")]).toEqual([
      "is_directory",
      "file_not_found",
      "path_denied",
      "path_denied",
    ]);
  });
});

describe("list_dir", () => {
  it("lists names in order, folders with a slash, links unfollowed, hidden ones when asked", async () => {
    await using bed = createBed({ files: { "b.txt": "", "a/x": "", ".env": "" } });
    symlinkSync("/etc", join(bed.root, "link"));
    expect((await bed.payload<{ data: string[] }>("list_dir", { path: "." })).data).toEqual(["a/", "b.txt", "link"]);
    expect((await bed.payload<{ data: string[] }>("list_dir", { path: ".", include_hidden: true })).data).toContain(
      ".env",
    );
    expect(await bed.call("list_dir", { path: "link" })).toMatchObject({ fault: { code: "path_denied" } });
  });

  it("shows no fake entry for a name with a newline", async () => {
    await using bed = createBed({ files: { "x\nfake.txt": "", "\u001b[31m\u202e": "" } });
    const text = await bed.text("list_dir", { path: "." });
    expect(text.split("\n")).not.toContain("fake.txt");
    expect(text).not.toMatch(/[\u001b\u202e]/);
  });

  it("cuts at max_entries and keeps the whole list behind a handle", async () => {
    await using bed = createBed({
      files: Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`d/${index}`, ""])),
    });
    const { data, meta } = await bed.payload<{ data: string[]; meta: { truncated: boolean; handle: string } }>(
      "list_dir",
      { path: "d", max_entries: 5 },
    );
    expect([data.length, meta.truncated]).toEqual([5, true]);
    expect((await bed.payload<Read>("read_file", { path: meta.handle })).data.split("\n")).toHaveLength(20);
  });
});

describe("stat", () => {
  it("tells size, mode, type and time, and where a link leads", async () => {
    await using bed = createBed({ files: { a: "12345" } });
    chmodSync(join(bed.root, "a"), 0o640);
    symlinkSync("a", join(bed.root, "link"));
    expect(await bed.payload("stat", { path: "a" })).toMatchObject({
      data: { size: 5, mode: "0640", type: "file", path: "a" },
    });
    expect(await bed.payload("stat", { path: "link" })).toMatchObject({ data: { path: "a", link: "a" } });
    expect(await bed.payload("stat", { path: "." })).toMatchObject({ data: { type: "directory" } });
  });
});

describe("health and metrics", () => {
  it("tell the server's state", async () => {
    await using bed = createBed();
    expect(await bed.payload("health")).toMatchObject({
      ok: true,
      version: "v0",
      server_version: expect.stringMatching(/^\d/),
      mode: "hybrid",
    });
    await bed.call("stat", { path: "gone" });
    expect(await bed.payload("get_metrics")).toMatchObject({
      calls: 2,
      errors: { file_not_found: 1 },
      tools: { stat: { calls: 1, errors: 1 } },
    });
  });
});

describe("a broken or read-only state folder", () => {
  it("never takes an answer away", async () => {
    await using bed = createBed({ files: { "a.txt": "0123456789" } });
    mkdirSync(join(bed.root, ".llmc"), { recursive: true });
    writeFileSync(
      join(bed.root, ".llmc/handles.db"),
      "this is not a database, and it is long enough to be looked at as one".repeat(20),
    );
    const { data, meta } = await bed.payload<Read>("read_file", { path: "a.txt", max_bytes: 4 });
    expect([data, meta.truncated, meta.handle]).toEqual(["0123", true, undefined]);
    appendFileSync(join(bed.root, "a.txt"), "x");
    expect(existsSync(join(bed.root, ".llmc/handles.db"))).toBe(true);
  });
});
