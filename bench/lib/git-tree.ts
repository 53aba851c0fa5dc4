import { spawnSync } from "node:child_process";
import { isForeignFolder, skipByContent, skipByName } from "../../src/engines/rag/admit.ts";

/** The trees of a repository's commits, read from its git directory. */
export interface GitTrees {
  /** Paths and blobs of what would be indexed. */
  files(commit: string): Map<string, string>;
  /** The blobs' bytes; those that are no text are left out. */
  read(blobs: readonly string[]): Map<string, Buffer>;
}

const MAX_BYTES = 1024 ** 2;

export function openTrees(dir: string): GitTrees {
  function git(args: readonly string[], input?: string): Buffer {
    const ran = spawnSync("git", ["--git-dir", dir, ...args], { input, maxBuffer: 1024 ** 3 });
    if (ran.status !== 0) throw new Error(`git ${args.join(" ")}: ${ran.stderr}`);
    return ran.stdout;
  }
  return {
    files(commit) {
      const found = new Map<string, string>();
      for (const line of git(["ls-tree", "-r", "-z", commit]).toString("utf8").split("\0")) {
        const [, blob, path] = /^100\d+ blob (\w+)\t(.*)$/s.exec(line) ?? [];
        if (path === undefined || skipByName(path) || path.split("/").some(isForeignFolder)) continue;
        found.set(path, blob!);
      }
      return found;
    },
    read(blobs) {
      const found = new Map<string, Buffer>();
      if (blobs.length === 0) return found;
      const out = git(["cat-file", "--batch"], `${blobs.join("\n")}\n`);
      for (let at = 0; at < out.length; ) {
        const end = out.indexOf(10, at);
        const [blob, , size] = out.toString("utf8", at, end).split(" ");
        const bytes = out.subarray(end + 1, end + 1 + Number(size));
        if (bytes.length <= MAX_BYTES && !skipByContent(bytes)) found.set(blob!, bytes);
        at = end + 2 + Number(size);
      }
      return found;
    },
  };
}
