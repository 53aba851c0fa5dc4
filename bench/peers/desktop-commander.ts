import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { NextStep, Peer, Step } from "./types.ts";

export const desktopCommander: Peer = {
  name: "Desktop Commander",
  packages: [{ name: "@wonderwhy-er/desktop-commander", version: "0.2.52", bin: "dist/index.js" }],
  // One of its dependencies asks for a version that not every registry has.
  overrides: { "typedarray.prototype.slice": "1.0.5" },
  args: () => [],
  prepare(home, root) {
    mkdirSync(join(home, ".claude-server-commander"), { recursive: true });
    const settings = {
      telemetryEnabled: false,
      allowedDirectories: [root],
      defaultShell: "/bin/sh",
      blockedCommands: [],
    };
    writeFileSync(join(home, ".claude-server-commander/config.json"), JSON.stringify(settings));
  },
  operations(root) {
    const at = (path: string) => join(root, path);
    const shell = (command: string): NextStep[] => [
      { name: "start_process", args: { command: `cd ${root} && ${command}`, timeout_ms: 20_000 } },
    ];
    return {
      read: (path) => [{ name: "read_file", args: { path: at(path) } }],
      readLines: (path, offset, length) => [{ name: "read_file", args: { path: at(path), offset, length } }],
      stat: (path) => [{ name: "get_file_info", args: { path: at(path) } }],
      list: (path) => [{ name: "list_directory", args: { path: at(path), depth: 1 } }],
      layout: (depth) => [{ name: "list_directory", args: { path: root, depth } }],
      write: (path, content) => [{ name: "write_file", args: { path: at(path), content } }],
      replace: (path, old_string, new_string, expected_replacements) => [
        { name: "edit_block", args: { file_path: at(path), old_string, new_string, expected_replacements } },
      ],
      // It answers with what matched, not with the line: the pattern takes in the rest of it.
      search: (text, contextLines) => [
        {
          name: "start_search",
          args: { path: root, pattern: `${text}.*`, searchType: "content", contextLines, timeout_ms: 20_000 },
        },
        moreHits,
      ],
      searchPage: (text, maxResults) => [
        {
          name: "start_search",
          args: {
            path: root,
            pattern: text,
            searchType: "content",
            literalSearch: true,
            maxResults,
            timeout_ms: 60_000,
          },
        },
        moreHits,
      ],
      run: shell,
      shell,
    };
  },
};

/** A search that was not done when it answered is asked again. */
function moreHits(answers: string): Step | undefined {
  const id = /session:? ?(search_\w+)/i.exec(answers)?.[1];
  if (id === undefined || !/Status: (RUNNING|IN PROGRESS)/.test(answers)) return undefined;
  return { name: "get_more_search_results", args: { sessionId: id }, wait_ms: 2000 };
}
