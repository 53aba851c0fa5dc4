import { execFile } from "node:child_process";
import { Fault } from "../../base/fault.ts";
import type { Roots } from "../../base/path/index.ts";

const MAX_FILTERS = 200;

/**
 * A repository's own settings may name programs under names of its choice (content filters), which no fixed list of settings can switch off.
 * So they are read first, which runs nothing, and switched off one by one. They travel as variables, since a name may hold any character.
 */
export async function filterSwitches(
  git: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const listed = await ask(
    git,
    ["config", "-z", "--name-only", "--get-regexp", "^filter\\..*\\.(clean|smudge|process|required)$"],
    cwd,
    env,
  );
  const names = new Set(
    listed
      .split("\0")
      .filter(Boolean)
      .map((key) => key.slice(0, key.lastIndexOf("."))),
  );
  if (names.size > MAX_FILTERS)
    throw new Fault("command_denied", "The repository's settings name too many filters.", { rule: "git filters" });
  const settings = [...names].flatMap((name) => [
    [`${name}.clean`, ""],
    [`${name}.smudge`, ""],
    [`${name}.process`, ""],
    [`${name}.required`, "false"],
  ]);
  const variables = settings.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, key!],
    [`GIT_CONFIG_VALUE_${at}`, value!],
  ]);
  return { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(variables) };
}

/** Where no sandbox hides the rest of the disk, a repository must not point out of the roots: by a `.git` file or by core.worktree. */
export async function requireInside(
  git: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
  roots: Roots,
): Promise<void> {
  const answers = await Promise.all(
    [["--absolute-git-dir"], ["--git-common-dir"], ["--show-toplevel"]].map((what) =>
      ask(git, ["rev-parse", "--path-format=absolute", ...what], cwd, env),
    ),
  );
  for (const place of answers.map((answer) => answer.trim()).filter(Boolean))
    if (!roots.contains(place))
      throw new Fault("path_denied", "The repository lies outside the allowed roots.", {
        rule: "roots",
        hint: "An operator can add its folder to mcp.tools.allowed_roots.",
      });
}

/** What git prints; nothing when it fails, as it does where there is no repository. */
function ask(git: string, args: string[], cwd: string, env: Readonly<Record<string, string>>): Promise<string> {
  return new Promise((resolve) => {
    execFile(
      git,
      ["--no-pager", "-c", "core.fsmonitor=false", "-c", "safe.bareRepository=explicit", ...args],
      { cwd, env, timeout: 10_000, maxBuffer: 1024 * 1024, killSignal: "SIGKILL" },
      (_error, stdout) => resolve(stdout),
    );
  });
}
