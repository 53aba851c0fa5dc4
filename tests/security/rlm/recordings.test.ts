import { expect, it } from "vitest";
import { createBed } from "../../harness/bed.ts";

it("recordings inside a root are read by no tool", async () => {
  await using bed = createBed({
    config: '[rlm]\nreplay_dir = "kept/recordings"\n',
    files: { "kept/recordings/a.jsonl": "SECRET\n", "kept/other.txt": "plain\n" },
  });
  for (const name of ["read_file", "stat", "linux_fs_read"])
    expect(await bed.call(name, { path: "kept/recordings/a.jsonl" })).toMatchObject({ fault: { code: "path_denied" } });
  expect(await bed.payload("read_file", { path: "kept/other.txt" })).toMatchObject({ data: "plain\n" });
  expect(await bed.text("linux_search_content", { root: ".", pattern: "SECRET" })).not.toContain("a.jsonl");
  expect(await bed.text("run_cmd", { command: "rg SECRET" })).not.toContain("SECRET\n");
});
