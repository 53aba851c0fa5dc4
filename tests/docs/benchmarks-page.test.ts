import { expect, it } from "vitest";
import { withSection } from "../../bench/proof/page.ts";

it("the benchmarks stand on their page as they were printed, the first time and every time after", () => {
  const text = "a row with `$&`, $1, $$ and $`";
  const once = withSection("# Benchmarks\n\nBelow.\n", text);
  expect(once).toBe(`# Benchmarks\n\n<!-- proof -->\n${text}\n<!-- /proof -->\n\nBelow.\n`);
  expect(withSection(once, text)).toBe(once);
});
