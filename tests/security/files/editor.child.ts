/** Edits lines of one file, all at once, and says how many edits were done and how many refused as busy. */
import { createRoots } from "../../../src/base/path/index.ts";
import { openFs } from "./ops.ts";

const [root, name, from, count] = process.argv.slice(2) as [string, string, string, string];
const fs = openFs(root);
const roots = createRoots({ roots: [root] });
const done: number[] = [];
const refused: string[] = [];
await Promise.all(
  Array.from({ length: Number(count) }, async (_, index) => {
    const line = Number(from) + index;
    const edit = { old_text: `line ${line}.\n`, new_text: `LINE ${line}.\n`, expected_replacements: 1 };
    const call = { owner: `editor#${process.pid}`, signal: new AbortController().signal };
    try {
      await fs.edit(roots.mint(name, "write"), [edit], { dry_run: false }, call);
      done.push(line);
    } catch (error) {
      refused.push((error as { code?: string }).code ?? String(error));
    }
  }),
);
fs.close();
console.log(JSON.stringify({ done, refused }));
