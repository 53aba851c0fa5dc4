import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

describe("a flood of output", () => {
  it("grows the server's memory by less than 20 MB", () => {
    const said = execFileSync(process.execPath, [join(import.meta.dirname, "flood.child.ts"), "5"], {
      encoding: "utf8",
    });
    const { timed_out, grew } = JSON.parse(said) as { timed_out: boolean; grew: number };
    expect(timed_out).toBe(true);
    expect(grew).toBeLessThan(20 * 1024 * 1024);
  });
});
