import { describe, expect, it } from "vitest";
import { fc } from "../../../../tests/harness/random.ts";
import { createFiles, FilesError } from "./files.ts";

describe("files in memory", () => {
  it("count every byte and name, and give back what is removed", () => {
    const files = createFiles({ max_bytes: 10, max_files: 2 });
    const a = files.create("a");
    files.write(a, 0, new Uint8Array(8));
    expect(() => files.write(a, 8, new Uint8Array(3))).toThrow(FilesError);
    expect(files.refused()).toBe("disk");
    files.mkdir("d");
    expect(() => files.create("d/b")).toThrow(/EDQUOT/);
    files.remove("a", "file");
    files.write(files.create("d/b"), 0, new Uint8Array(10));
    expect(files.list()).toEqual([{ path: "d/b", bytes: 10 }]);
  });

  it("have nothing above them, and hold no folder in itself", () => {
    const files = createFiles({ max_bytes: 10, max_files: 10 });
    files.mkdir("a");
    files.mkdir("a/b");
    expect(files.find("../a")).toBeUndefined();
    expect(() => files.create("a/../../x")).toThrow(/ENOENT/);
    expect(() => files.rename("a", "a/b/c")).toThrow(/EINVAL/);
    expect(() => files.create("x".repeat(300))).toThrow(/ENAMETOOLONG/);
  });

  it("never hold more than the quota, and come back from a dump as they were", () => {
    const name = fc.constantFrom("a", "b", "d", "d/a", "d/b", "d/e", "d/e/f");
    const act = fc.oneof(
      fc.record({ op: fc.constant("write" as const), path: name, at: fc.nat(20), size: fc.nat(40) }),
      fc.record({ op: fc.constant("resize" as const), path: name, size: fc.nat(60) }),
      fc.record({ op: fc.constant("mkdir" as const), path: name }),
      fc.record({
        op: fc.constant("remove" as const),
        path: name,
        kind: fc.constantFrom("file" as const, "folder" as const),
      }),
      fc.record({ op: fc.constant("rename" as const), path: name, to: name }),
    );
    fc.assert(
      fc.property(fc.array(act, { maxLength: 40 }), (acts) => {
        const quota = { max_bytes: 100, max_files: 5 };
        const files = createFiles(quota);
        for (const one of acts) {
          try {
            if (one.op === "write") files.write(files.create(one.path), one.at, new Uint8Array(one.size).fill(7));
            else if (one.op === "resize") files.resize(files.create(one.path), one.size);
            else if (one.op === "mkdir") files.mkdir(one.path);
            else if (one.op === "remove") files.remove(one.path, one.kind);
            else files.rename(one.path, one.to);
          } catch (error) {
            expect(error).toBeInstanceOf(FilesError);
          }
          const dump = files.dump();
          expect(dump.bytes.length).toBeLessThanOrEqual(quota.max_bytes);
          expect(dump.entries.length).toBeLessThanOrEqual(quota.max_files);
        }
        const other = createFiles(quota);
        other.load(files.dump());
        expect(other.dump()).toEqual(files.dump());
      }),
    );
  });
});
