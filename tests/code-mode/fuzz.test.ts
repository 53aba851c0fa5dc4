import { describe, expect, it } from "vitest";
import { createBed } from "../harness/bed.ts";
import { fc } from "../harness/random.ts";
import { files, run } from "./running.ts";

describe("the bridge from code to tools", () => {
  it("survives whatever arguments code makes up", async () => {
    await using bed = createBed({ files });
    const values = fc
      .sample(
        fc.anything({
          withNullPrototype: false,
          withBigInt: false,
          withDate: false,
          withMap: false,
          withSet: false,
          withTypedArray: false,
          withSparseArray: false,
          maxDepth: 2,
        }),
        60,
      )
      .filter((value) => JSON.stringify(value) !== undefined);
    const code = `const codes = []; for (const value of ${JSON.stringify(values)}) for (const name of ["stat", "read_file", "search", "help", "", "__proto__", "constructor"]) { try { await tools[name](value); codes.push("ok") } catch (error) { codes.push(error.code ?? error.name) } } [...new Set(codes)].sort()`;
    const { result, stderr } = await run(bed, "javascript", code);
    expect(stderr).toBe("");
    for (const seen of result as string[])
      expect([
        "ok",
        "invalid_args",
        "unknown_tool",
        "path_denied",
        "file_not_found",
        "is_directory",
        "limit_exceeded",
      ]).toContain(seen);
  });

  it("survives whatever messages code writes to the bridge itself", async () => {
    await using bed = createBed({ files });
    for (let seed = 0; seed < 12; seed++) {
      const garbage = `
import os, random
random.seed(${seed})
names = [b"stat", b"read_file", b"execute_code", b"", bytes(40)]
for _ in range(150):
    name = random.choice(names)
    body = random.choice([b'{"path": "a.txt"}', b'{"path": "/etc/passwd"}', b"{", b"[" * 2000, random.randbytes(30)])
    call = len(name).to_bytes(4, "little") + name + body
    kind = random.choice([b"C", b"C", b"C", b"D", bytes([random.randrange(256)])])
    size = random.choice([len(call), len(call), random.randrange(2**32), 0])
    for fd in range(3, 8):
        try:
            os.write(fd, size.to_bytes(4, "little") + kind + call)
            os.read(fd, 4096)
        except OSError:
            pass
`;
      const reply = await bed.call("execute_code", {
        language: "python",
        code: garbage,
        session_id: "none",
        timeout_s: 5,
      });
      expect(JSON.stringify(reply.ok ? reply.payload : reply.fault.message)).not.toContain("root:");
      expect((await run(bed, "python", 'tools.stat(path="a.txt")["data"]["size"]')).result).toBe(8);
    }
  }, 120_000);
});
