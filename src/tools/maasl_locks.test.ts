import { expect, test } from "vitest";
import { createBed } from "../../tests/harness/bed.ts";

test("a writer's lock is seen while it lasts", async () => {
  await using bed = createBed();
  const writing = bed.payload("linux_fs_write", { path: "a.txt", content: "x".repeat(4_000_000) });
  let seen: { locks: object[] } = { locks: [] };
  while (seen.locks.length === 0) {
    const next = await bed.payload<{ locks: object[] }>("maasl_locks");
    if (next.locks.length > 0) seen = next;
    else if (await Promise.race([writing.then(() => true), new Promise((resolve) => setImmediate(resolve, false))]))
      break;
  }
  await writing;
  expect(seen).toEqual({
    locks: [
      {
        resource: "a.txt",
        class: "CRIT_CODE",
        holder: expect.stringMatching(/^local:\d+#[0-9a-f]{8}$/),
        since: expect.stringMatching(/Z$/),
        expires: expect.stringMatching(/Z$/),
      },
    ],
  });
  expect(await bed.payload("maasl_locks")).toEqual({ locks: [] });
});
