import { PACKAGE as FILES, fileOperations } from "./filesystem.ts";
import { PACKAGE as COMMANDS, shellOperations } from "./shell.ts";
import type { Peer } from "./types.ts";

/** What a user without Desktop Commander puts together: files, commands, ripgrep. */
export const bundle: Peer = {
  name: "bundle",
  packages: [FILES, COMMANDS, { name: "mcp-ripgrep", version: "0.4.0", bin: "dist/index.js" }],
  args: (root, server) => (server === 0 ? [root] : []),
  operations(root) {
    const { run, shell } = shellOperations(root, 1) as Required<ReturnType<typeof shellOperations>>;
    return {
      ...fileOperations(root),
      search: (pattern, context) => [
        { name: "search", args: { pattern, path: root, context, maxResults: 200 }, server: 2 },
      ],
      searchPage: (pattern, maxResults) => [{ name: "search", args: { pattern, path: root, maxResults }, server: 2 }],
      run,
      shell,
    };
  },
};
