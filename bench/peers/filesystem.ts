import { join } from "node:path";
import type { Operations, Peer } from "./types.ts";

export const PACKAGE = { name: "@modelcontextprotocol/server-filesystem", version: "2026.8.31", bin: "dist/index.js" };

export const filesystem: Peer = {
  name: "filesystem",
  packages: [PACKAGE],
  args: (root) => [root],
  operations: fileOperations,
};

export function fileOperations(root: string): Operations {
  const at = (path: string) => join(root, path);
  return {
    read: (path) => [{ name: "read_text_file", args: { path: at(path) } }],
    // It reads from the beginning or from the end: the middle is what is left of more.
    readLines: (path, from, count) => [{ name: "read_text_file", args: { path: at(path), head: from + count } }],
    stat: (path) => [{ name: "get_file_info", args: { path: at(path) } }],
    list: (path) => [{ name: "list_directory", args: { path: at(path) } }],
    layout: () => [{ name: "directory_tree", args: { path: root, excludePatterns: ["node_modules", ".git"] } }],
    write: (path, content) => [{ name: "write_file", args: { path: at(path), content } }],
    // One edit replaces one occurrence.
    replace: (path, oldText, newText, count) => [
      {
        name: "edit_file",
        args: { path: at(path), edits: Array.from({ length: count }, () => ({ oldText, newText })) },
      },
    ],
  };
}
