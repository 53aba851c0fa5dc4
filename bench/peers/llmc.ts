import type { NextStep, Operations } from "./types.ts";

/** The same operations with our own tools, as a model in hybrid mode would call them. */
export function ourOperations(): Operations {
  const one = (name: string, args: Record<string, unknown>): NextStep[] => [{ name, args }];
  return {
    read: (path) => one("read_file", { path }),
    readLines: (path, offset_lines, max_lines) => one("linux_fs_read", { path, offset_lines, max_lines }),
    stat: (path) => one("stat", { path }),
    list: (path) => one("list_dir", { path }),
    layout: (depth) => one("run_cmd", { command: `rg --files --max-depth ${depth}` }),
    write: (path, content) => one("linux_fs_write", { path, content }),
    replace: (path, old_text, new_text, expected_replacements) =>
      one("linux_fs_edit", {
        path,
        old_text,
        new_text,
        ...(expected_replacements === 1 ? {} : { expected_replacements }),
      }),
    search: (text, after) => one("run_cmd", { command: `rg -nF${after > 0 ? ` -A${after}` : ""} '${text}'` }),
    searchPage: (pattern, max_results) =>
      one("linux_search_content", { root: ".", pattern, literal: true, context_lines: 0, max_results }),
    run: (command) => one("run_cmd", { command }),
  };
}
