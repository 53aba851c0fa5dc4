import { expect, test } from "vitest";
import { crashTest } from "./crash.ts";

/** More of them with `node bench/files-crash.ts`. */
test("a writer killed at random moments leaves each file old or new and nothing beside them", async () => {
  const report = await crashTest(80, 60);
  expect(report).toMatchObject({ operations: 80, broken: [], temps_left: 0, locks_left: 0 });
  expect(report.kills).toBeGreaterThan(0);
}, 600_000);
