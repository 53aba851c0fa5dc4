import type { Operations, Peer } from "./types.ts";

export const PACKAGE = { name: "mcp-server-commands", version: "0.5.0", bin: "build/index.js" };

/** One tool, a shell: what it cannot do, nobody can, and its answers are what the shell prints. */
export const shell: Peer = {
  name: "shell only",
  packages: [PACKAGE],
  args: () => [],
  operations: (root) => shellOperations(root, 0),
};

export function shellOperations(root: string, server: number): Operations {
  const run = (command: string) => [{ name: "run_command", args: { command, workdir: root }, server }];
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  return {
    read: (path) => run(`cat ${path}`),
    readLines: (path, from, count) => run(`sed -n ${from + 1},${from + count}p ${path}`),
    stat: (path) => run(`stat ${path}`),
    list: (path) => run(`ls ${path}`),
    layout: (depth) => run(`find . -maxdepth ${depth} -type f -not -path './node_modules/*' -not -path './.git/*'`),
    write: (path, content) => run(`mkdir -p $(dirname ${path}) && cat > ${path} <<'END'\n${content}END`),
    replace: (path, old_text, new_text) =>
      run(`sed -i ${quoted(`s/${escaped(old_text)}/${escaped(new_text)}/g`)} ${path}`),
    search: (text, after) =>
      run(`grep -rnF -A${after} --exclude-dir=node_modules --exclude-dir=.git ${quoted(text)} .`),
    searchPage: (text, max) =>
      run(`grep -rnF --exclude-dir=node_modules --exclude-dir=.git ${quoted(text)} . | head -${max}`),
    run,
    shell: run,
  };
}

function escaped(text: string): string {
  return text.replace(/[/\\&.*[\]^$]/g, "\\$&");
}
