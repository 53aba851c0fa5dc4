import picomatch from "picomatch";

export type Access = "read" | "write";

/** The rules that hold before the operator's own. A rule as written: a glob below any folder denies writing, `rw:` before it reading too, `!` lifts what an earlier rule denied. */
export const BUILT_IN_DENIED_PATHS: readonly string[] = [
  ".git",
  ".mcp.json",
  ".vscode",
  ".cursor",
  ".claude",
  ".idea",
  "llmc.toml",
  ".bashrc",
  ".bash_profile",
  ".bash_login",
  ".bash_logout",
  ".profile",
  ".zshrc",
  ".zshenv",
  ".zprofile",
  ".zlogin",
  ".inputrc",
  ".envrc",
  ".gitconfig",
  ".config/fish",
  ".config/git",
  ".ssh",
  "rw:.llmc",
  "!.llmc/stubs",
];

interface Rule {
  readonly text: string;
  readonly lifts: boolean;
  readonly reads: boolean;
  matches(path: string): boolean;
}

export interface Denied {
  /** The rule that forbids this, if one does. `path` is relative to its root, without a leading slash. */
  rule(path: string, access: Access): string | undefined;
}

/** Names are compared without regard to case, on the resolved path. The last rule that matches decides. */
export function compileDenied(texts: readonly string[]): Denied {
  const rules = texts.map(compileRule);
  return {
    rule(path, access) {
      for (let index = rules.length - 1; index >= 0; index--) {
        const rule = rules[index]!;
        if (access === "read" && !rule.reads && !rule.lifts) continue;
        if (rule.matches(path)) return rule.lifts ? undefined : rule.text;
      }
      return undefined;
    },
  };
}

function compileRule(text: string): Rule {
  const lifts = text.startsWith("!");
  const reads = text.startsWith("rw:");
  const glob = text.slice(lifts ? 1 : reads ? 3 : 0).replace(/\/(\*\*)?$/, "");
  const matches = /[*?[\]{}()!+@\\]/.test(glob) ? globMatcher(glob) : plainMatcher(glob.toLowerCase());
  return { text, lifts, reads, matches: (path) => path !== "" && matches(path) };
}

/** Most rules are plain names: the name itself, or anything below it. */
function plainMatcher(name: string): (path: string) => boolean {
  if (name.startsWith("/")) return (path) => `/${path.toLowerCase()}/`.startsWith(`${name}/`);
  return (path) => `/${path.toLowerCase()}/`.includes(`/${name}/`);
}

function globMatcher(glob: string): (path: string) => boolean {
  const anchored = glob.startsWith("/") ? glob.slice(1) : `**/${glob}`;
  return picomatch([anchored, `${anchored}/**`], { dot: true, nocase: true, nonegate: true });
}
