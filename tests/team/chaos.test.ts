import { expect, it } from "vitest";
import { startPostgres } from "../harness/postgres.ts";
import { chaos } from "./chaos.ts";

it("replicas that are killed under load lose nothing that was acknowledged, and do nothing twice", async () => {
  await using server = await startPostgres();
  const report = await chaos({ url: server.url, seconds: 6, per_second: 40, kill_every_s: 2 });
  expect(report).toMatchObject({ lost: 0, twice: 0, other_errors: [] });
  expect([report.kills > 0, report.acknowledged > 20]).toEqual([true, true]);
});
