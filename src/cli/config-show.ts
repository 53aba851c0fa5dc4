import { effective } from "../config/show.ts";
import type { Invocation } from "./command.ts";
import { loadFor } from "./where.ts";

export async function run(invocation: Invocation): Promise<number> {
  const loaded = loadFor(invocation);
  const { out } = invocation.terminal;
  const rows = effective(loaded).filter(({ value }) => value !== undefined);
  if (invocation.flags["json"]) {
    const values = Object.fromEntries(rows.map(({ key, value, origin }) => [key.path, { value, origin }]));
    out(
      `${JSON.stringify({ root: loaded.root, root_by: loaded.root_by, file: loaded.file ?? null, values, warnings: loaded.warnings }, null, 2)}\n`,
    );
    return 0;
  }
  out(`root  ${loaded.root}  (${loaded.root_by})\nfile  ${loaded.file ?? "none"}\n\n`);
  const width = Math.max(...rows.map(({ key }) => key.path.length));
  for (const { key, value, origin } of rows)
    out(
      `${key.path.padEnd(width)}  ${JSON.stringify(value)}${origin === "default" ? "" : `  (${origin === "env" ? key.env : origin})`}\n`,
    );
  for (const warning of loaded.warnings) out(`\nwarning: ${warning}\n`);
  return 0;
}
