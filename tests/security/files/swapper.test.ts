import { expect, test } from "vitest";
import { swapTest } from "./swapper.ts";

test("a neighbour that exchanges files and folders with links gets nothing from outside shown or changed", async () => {
  const report = await swapTest(5000);
  expect(report.leaks).toEqual([]);
  expect(report.answered).toBeGreaterThan(100);
});
