import { expect, test } from "vitest";
import { createBed } from "../../tests/harness/bed.ts";

interface Listed {
  entries: { path: string; type: string; size_bytes: number }[];
  truncated: boolean;
  handle: string | null;
}

test("entries have path, type, size and time", async () => {
  await using bed = createBed({ files: { "src/net/client.ts": "abc", "README.md": "" } });
  const { entries, truncated, handle } = await bed.payload<Listed>("linux_fs_list", { path: "." });
  expect(entries.map((entry) => entry.path)).toEqual(["README.md", "src", "src/net", "src/net/client.ts"]);
  expect(entries[3]).toMatchObject({ type: "file", size_bytes: 3, mtime_iso: expect.any(String) });
  expect([truncated, handle]).toEqual([false, null]);
});

test("a model gets a line for each folder", async () => {
  await using bed = createBed({ files: { "src/net/client.ts": "", "src/a b.ts": "", "README.md": "" } });
  expect(await bed.text("linux_fs_list", { path: "." })).toBe(
    '{}\n\n.: README.md src/\nsrc: "a b.ts" net/\nsrc/net: client.ts',
  );
});

test("a long list comes as 500 entries and a handle to all of them as JSON", async () => {
  const files = Object.fromEntries(Array.from({ length: 1200 }, (_, index) => [`d${index % 7}/f${index}`, ""]));
  await using bed = createBed({ files });
  const listed = await bed.payload<Listed>("linux_fs_list", { path: "." });
  expect([listed.entries.length, listed.truncated]).toEqual([500, true]);
  const whole = await bed.payload<{ data: string }>("read_file", { path: listed.handle });
  const all = JSON.parse(whole.data);
  expect(all).toHaveLength(1207);
  expect(all.slice(0, 500)).toEqual(listed.entries);
  const page = await bed.payload<{ content: string }>("linux_handle_read", {
    handle: listed.handle,
    offset_lines: 1,
    max_lines: 1,
  });
  expect(JSON.parse(page.content.replace(/,\n$/, ""))).toEqual(all[0]);
});

test("a file is refused as NOT_A_DIRECTORY", async () => {
  await using bed = createBed({ files: { f: "" } });
  expect(JSON.parse(await bed.text("linux_fs_list", { path: "f" })).meta.error_code).toBe("NOT_A_DIRECTORY");
});
