import type { Inspection } from "../engines/rag/index.ts";
import { ask, harmless, numberOf, painter, subject } from "./ask.ts";
import type { Invocation } from "./command.ts";

/** A file or a symbol at a glance. What looks like a path is taken for one. */
export async function run(invocation: Invocation): Promise<number> {
  const { terminal, flags } = invocation;
  const what = subject(invocation, "Inspect what?", "llmc inspect src/router.ts, or llmc inspect Router.match");
  const isPath = /^[^:#]*(\/|\.[a-z]{1,5}$)[^:#]*$/i.test(what);
  const found = await ask<Inspection>(invocation, "inspect", {
    ...(isPath ? { path: what } : { symbol: what }),
    include_full_source: flags["source"] === true ? true : undefined,
    max_neighbors: numberOf(invocation, "neighbors"),
  });
  terminal.out(flags["json"] ? `${JSON.stringify(found)}\n` : readable(found, painter(invocation)));
  return 0;
}

function readable(found: Inspection, paint: ReturnType<typeof painter>): string {
  const { definition, last_commit: commit } = found;
  const lines = [paint(36, harmless(found.path) + (definition ? `:${definition.line}` : ""))];
  if (definition) {
    if (definition.signature !== "") lines.push(paint(1, harmless(definition.signature)));
    if (definition.doc !== "") lines.push(harmless(definition.doc));
    if (definition.source !== undefined) lines.push("", ...definition.source.split("\n").map(harmless));
  }
  const part = (title: string, rows: readonly string[]) => {
    if (rows.length > 0) lines.push("", paint(2, title), ...rows.map((row) => `  ${harmless(row)}`));
  };
  part("outline", found.outline);
  for (const [title, items] of [["used by", found.callers] as const, ["uses", found.callees] as const])
    part(
      title,
      items.map((item) => `${item.symbol}  ${item.path}:${item.line}`),
    );
  part("tests", found.tests);
  part("documents", found.docs);
  if (commit) part("last commit", [`${commit.hash} ${commit.date} ${commit.author}: ${commit.subject}`]);
  if (found.note !== undefined) lines.push("", paint(2, harmless(found.note)));
  return `${lines.join("\n")}\n`;
}
