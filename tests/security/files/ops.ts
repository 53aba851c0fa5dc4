import { createRoots } from "../../../src/base/path/index.ts";
import { createFs, type Fs } from "../../../src/engines/fs/index.ts";
import { maaslOptions } from "../../../src/engines/fs/options.ts";

/** Names and contents of a small tree: what a run of operations is judged by. */
export type Tree = Record<string, string>;

export type Op =
  | { readonly kind: "write"; readonly name: string; readonly content: string }
  | { readonly kind: "append"; readonly name: string; readonly content: string }
  | { readonly kind: "edit"; readonly name: string; readonly old_text: string; readonly new_text: string }
  | { readonly kind: "move"; readonly name: string; readonly to: string }
  | { readonly kind: "delete"; readonly name: string }
  | { readonly kind: "patch"; readonly text: string; readonly after: Tree };

const NAMES = Array.from({ length: 8 }, (_, index) => `f${index}.ts`);
const PAD = `${"some text that makes the file longer ".repeat(8)}\n`;

/** The operation with this number on this tree: the same for whoever asks. Every file begins with a line of its own. */
export function nextOp(tree: Tree, number: number): Op {
  const random = mulberry(number);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const there = Object.keys(tree).sort();
  const free = NAMES.filter((name) => !(name in tree));
  const body = () => `tag ${number}\n${PAD.repeat(Math.floor(random() * 600))}end`;
  const kind = pick(["write", "write", "append", "edit", "edit", "move", "delete", "patch"] as const);
  if (there.length < 4 || kind === "write") return { kind: "write", name: pick(NAMES), content: body() };
  const name = pick(there);
  if (kind === "append") return { kind, name, content: `more ${number}\n`.repeat(1 + Math.floor(random() * 5000)) };
  if (kind === "edit") return { kind, name, old_text: tagOf(tree[name]!), new_text: `tag ${number}\n` };
  if (kind === "move" && free.length > 0) return { kind, name, to: pick(free) };
  if (kind === "delete") return { kind, name };
  return patchOf(tree, there.slice(0, 3), free[0], number);
}

function patchOf(tree: Tree, names: readonly string[], made: string | undefined, number: number): Op {
  const after: Tree = { ...tree };
  let text = "";
  for (const name of names) {
    const lines = tree[name]!.split("\n", 3);
    const [first, second] = lines;
    after[name] = tree[name]!.replace(`${first}\n`, `tag ${number}\n`);
    const context = lines.length === 2 ? " end\n\\ No newline at end of file\n" : ` ${second}\n`;
    text += `--- a/${name}\n+++ b/${name}\n@@ -1,2 +1,2 @@\n-${first}\n+tag ${number}\n${context}`;
  }
  if (made !== undefined) {
    after[made] = `tag ${number}\nend\n`;
    text += `--- /dev/null\n+++ b/${made}\n@@ -0,0 +1,2 @@\n+tag ${number}\n+end\n`;
  }
  return { kind: "patch", text, after };
}

export function applied(tree: Tree, op: Op): Tree {
  const { ...next } = tree;
  if (op.kind === "write") next[op.name] = op.content;
  if (op.kind === "append") next[op.name] += op.content;
  if (op.kind === "edit") next[op.name] = next[op.name]!.replace(op.old_text, () => op.new_text);
  if (op.kind === "move") {
    next[op.to] = next[op.name]!;
    delete next[op.name];
  }
  if (op.kind === "delete") delete next[op.name];
  return op.kind === "patch" ? op.after : next;
}

export async function perform(root: string, fs: Fs, op: Op): Promise<void> {
  const roots = createRoots({ roots: [root] });
  const call = { owner: `crash#${process.pid}`, signal: new AbortController().signal };
  const mint = (name: string) => roots.mint(name, "write");
  if (op.kind === "write") await fs.write(mint(op.name), op.content, { mode: "rewrite" }, call);
  if (op.kind === "append") await fs.write(mint(op.name), op.content, { mode: "append" }, call);
  if (op.kind === "edit") {
    const edit = { old_text: op.old_text, new_text: op.new_text, expected_replacements: 1 };
    await fs.edit(mint(op.name), [edit], { dry_run: false }, call);
  }
  if (op.kind === "move") await fs.move(mint(op.name), mint(op.to), false, call);
  if (op.kind === "delete") await fs.remove(mint(op.name), false, call);
  if (op.kind === "patch") {
    const result = await fs.patch(op.text, { mint, dry_run: false }, call);
    if (!result.applied) throw new Error(`refused: ${JSON.stringify(result.files)}`);
  }
}

export type { Fs };

export function openFs(root: string): Fs {
  return createFs(maaslOptions.parse({}), { roots: createRoots({ roots: [root] }), state_dir: `${root}/.llmc` });
}

function tagOf(content: string): string {
  return content.slice(0, content.indexOf("\n") + 1);
}

function mulberry(seed: number): () => number {
  let state = (seed * 2654435761) | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
