import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temp } from "../../tests/harness/temp.ts";
import { openDb } from "./db.ts";
import { asFault, FAULTS, Fault, type FaultCode, linuxWord } from "./fault.ts";
import { correlationId, unguessableId } from "./ids.ts";
import { nearest, safeJson, visible } from "./text.ts";

describe("faults", () => {
  it("carry the contract's words", () => {
    expect(linuxWord("path_denied")).toBe("INVALID_PATH");
    expect(linuxWord("file_not_found")).toBe("NOT_FOUND");
    expect(linuxWord("sha_mismatch")).toBe("SHA_MISMATCH");
    expect(FAULTS.rate_limited.status).toBe(429);
  });

  it("are retryable exactly where the contract says so", () => {
    const retryable = (Object.keys(FAULTS) as FaultCode[]).filter((code) => new Fault(code, "").retryable);
    expect(retryable.sort()).toEqual([
      "concurrency_limited",
      "draining",
      "rate_limited",
      "resource_busy",
      "store_unavailable",
      "timeout",
    ]);
  });

  it("hide what was not meant for a caller", () => {
    const fault = asFault(new Error("the password is swordfish"));
    expect(fault.code).toBe("internal_error");
    expect(fault.message + fault.hint).not.toContain("swordfish");
    expect(asFault(Object.assign(new Error("x"), { code: "ENOSPC" })).code).toBe("write_failed");
  });
});

describe("text", () => {
  it("makes tricky names visible", () => {
    expect(visible("a\nb\u001b[31m\u202ec\u200d")).toBe("a\\nb\\u001b[31m\\u202ec\\u200d");
  });

  it("makes JSON that shows no tricky character and parses to the same", () => {
    const value = { name: "x\u202ey\u2028\u0007", text: "line\nline" };
    expect(safeJson(value)).not.toMatch(/[\u202e\u2028\u0007\n]/);
    expect(JSON.parse(safeJson(value))).toEqual(value);
  });

  it("finds the word that was meant, and none when nothing is close", () => {
    expect(nearest("mcp.tools.alowed_roots", ["mcp.tools.allowed_roots", "mcp.mode"])).toBe("mcp.tools.allowed_roots");
    expect(nearest("zzz", ["read_file"])).toBeUndefined();
  });
});

describe("ids", () => {
  it("do not repeat and have the shape that is promised", () => {
    const ids = new Set(Array.from({ length: 1000 }, () => unguessableId("res")));
    expect(ids.size).toBe(1000);
    for (const id of ids) expect(id).toMatch(/^res_[0-9a-hjkmnp-tv-z]{26}$/);
    expect(correlationId()).toMatch(/^[0-9a-f]{8}$/);
  });
});

describe("the database", () => {
  const migrations = ["CREATE TABLE t (n INTEGER)", "ALTER TABLE t ADD COLUMN m TEXT"];

  it("migrates forward, once, and refuses a newer schema", () => {
    using folder = temp();
    const file = join(folder.path, "deep/x.db");
    openDb(file, { migrations: migrations.slice(0, 1) }).close();
    const db = openDb(file, { migrations });
    db.run("INSERT INTO t VALUES (1, 'a')");
    expect(db.all("SELECT * FROM t")).toEqual([{ n: 1, m: "a" }]);
    db.close();
    expect(() => openDb(file, { migrations: [] })).toThrowError(/newer than this llmc/);
  });

  it("rolls back what throws", () => {
    using folder = temp();
    const db = openDb(join(folder.path, "x.db"), { migrations });
    expect(() =>
      db.transaction(() => {
        db.run("INSERT INTO t (n) VALUES (1)");
        throw new Error("no");
      }),
    ).toThrow("no");
    expect(db.get("SELECT count(*) AS n FROM t")).toEqual({ n: 0 });
    db.close();
  });

  it("says clearly that a file is not a database", () => {
    using folder = temp();
    expect(() => openDb(folder.path, { migrations })).toThrowError(/state store cannot be used/);
  });

  it("takes turns with another process", async () => {
    using folder = temp();
    const file = join(folder.path, "x.db");
    openDb(file, { migrations }).close();
    const script = `import { openDb } from ${JSON.stringify(new URL("./db.ts", import.meta.url).href)};
      const db = openDb(${JSON.stringify(file)}, { migrations: ${JSON.stringify(migrations)} });
      for (let i = 0; i < 200; i++) db.transaction(() => db.run("INSERT INTO t (n) VALUES (?)", i));`;
    const children = [1, 2].map(() =>
      spawn(process.execPath, ["--input-type=module-typescript", "-e", script], { stdio: "ignore" }),
    );
    const codes = await Promise.all(children.map(async (child) => (await once(child, "exit"))[0]));
    expect(codes).toEqual([0, 0]);
    const db = openDb(file, { migrations });
    expect(db.get("SELECT count(*) AS n FROM t")).toEqual({ n: 400 });
    db.close();
  });
});
