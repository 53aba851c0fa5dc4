import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface Hostile {
  readonly payload: string;
  readonly canary: string;
  /** Whether the payload ran, or something was written that must not be. */
  marks(): string[];
}

const GIT = { GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null", PATH: "/usr/bin:/bin", HOME: "/nonexistent" };

function git(cwd: string, ...args: string[]): void {
  execFileSync(
    "git",
    [
      "-c",
      "user.name=n",
      "-c",
      "user.email=e",
      "-c",
      "protocol.file.allow=always",
      "-c",
      "init.defaultBranch=main",
      ...args,
    ],
    { cwd, env: GIT, stdio: "ignore" },
  );
}

/** A repository whose every setting that can run a program runs ours, links that lead out, and secrets beside it. */
export function makeHostile(root: string, outside: string): Hostile {
  const payload = join(outside, "payload.sh");
  const script = `#!/bin/sh\n: > '${outside}/MARKER'\n: > '${root}/MARKER'\necho PAYLOAD""-RAN\ncat 2>/dev/null\n`;
  writeFileSync(payload, script, { mode: 0o755 });
  writeFileSync(join(root, "payload.sh"), script, { mode: 0o755 });
  const canary = join(outside, "canary");
  writeFileSync(canary, "CANARY-OUTSIDE\n");
  writeFileSync(join(outside, "canary.json"), '"CANARY-OUTSIDE"\n');
  writeFileSync(join(outside, "canary.jq"), 'def x: "CANARY-OUTSIDE";\n');
  writeFileSync(join(outside, "git-x"), script, { mode: 0o755 });
  writeFileSync(join(root, ".llmc/state"), "CANARY-STATE\n");
  symlinkSync(canary, join(root, "link-to-canary"));
  symlinkSync(outside, join(root, "link-to-outside"));
  execFileSync("mkfifo", [join(root, "fifo")]);

  git(root, "init", "-q");
  writeFileSync(join(root, ".gitignore"), ".llmc\nfifo\nMARKER\nlink-to-*\n");
  writeFileSync(join(root, ".gitattributes"), "*.filtered filter=evil\n*.odd filter=a=b.c\n*.bin diff=evil\n");
  for (const name of ["a.txt", "a.filtered", "a.odd", "a.bin"]) writeFileSync(join(root, name), "hello\nhello\n");
  git(root, "add", ".");
  git(root, "commit", "-qm", "one");
  git(root, "tag", "v1");
  const library = join(outside, "library");
  mkdirSync(library);
  git(library, "init", "-q");
  writeFileSync(join(library, "b.txt"), "b\n");
  git(library, "add", ".");
  git(library, "commit", "-qm", "b");
  git(root, "submodule", "add", "-q", library, "sub");
  git(root, "commit", "-qm", "two");
  signHead(root);
  appendFileSync(join(root, ".git/config"), evilConfig(payload));
  // The submodule's filters have names that the repository itself does not know.
  appendFileSync(
    join(root, ".git/modules/sub/config"),
    `${evilConfig(payload)}[filter "inner"]\n\tclean = ${payload}\n`,
  );
  writeFileSync(join(root, ".git/modules/sub/info/attributes"), "*.txt filter=inner\n");
  plantRepository(join(root, "planted"), outside, payload);
  for (const hook of [
    "pre-commit",
    "post-checkout",
    "fsmonitor-watchman",
    "post-index-change",
    "reference-transaction",
  ])
    writeFileSync(join(root, ".git/hooks", hook), script, { mode: 0o755 });
  for (const name of ["a.txt", "a.filtered", "a.odd", "a.bin", "sub/b.txt"])
    appendFileSync(join(root, name), "changed\n");

  const written = [
    "written",
    "written-by-diff",
    "written-by-log",
    ".mcp.json",
    "llmc.toml",
    ".vscode/x",
    ".claude/x",
    "x.git",
  ];
  return {
    payload,
    canary,
    marks: () => [
      ...[join(outside, "MARKER"), join(root, "MARKER")].filter(existsSync),
      ...written.map((name) => join(root, name)).filter((path) => existsSync(path)),
      ...(existsSync(join(root, ".git/config")) && existsSync(join(root, "a.txt")) ? [] : ["something was removed"]),
    ],
  };
}

/** A folder of ordinary names that git would take for a bare repository: what it includes and where it works lie outside. */
function plantRepository(folder: string, outside: string, payload: string): void {
  mkdirSync(join(outside, "hold"));
  writeFileSync(join(outside, "hold/CANARY-NAME"), "");
  writeFileSync(join(outside, "canary.ini"), "[secret]\n\tkey = CANARY-OUTSIDE\n");
  for (const name of ["objects/info", "refs"]) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, "HEAD"), "ref: refs/heads/main\n");
  const places = `[core]\n\tbare = false\n\tworktree = ${outside}/hold\n[include]\n\tpath = ${outside}/canary.ini\n`;
  writeFileSync(join(folder, "config"), places + evilConfig(payload));
  writeFileSync(join(folder, "objects/info/alternates"), `${outside}/library/.git/objects\n`);
}

/** A commit with a signature, which git asks a program about. */
function signHead(root: string): void {
  const commit = execFileSync("git", ["cat-file", "commit", "HEAD"], { cwd: root, env: GIT, encoding: "utf8" });
  const signed = commit.replace(
    "\n\n",
    "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----\n\n",
  );
  const id = execFileSync("git", ["hash-object", "-t", "commit", "-w", "--stdin"], {
    cwd: root,
    env: GIT,
    input: signed,
  });
  git(root, "update-ref", "HEAD", id.toString().trim());
}

function evilConfig(payload: string): string {
  const runs = (section: string, ...keys: string[]) =>
    `[${section}]\n${keys.map((key) => `\t${key} = ${payload}\n`).join("")}`;
  return [
    runs("core", "fsmonitor", "pager", "editor", "sshCommand", "askPass", "gitProxy", "alternateRefsCommand"),
    runs("diff", "external"),
    runs('diff "evil"', "command", "textconv"),
    runs('filter "evil"', "clean", "smudge", "process"),
    '[filter "evil"]\n\trequired = true\n',
    runs('filter "a=b.c"', "clean", "smudge"),
    runs("gpg", "program"),
    runs('gpg "ssh"', "program", "defaultKeyCommand"),
    runs("pager", "log", "diff", "status", "show", "grep", "blame", "branch", "tag", "config"),
    runs("credential", "helper"),
    runs("sequence", "editor"),
    runs("interactive", "diffFilter"),
    `[alias]\n\tst = !${payload}\n`,
    "[log]\n\tshowSignature = true\n",
    '[protocol]\n\tallow = always\n[protocol "ext"]\n\tallow = always\n',
    `[remote "evil"]\n\turl = ext::${payload}\n\tpromisor = true\n\tpartialclonefilter = blob:none\n\tuploadpack = ${payload}\n`,
    "[extensions]\n\tpartialClone = evil\n[core]\n\trepositoryformatversion = 1\n",
    "[diff]\n\tsubmodule = diff\n\tignoreSubmodules = none\n[status]\n\tsubmoduleSummary = true\n[submodule]\n\trecurse = true\n",
  ].join("");
}
