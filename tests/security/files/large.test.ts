import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createBed } from "../../harness/bed.ts";

const MIB = 1024 * 1024;

test("two lines of an 852 MB log come in bounded memory, the first two and two from its middle", async () => {
  await using bed = createBed();
  const line = `${"2026-01-01T00:00:00 INFO request served".padEnd(63)}\n`;
  const block = Buffer.from(line.repeat((8 * MIB) / 64));
  const fd = openSync(join(bed.root, "app.log"), "w");
  for (let written = 0; written < 852 * MIB; written += block.length) writeSync(fd, block);
  closeSync(fd);
  const read = (offset_lines: number) =>
    bed.payload<{ content: string; meta: { truncated: boolean } }>("linux_fs_read", {
      path: "app.log",
      offset_lines,
      max_lines: 2,
    });
  await bed.payload("stat", { path: "app.log" });
  const before = process.memoryUsage().rss;
  for (const offset of [0, 6_000_000]) {
    const { content, meta } = await read(offset);
    expect([content, meta.truncated]).toEqual([line + line, true]);
  }
  expect(process.memoryUsage().rss - before).toBeLessThan(60 * MIB);
});
