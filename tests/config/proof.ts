import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Bed, createBed } from "../harness/bed.ts";
import { runBinary } from "../harness/cli.ts";
import { temp } from "../harness/temp.ts";

/** What is seen with the key as it is by default, and with it changed. */
export type Proof = () => Promise<readonly [unknown, unknown]>;

const files = { "a.txt": "one\ntwo needle\n", "sub/b.txt": "needle\n", ".hidden/c.txt": "needle\n" };

/** The same look at two servers that differ in one line of llmc.toml. */
export function differ(look: (bed: Bed) => unknown, changed: string, base = "[mcp]\nmode = 'classic'\n"): Proof {
  return async () => {
    const seen: unknown[] = [];
    for (const config of [base, merged(base, changed)]) {
      await using bed = createBed({ config, files });
      seen.push(await look(bed));
    }
    return seen as [unknown, unknown];
  };
}

/** `changed` is "section.key = value"; it takes the place of the same key in the base. */
function merged(base: string, changed: string): string {
  const [path, value] = changed.split(/ = (.*)/s) as [string, string];
  const parts = path.split(".");
  const key = parts.pop()!;
  const section = `[${parts.join(".")}]`;
  const kept = base
    .split("\n")
    .filter((line) => section !== "[mcp]" || !line.startsWith(`${key} =`))
    .join("\n");
  if (!kept.includes(`${section}\n`)) return `${kept}\n${section}\n${key} = ${value}\n`;
  return kept.replace(`${section}\n`, `${section}\n${key} = ${value}\n`);
}

export const auditFile = (bed: Bed) => join(bed.root, ".llmc/audit/audit.jsonl");

/** What the binary does with a llmc.toml. */
export async function ran(
  config: string,
  args: string[],
  input = "",
): Promise<{ code: number | null; stdout: string; stderr: string; root: string }> {
  using folder = temp();
  writeFileSync(join(folder.path, "llmc.toml"), config);
  writeFileSync(join(folder.path, "a.txt"), "x");
  const result = await runBinary([...args, "--root", folder.path], { input, cwd: folder.path });
  return { ...result, root: folder.path };
}
