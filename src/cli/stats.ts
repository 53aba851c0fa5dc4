import { type Invocation, textFlag } from "./command.ts";
import { sinceOf } from "./trail.ts";
import { errorLine, headLines, lockLines, tableLines } from "./usage/lines.ts";
import { today, type Usage, warnBlind, watchUsage } from "./usage/usage.ts";
import { loadFor } from "./where.ts";

const COLUMNS = 80;
const NO_CALLS = `No calls yet. Start your client, or make one: llmc call list_dir '{"path":"."}'`;

/** What agents did: today, or from another time on. */
export async function run(invocation: Invocation): Promise<number> {
  const { terminal, flags } = invocation;
  const from = textFlag(invocation, "since");
  const loaded = loadFor(invocation);
  warnBlind(loaded, terminal);
  const watching = watchUsage(loaded, from === undefined ? today() : sinceOf(from));
  try {
    const usage = await watching.look();
    const { last: _, minutes: __, ...told } = usage;
    terminal.out(flags["json"] ? `${JSON.stringify(told)}\n` : await readable(usage, from));
    return 0;
  } finally {
    await watching.close();
  }
}

async function readable(usage: Usage, from: string | undefined): Promise<string> {
  const { statsTable } = await import("../engines/envelope/index.ts");
  const lines = [`${from === undefined ? "Today" : `Since ${usage.since}`} in ${usage.root}`];
  if (usage.calls === 0) lines.push(NO_CALLS);
  else
    lines.push(
      ...headLines(usage),
      "",
      ...tableLines("tool", usage.tools, COLUMNS, 20),
      "",
      ...tableLines("agent", usage.agents, COLUMNS, 10),
      "",
      errorLine(usage, COLUMNS),
      ...(usage.locks.length > 0 ? ["", "locks", ...lockLines(usage, COLUMNS, 10)] : []),
    );
  if (usage.te.total.calls > 0)
    lines.push("", "What commands printed, and what models got of it:", "", statsTable(usage.te).trimEnd());
  return `${lines.join("\n").trimEnd()}\n`;
}
