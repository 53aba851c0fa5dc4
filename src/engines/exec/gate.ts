import { lstatSync } from "node:fs";
import { basename, resolve } from "node:path";
import type { AllowedCommand, CommandClass } from "../../base/command.ts";
import { Fault } from "../../base/fault.ts";
import { inside, pin, pinDir, type Roots } from "../../base/path/index.ts";
import { nearest, visible } from "../../base/text.ts";
import { filterSwitches, requireInside } from "./git-guard.ts";
import { INSTEAD } from "./instead.ts";
import type { Isolation } from "./isolation.ts";
import { NEVER, SHELLS } from "./names.ts";
import { narrowed } from "./narrow.ts";
import type { ExecOptions } from "./options.ts";
import { type CompiledPolicy, createPolicies, type PathArgument } from "./policy/index.ts";
import { isProgram, type Programs, realOr } from "./resolve.ts";
import { splitCommand } from "./split.ts";

export interface CommandRequest {
  /** Exactly one of the two. */
  readonly command?: string | undefined;
  readonly argv?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
}

export interface Gate {
  /** The only makers of AllowedCommand. */
  allow(request: CommandRequest): Promise<AllowedCommand>;
  allowExecutable(name: string, args: readonly string[], cwd?: string): Promise<AllowedCommand>;
}

interface GateFacts {
  readonly options: ExecOptions;
  readonly roots: Roots;
  readonly programs: Programs;
  readonly isolation: Isolation;
  /** Names whose contents a recursive reader must not show. */
  readonly hidden: readonly string[];
  /** A program of our own, ahead of the system's. */
  ownProgram(name: string): Promise<string | undefined>;
}

const MAX_ARGS = 4096;
const MAX_ARG_BYTES = 1024 * 1024;

export function createGate(facts: GateFacts): Gate {
  const { options, roots } = facts;
  const policies = createPolicies(options.policy);
  const listed = new Set(options.run_cmd_allowlist);

  async function allow(request: CommandRequest): Promise<AllowedCommand> {
    requireEnabled();
    const words = wordsOf(request);
    const name = listedName(words[0]!);
    const kind = classOf(name);
    const base = folder(request.cwd, roots.list[0]);
    const policy = kind === "reader" ? policies(name) : undefined;
    if (!policy)
      return mint({
        name,
        class: kind,
        file: await programOf(name, kind),
        args: narrowed(name, options.policy[name], words.slice(1)),
        cwd: base,
        rule: `${name} (${kind})`,
        words,
      });
    const judged = policy.judge(words.slice(1), facts.hidden);
    const cwd = judged.cwd === undefined ? base : folder(judged.cwd, base);
    checkPaths(judged.paths, cwd, roots);
    return mint({
      name,
      class: kind,
      file: await programOf(name, kind),
      args: judged.args,
      cwd,
      rule: judged.rule,
      words,
      policy,
    });
  }

  async function allowExecutable(name: string, args: readonly string[], cwd?: string): Promise<AllowedCommand> {
    requireEnabled();
    const executable = Object.hasOwn(options.executables, name) ? options.executables[name]! : undefined;
    if (!executable) throw new Fault("unknown_tool", `There is no executable called ${visible(name)}.`);
    const words = wordsOf({ argv: [...executable.command, ...args] });
    const file = executableFile(words[0]!, executable.class);
    const rest = [...executable.command.slice(1), ...narrowed(name, options.policy[name], args)];
    return mint({
      name,
      class: executable.class,
      file,
      args: rest,
      cwd: folder(cwd, roots.list[0]),
      rule: `executable ${name}`,
      words,
    });
  }

  interface Draft {
    readonly name: string;
    readonly class: CommandClass;
    readonly file: string;
    readonly args: readonly string[];
    readonly cwd: string;
    readonly rule: string;
    readonly words: readonly string[];
    readonly policy?: CompiledPolicy;
  }

  async function mint({ words, policy, ...draft }: Draft): Promise<AllowedCommand> {
    const level = await facts.isolation.levelFor(draft.class, policy?.walled ?? false);
    const env = draft.name === "git" && policy ? await gitEnvironment(policy, draft, level) : (policy?.env ?? {});
    return { ...draft, level, env, words, shown: words.map(quoted).join(" ") } as unknown as AllowedCommand;
  }

  async function gitEnvironment(
    policy: CompiledPolicy,
    draft: Pick<Draft, "file" | "cwd">,
    level: string,
  ): Promise<Record<string, string>> {
    const env = { ...policy.env, PATH: facts.programs.system_path, HOME: "/nonexistent" };
    if (level !== "bwrap") await requireInside(draft.file, draft.cwd, env, roots);
    return { ...policy.env, ...(await filterSwitches(draft.file, draft.cwd, env)) };
  }

  function requireEnabled(): void {
    if (!options.enable_run_cmd)
      throw new Fault("tool_disabled", "Commands are switched off.", {
        hint: "mcp.tools.enable_run_cmd is false.",
        rule: "enable_run_cmd",
      });
  }

  /** The name in the allowlist that a first word stands for: itself, or the name of the very program that its path leads to. */
  function listedName(word: string): string {
    const name = basename(word);
    const isPathOfListed =
      word.startsWith("/") &&
      listed.has(name) &&
      [facts.programs.system(name), facts.programs.project(name)].some(
        (file) => file !== undefined && realOr(file) === realOr(word),
      );
    if (isPathOfListed) return name;
    if (listed.has(word)) return word;
    throw notListed(word, listed);
  }

  function classOf(name: string): CommandClass {
    const option = Object.hasOwn(options.policy, name) ? options.policy[name] : undefined;
    if (option?.class) return option.class;
    if (NEVER.includes(name))
      throw new Fault("command_denied", `${name} runs other programs, so no policy can hold it.`, {
        hint: INSTEAD[name] ?? "Run the program itself.",
        rule: "never",
      });
    if (policies(name)) return "reader";
    return SHELLS.includes(name) ? "shell" : "project_code";
  }

  async function programOf(name: string, kind: CommandClass): Promise<string> {
    if (name.includes("/")) return executableFile(name, kind);
    const file =
      (await facts.ownProgram(name)) ??
      (kind === "reader" ? facts.programs.system(name) : facts.programs.project(name));
    if (file !== undefined) return file;
    throw new Fault("command_denied", `${name} is allowed but not installed.`, {
      hint: "Install it where the server's PATH finds it.",
      rule: "not installed",
    });
  }

  /** A program the operator named by path. What the project could have changed is trusted only inside a sandbox. */
  function executableFile(word: string, kind: CommandClass): string {
    const file = word.includes("/") ? resolve(roots.list[0] ?? "/", word) : (facts.programs.project(word) ?? word);
    if (!isProgram(file))
      throw new Fault("command_denied", `${visible(word)} is no program here.`, { rule: "not installed" });
    if (kind === "reader" && roots.list.some((root) => inside(realOr(file), root)))
      throw new Fault(
        "command_denied",
        `${visible(word)} lies inside a root, where it can be changed: it cannot be a reader.`,
        { rule: "reader in root" },
      );
    return file;
  }

  function folder(path: string | undefined, base: string | undefined): string {
    if (base === undefined)
      throw new Fault("path_denied", "No root is allowed, so there is no folder to run in.", {
        hint: "Set mcp.tools.allowed_roots.",
      });
    using pinned = pinDir(roots, roots.mint(path ?? base, "read", base));
    return pinned.real;
  }

  return { allow, allowExecutable };
}

