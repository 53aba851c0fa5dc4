import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type FreshStore, onBothBackends } from "../../../tests/harness/backends.ts";
import { openTokenCsv, type TokenRow } from "./csv.ts";
import { openTokenTable, TOKEN_AUDIT } from "./token-table.ts";

const row = (more: Partial<TokenRow> = {}): TokenRow => ({
  time: new Date().toISOString(),
  correlation_id: "c1",
  agent_id: 'agent, of "some" kind',
  session_id: "größe",
  tool: "stat",
  tokens_in: 3,
  tokens_out: 40,
  error_code: "",
  ...more,
});

/** One process keeps a file for a spreadsheet; replicas share a table. Both take the same rows. */
onBothBackends("the token audit", (fresh) => {
  let at: FreshStore;
  beforeEach(async () => {
    at = await fresh();
  });
  afterEach(() => at[Symbol.asyncDispose]());

  const file = () => join(at.state_dir, "deep/tokens.csv");
  const open = (retention_days = 30) =>
    at.openShared
      ? openTokenTable(at.openShared, retention_days)
      : { ...openTokenCsv(file(), retention_days), close: async () => {} };

  async function tools(): Promise<string[]> {
    if (!at.openShared) return readFileSync(file(), "utf8").split("\n").slice(1, -1).map(toolOf);
    const db = await at.open(TOKEN_AUDIT);
    return (await db.all<{ tool: string }>("SELECT tool FROM token_audit ORDER BY id")).map(({ tool }) => tool);
  }

  test("keeps every row, in the order in which they came, also of two that write", async () => {
    const [one, two] = [open(), open()];
    for (let n = 0; n < 1200; n++) one.append(row({ tool: `one_${n}` }));
    await one.close();
    two.append(row({ tool: "two" }));
    await two.close();
    expect(await tools()).toEqual([...Array.from({ length: 1200 }, (_, n) => `one_${n}`), "two"]);
  });

  test("lets go of rows that are older than it is to keep, when it is opened", async () => {
    const first = open();
    first.append(row({ tool: "old", time: new Date(Date.now() - 3 * 86_400_000).toISOString() }));
    first.append(row({ tool: "young" }));
    await first.close();
    const next = open(2);
    next.append(row({ tool: "new" }));
    await next.close();
    expect(await tools()).toEqual(["young", "new"]);
  });
});

/** The fifth cell; only the third of ours holds a comma. */
function toolOf(line: string): string {
  return line.replace(/"(?:[^"]|"")*"/, "x").split(",")[4]!;
}
