import { describe, expect, it } from "vitest";
import { createBed } from "../../tests/harness/bed.ts";

interface Answer {
  hits: { path: string; line: number; snippet: string }[];
  total_hits: number;
  truncated: boolean;
  handle: string | null;
}

const FILES = { "src/a.ts": "one\ntwo TODO first\nthree\n", "src/b.ts": "TODO second\n" };

describe("linux_search_content", () => {
  it("answers with the contract's payload", async () => {
    await using bed = createBed({ files: FILES });
    expect(await bed.payload<Answer>("linux_search_content", { root: ".", pattern: "todo", context_lines: 0 })).toEqual(
      {
        hits: [
          { path: "src/a.ts", line: 2, snippet: "two TODO first" },
          { path: "src/b.ts", line: 1, snippet: "TODO second" },
        ],
        total_hits: 2,
        truncated: false,
        handle: null,
      },
    );
  });

  it("shows a model each file once, and the lines as grep does", async () => {
    await using bed = createBed({ files: FILES });
    expect(await bed.text("linux_search_content", { root: "src", pattern: "TODO", context_lines: 1 })).toBe(
      '{"total_hits":2}\n\nsrc/a.ts\n1-one\n2:two TODO first\n3-three\nsrc/b.ts\n1:TODO second',
    );
  });

  it("keeps all hits behind a handle, whole as JSON and paged by lines", async () => {
    await using bed = createBed({ files: { "many.txt": "needle\n".repeat(300) } });
    const args = { root: ".", pattern: "needle", context_lines: 0, max_results: 10 };
    const answer = await bed.payload<Answer>("linux_search_content", args);
    expect(answer).toMatchObject({ total_hits: 300, truncated: true, handle: expect.stringMatching(/^res_/) });
    const all = await bed.payload<{ data: string }>("read_file", { path: answer.handle });
    expect(JSON.parse(all.data)).toHaveLength(300);
    const page = await bed.payload<{ content: string; meta: object }>("linux_handle_read", {
      handle: answer.handle,
      offset_lines: 299,
    });
    expect(page.content).toBe('{"path":"many.txt","line":300,"snippet":"needle"}]\n');
    expect(page.meta).toMatchObject({ kind: "search_hits", state: "done", total_lines: 300, truncated: false });
  });

  it("stays within the tokens of a reply, whatever matches", async () => {
    const wide = `needle ${"W1de-".repeat(80)}\n`;
    await using bed = createBed({ files: { "a.txt": wide.repeat(2000), "b.min.js": `${"x".repeat(400_000)}needle` } });
    for (const config of [undefined, '[mcp.output]\nformat = "json"\n']) {
      await using other = createBed({ root: bed.root, ...(config === undefined ? {} : { config }) });
      const text = await other.text("linux_search_content", { root: ".", pattern: "needle", max_results: 1000 });
      expect(text.length).toBeLessThan(8000 * 4);
      expect(text).toContain("res_");
    }
  });

  it("answers without a handle when the store cannot be used", async () => {
    await using bed = createBed({
      files: { "many.txt": "needle\n".repeat(300), ".llmc/handles.db": "no database".repeat(500) },
    });
    const answer = await bed.payload<Answer>("linux_search_content", { root: ".", pattern: "needle", max_results: 5 });
    expect(answer).toMatchObject({ total_hits: 300, truncated: true, handle: null });
    expect(answer.hits).toHaveLength(5);
  });

  it("says what is wrong with a pattern, in the words of the linux tools", async () => {
    await using bed = createBed({ files: FILES });
    const text = await bed.text("linux_search_content", { root: ".", pattern: "foo(" });
    expect(JSON.parse(text)).toMatchObject({
      error: expect.stringContaining("unclosed group"),
      meta: { error_code: "INVALID_ARGUMENT" },
    });
  });

  it("takes null for a glob that is not given", async () => {
    await using bed = createBed({ files: FILES });
    const answer = await bed.payload<Answer>("linux_search_content", { root: ".", pattern: "TODO", file_glob: null });
    expect(answer.total_hits).toBe(2);
  });

  it("obeys its section of the configuration", async () => {
    const files = {
      ...FILES,
      ".hidden/c.ts": "TODO hidden\n",
      "gen/d.ts": "TODO generated\n",
      "e.ts": `TODO ${"x".repeat(500)}\n`,
    };
    await using bed = createBed({
      files,
      config: '[mcp.search]\nhidden = true\nignore = ["gen/"]\ncount_limit = 3\nmax_line_chars = 40\n',
    });
    const answer = await bed.payload<Answer & { total_hits_is_lower_bound?: true }>("linux_search_content", {
      root: ".",
      pattern: "TODO",
      context_lines: 0,
    });
    expect(answer.hits.map((hit) => hit.path)).toEqual([".hidden/c.ts", "e.ts", "src/a.ts", "src/b.ts"]);
    expect(answer.hits[1]!.snippet.length).toBeLessThanOrEqual(42);
    expect(answer.total_hits_is_lower_bound).toBe(true);
  });
});