function wordsOf(request: CommandRequest): readonly string[] {
  if ((request.command === undefined) === (request.argv === undefined))
    throw new Fault("invalid_args", "Give either command or argv.");
  const words = request.argv ?? splitCommand(request.command!);
  if (words.length === 0 || words[0] === "") throw new Fault("invalid_args", "The command is empty.");
  if (words.some((word) => word.includes("\0"))) throw new Fault("invalid_args", "An argument holds a NUL character.");
  const bytes = words.reduce((sum, word) => sum + Buffer.byteLength(word), 0);
  if (words.length > MAX_ARGS || bytes > MAX_ARG_BYTES)
    throw new Fault("invalid_args", "Too many or too long arguments.", { hint: "Pass long text as stdin." });
  return words;
}

/** Every path among the arguments lies inside the roots and is a plain file or a folder; what is missing is left to the program to say. */
function checkPaths(paths: readonly PathArgument[], cwd: string, roots: Roots): void {
  for (const { text, certain } of paths) {
    if (!certain && !mayLeave(text, cwd)) continue;
    try {
      using pinned = pin(roots, roots.mint(text === "" ? "." : text, "read", cwd));
      if (!pinned.stat.isFile() && !pinned.stat.isDirectory())
        throw new Fault("path_denied", `${visible(text)} is neither a file nor a folder.`, {
          rule: "regular files only",
        });
    } catch (error) {
      if (!(error instanceof Fault) || !["file_not_found", "not_a_directory", "permission_denied"].includes(error.code))
        throw error;
    }
  }
}

/** Whether a word that may be a ref leads somewhere as a path. */
function mayLeave(text: string, cwd: string): boolean {
  if (text.startsWith("/") || text.startsWith("~") || text.split("/").includes("..")) return true;
  return lstatSync(resolve(cwd, text), { throwIfNoEntry: false }) !== undefined;
}

function notListed(word: string, listed: ReadonlySet<string>): Fault {
  const close = nearest(word, listed);
  const hint =
    INSTEAD[word] ??
    (close === undefined ? "An operator can add it to mcp.tools.run_cmd_allowlist." : `Did you mean ${close}?`);
  return new Fault("command_denied", `${visible(word).slice(0, 100)} is not in the allowlist.`, {
    hint,
    rule: "run_cmd_allowlist",
  });
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
