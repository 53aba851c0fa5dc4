import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createBed } from "../harness/bed.ts";
import { temp } from "../harness/temp.ts";

interface Uses {
  readonly total: number;
  readonly items: readonly { readonly path: string; readonly line: number }[];
  readonly note?: string;
}

const FILES = { "a.ts": "export function one() {}\nexport const two = () => one();\n" };

describe("hostile questions to the graph", () => {
  const TEXTS = [
    '"',
    "*",
    "NEAR(a b)",
    "one' OR '1'='1",
    "%",
    "a\u0000b",
    "\u202eevil",
    "(".repeat(400),
    "🙂",
    "..",
    "/",
    "#",
    ":",
    "a:b:c#d",
    "__proto__",
    "constructor",
  ];

  it("are questions like any other", async () => {
    await using bed = createBed({ files: FILES });
    await (await bed.app.engines.rag()).build({}, new AbortController().signal);
    for (const symbol of TEXTS) {
      for (const tool of ["rag_where_used", "rag_lineage"]) {
        const answer = await bed.payload<Uses>(tool, { symbol });
        expect(answer.items.length, symbol).toBe(answer.total);
        if (answer.total === 0) expect(answer.note, symbol).toBeDefined();
      }
      await expect(bed.payload("inspect", { symbol }), symbol).rejects.toMatchObject({ code: "file_not_found" });
      expect(await bed.payload<{ steps: unknown[] }>("rag_plan", { query: symbol })).toHaveProperty("steps");
    }
  });

  it("a path outside of the root is not in the index, whatever it is", async () => {
    await using bed = createBed({ files: FILES });
    for (const path of ["../../etc/passwd", "/etc/passwd", ".llmc/index.db", ".git/config"])
      await expect(bed.payload("inspect", { path })).rejects.toMatchObject({ code: "file_not_found" });
  });
});

describe("hostile trees and the graph", () => {
  it("a file that became a link out of the root is not quoted by inspect", async () => {
    using outside = temp();
    writeFileSync(join(outside.path, "secret.ts"), "export function one() {\n  return 'canary';\n}\n");
    await using bed = createBed({ files: FILES });
    await bed.payload("rag_where_used", { symbol: "one" });
    execFileSync("rm", [join(bed.root, "a.ts")]);
    symlinkSync(join(outside.path, "secret.ts"), join(bed.root, "a.ts"));
    const answer = await bed
      .call("inspect", { symbol: "one", include_full_source: true })
      .catch((error: unknown) => error);
    expect(JSON.stringify(answer)).not.toContain("canary");
  });

  it("imports, bases, re-exports and types that go in circles end", async () => {
    await using bed = createBed({
      files: {
        "a.ts":
          'export * from "./b";\nexport { x } from "./b";\nimport { B } from "./b";\nexport class A extends B {}\n',
        "b.ts":
          'export * from "./a";\nexport { x } from "./a";\nimport { A } from "./a";\nexport class B extends A {}\n',
        "c.ts":
          'import { x, A } from "./a";\nx();\nconst loop: typeof loop = loop.loop.loop;\nnew A().missing();\nlet q = q;\nq.z();\n',
        "d.py": "from d import *\nimport d\nclass D(D):\n    pass\nd.d.d.D().go()\n",
      },
    });
    for (const symbol of ["x", "A", "B", "missing", "D", "loop"])
      expect((await bed.payload<Uses>("rag_where_used", { symbol })).items).toBeInstanceOf(Array);
    await bed.payload("rag_lineage", { symbol: "A", direction: "upstream", depth: 5 });
  });

  it("a file of nested and repeated names is cut, not waited for", async () => {
    const deep = `${"a.".repeat(5_000)}b();\n${"f(".repeat(2_000)}${")".repeat(2_000)}.x;\n`;
    const wide = `export const many = [${"one, ".repeat(60_000)}];\n`;
    await using bed = createBed({ files: { ...FILES, "deep.ts": deep, "wide.ts": wide.replaceAll(", ", ",\n") } });
    await (await bed.app.engines.rag()).build({}, new AbortController().signal);
    expect((await bed.payload<Uses>("rag_where_used", { symbol: "one", limit: 5 })).items).toHaveLength(5);
  });

  it("inspect asks git for the last commit without running what the repository configures", async () => {
    await using bed = createBed({ files: FILES });
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { cwd: bed.root, stdio: "pipe" });
    git("init", "-q");
    git("add", "a.ts");
    git("commit", "-qm", "feat: one");
    const marker = join(bed.root, "marker");
    const script = join(bed.root, "evil.sh");
    writeFileSync(script, `#!/bin/sh\ntouch ${marker}\n`, { mode: 0o755 });
    for (const key of ["core.fsmonitor", "diff.external", "core.pager", "gpg.program", "log.showSignature"])
      git("config", key, key === "log.showSignature" ? "true" : script);
    mkdirSync(join(bed.root, ".git/hooks"), { recursive: true });
    const found = await bed.payload<{ last_commit: unknown }>("inspect", { symbol: "one" });
    expect(found.last_commit).toMatchObject({ subject: "feat: one", author: "t" });
    expect(existsSync(marker)).toBe(false);
  });
});
