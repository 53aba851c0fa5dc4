import { describe, expect, it } from "vitest";
import { createBed } from "../../tests/harness/bed.ts";

const FILES = { "src/Client.ts": "", "src/server.ts": "", "docs/client.md": "" };

describe("linux_search_files", () => {
  it("answers with the contract's payload", async () => {
    await using bed = createBed({ files: FILES });
    expect(await bed.payload("linux_search_files", { root: ".", pattern: "client" })).toEqual({
      hits: [{ path: "docs/client.md" }, { path: "src/Client.ts" }],
      total_hits: 2,
      truncated: false,
      handle: null,
    });
  });

  it("shows a model one path a line, and no name that could fake one", async () => {
    await using bed = createBed({ files: { ...FILES, "docs/x\nclient\u202e.md": "" } });
    expect(await bed.text("linux_search_files", { root: ".", pattern: "client" })).toBe(
      '{"total_hits":3}\n\ndocs/client.md\ndocs/x\\nclient\\u202e.md\nsrc/Client.ts',
    );
  });

  it("keeps all hits behind a handle", async () => {
    const files = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f${index}.dat`, ""]));
    await using bed = createBed({ files });
    const answer = await bed.payload<{ handle: string; total_hits: number }>("linux_search_files", {
      root: ".",
      pattern: "*.dat",
      max_results: 7,
    });
    expect(answer.total_hits).toBe(30);
    const all = await bed.payload<{ data: string }>("read_file", { path: answer.handle });
    expect(JSON.parse(all.data)).toHaveLength(30);
  });
});
