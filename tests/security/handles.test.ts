import { renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { mintPrincipal } from "../../src/base/principal.ts";
import { createBed, LOCAL } from "../harness/bed.ts";
import { temp } from "../harness/temp.ts";

const OTHER = mintPrincipal("token", "other");

describe("handles", () => {
  it("of another principal do not exist, by any tool that takes one", async () => {
    await using bed = createBed();
    const handle = await (await bed.app.engines.handles()).put(LOCAL, "mine alone\n", { kind: "output" });
    for (const [tool, args] of [
      ["linux_handle_read", { handle }],
      ["linux_handle_read", { handle, cancel: true }],
      ["linux_handle_read", { handle, wait_s: 1 }],
      ["read_file", { path: handle }],
      ["linux_fs_read", { path: handle }],
    ] as const) {
      const reply = await bed.call(tool, args, { principal: OTHER });
      expect(reply.ok, tool).toBe(false);
      if (!reply.ok) expect(reply.fault.code).toBe("handle_expired");
      expect(JSON.stringify(reply)).not.toContain("mine alone");
      expect((await bed.call(tool, args)).ok, tool).toBe(true);
    }
  });

  it("are not in order, not short, and never the same for the same content", async () => {
    await using bed = createBed();
    const handles = await bed.app.engines.handles();
    const ids = await Promise.all(Array.from({ length: 200 }, () => handles.put(LOCAL, "same", { kind: "output" })));
    expect(new Set(ids).size).toBe(200);
    for (const id of ids) expect(id).toMatch(/^res_[0-9a-z]{26}$/);
    expect(ids).not.toEqual(ids.toSorted());
  });

  it("of a large file do not follow it out of the root when it is exchanged for a link", async () => {
    using outside = temp();
    writeFileSync(join(outside.path, "secret"), "canary\n".repeat(10));
    await using bed = createBed({
      files: { "big.log": "line\n".repeat(10) },
      config: "[mcp.handles]\ninline_file_bytes = 0\n",
    });
    const first = await bed.payload<{ handle: string }>("linux_fs_read", { path: "big.log", max_lines: 1 });
    expect(first.handle).toMatch(/^res_/);
    renameSync(join(bed.root, "big.log"), join(bed.root, "moved.log"));
    symlinkSync(join(outside.path, "secret"), join(bed.root, "big.log"));
    for (const [tool, args] of [
      ["linux_handle_read", { handle: first.handle }],
      ["read_file", { path: first.handle }],
    ] as const) {
      const reply = await bed.call(tool, args);
      expect(reply.ok).toBe(false);
      expect(JSON.stringify(reply)).not.toContain("canary");
    }
  });

  it("by the thousand leave memory flat", async () => {
    await using bed = createBed({ config: "[mcp.handles]\nmax_count = 500\n" });
    const handles = await bed.app.engines.handles();
    for (let index = 0; index < 200; index++) await handles.put(LOCAL, `warm ${index}`, { kind: "output" });
    global.gc?.();
    const before = process.memoryUsage().rss;
    for (let index = 0; index < 10_000; index++) await handles.put(LOCAL, `result ${index}`, { kind: "output" });
    expect(process.memoryUsage().rss - before).toBeLessThan(40 * 1024 ** 2);
  });

  it("take any bytes as content and give them back", async () => {
    await using bed = createBed();
    const handles = await bed.app.engines.handles();
    const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => (index * 31) % 256);
    const id = await handles.put(LOCAL, bytes, { kind: "output", path: "'; DROP TABLE handle; --" });
    expect(Buffer.compare((await handles.readBytes(LOCAL, id, 0, 200_000)).bytes, bytes)).toBe(0);
    expect((await handles.info(LOCAL, id)).path).toBe("'; DROP TABLE handle; --");
  });
});
