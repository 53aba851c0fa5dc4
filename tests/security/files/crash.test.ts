import { expect, test } from "vitest";
import { crashTest } from "./crash.ts";

test("a writer killed at random moments leaves each file old or new and nothing beside them", async () => {
  const report = await crashTest(150, 60);
  expect(report).toMatchObject({ operations: 150, broken: [], temps_left: 0, locks_left: 0 });
  expect(report.kills).toBeGreaterThan(0);
});
