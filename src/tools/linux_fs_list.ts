import { dirname } from "node:path";
import * as z from "zod";
import { asFault } from "../base/fault.ts";
import { visible } from "../base/text.ts";
import { defineTool } from "../core/tool.ts";
import type { TreeEntry } from "../engines/fs/index.ts";

const MAX_ENTRIES = 500;
const PIECE_CHARS = 128 * 1024;

export const linux_fs_list = defineTool({
  name: "linux_fs_list",
  title: "List a tree",
  description: "List a folder tree.",
  effects: ["read"],
  input: z.object({
    path: z.string(),
    depth: z.int().min(0).max(10).default(2),
    include_hidden: z.boolean().default(false),
    file_glob: z.string().optional(),
  }),
  output: () =>
    z.object({
      entries: z.array(
        z.object({
          path: z.string(),
          type: z.string(),
          size_bytes: z.int().optional(),
          mtime_iso: z.string().optional(),
        }),
      ),
      truncated: z.boolean(),
      handle: z.string().nullable(),
    }),
  bulk: "entries",
  timed: "read",
  lean: ({ entries, truncated, handle }) => ({ head: truncated ? { truncated, handle } : {}, body: byFolder(entries) }),
  async run({ path, depth, include_hidden, file_glob }, ctx) {
    const fs = await ctx.fs();
    const walk = fs.walk(ctx.roots.mint(path, "read"), { depth, include_hidden, file_glob, signal: ctx.signal });
    const first: TreeEntry[] = [];
    while (first.length <= MAX_ENTRIES) {
      const step = await walk.next();
      if (step.done) return { entries: first, truncated: false, handle: null };
      first.push(...step.value);
    }
    return { entries: first.slice(0, MAX_ENTRIES), truncated: true, handle: await kept() };

    async function kept(): Promise<string | null> {
      try {
        const handles = await ctx.handles();
        return await handles.put(ctx.principal, asJson(first, walk), { kind: "fs_list", path });
      } catch (error) {
        // The first entries are the answer; a store that fails must not take them away.
        if (asFault(error).code === "store_unavailable") return null;
        throw error;
      } finally {
        await walk.return(undefined);
      }
    }
  },
});

/** One JSON list, an entry a line, so that it can be paged by lines; in pieces that are worth storing. */
async function* asJson(first: TreeEntry[], rest: AsyncIterable<TreeEntry[]>): AsyncGenerator<Uint8Array> {
  let start = "[";
  let text = "";
  const add = (batch: readonly TreeEntry[]) => {
    for (const entry of batch) {
      text += `${start}\n${JSON.stringify(entry)}`;
      start = ",";
    }
  };
  add(first);
  for await (const batch of rest) {
    add(batch);
    if (text.length < PIECE_CHARS) continue;
    yield Buffer.from(text);
    text = "";
  }
  yield Buffer.from(`${text}\n]\n`);
}

/** A line for each folder: `src/net: client.ts retry.ts proxy/`. */
function byFolder(entries: readonly { readonly path: string; readonly type: string }[]): string {
  const folders = new Map<string, string[]>();
  for (const { path, type } of entries) {
    const folder = dirname(path);
    const name = path.slice(path.lastIndexOf("/") + 1);
    const shown = /[\s"]/.test(name) ? JSON.stringify(name) : name;
    const names = folders.get(folder) ?? [];
    names.push(visible(shown) + (type === "directory" ? "/" : type === "symlink" ? "@" : ""));
    folders.set(folder, names);
  }
  return [...folders].map(([folder, names]) => `${visible(folder)}: ${names.join(" ")}`).join("\n");
}
