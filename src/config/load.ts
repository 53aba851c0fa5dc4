import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, resolve } from "node:path";
import { parse, TomlError } from "smol-toml";
import type { z } from "zod";
import { Fault } from "../base/fault.ts";
import { nearest } from "../base/text.ts";
import { MODES, type ModeName } from "../core/options.ts";
import { allKeys, type Key, namesBelow } from "./keys.ts";
import { type Located, locate } from "./root.ts";
import { type Config, configSchema } from "./schema.ts";

export type Origin = "default" | "file" | "env" | "cli";

export interface Loaded {
  readonly config: Config;
  readonly mode: ModeName;
  readonly root: string;
  readonly root_by: string;
  readonly file: string | undefined;
  readonly state_dir: string;
  readonly allowed_roots: readonly string[];
  readonly enforce_roots: boolean;
  readonly isolated: boolean;
  /** The server's own variables, for those who must build an environment from a part of them. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly origins: ReadonlyMap<string, Origin>;
  readonly warnings: readonly string[];
}

export interface LoadInput {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Values from the command line, by key path. */
  readonly cli?: Readonly<Record<string, unknown>> | undefined;
  readonly root?: string | undefined;
  readonly config?: string | undefined;
}

/** Environment names that are not keys. */
const PLAIN_ENV = new Set(["LLMC_CONFIG", "LLMC_ROOT", "LLMC_STATE_DIR", "LLMC_ISOLATED"]);

type Table = Record<string, unknown>;

/** Defaults < file < environment < command line. The only reader of the environment. */
export function loadConfig(input: LoadInput): Loaded {
  const located = locate({ cwd: input.cwd, root: input.root, config: input.config, env: input.env });
  const origins = new Map<string, Origin>();
  const values = readFile(located.file, origins);
  const strays = applyEnv(values, input, origins);
  for (const [path, value] of Object.entries(input.cli ?? {}))
    if (value !== undefined) set(values, path, pathValue(path, value, input.cwd), origins, "cli");

  const config = checked(values, located.file, origins);
  const secrets = secretNames(config);
  const warnings = strays.filter((name) => !secrets.has(name)).map(unknownEnv);
  return { config, ...derived(config, located, input, origins), origins, warnings };
}

function derived(config: Config, located: Located, input: LoadInput, origins: ReadonlyMap<string, Origin>) {
  const { tools, linux_ops } = config.mcp;
  const alias = linux_ops.roots;
  conflict("allowed_roots", tools.allowed_roots, alias.allowed_roots);
  conflict(
    "enforce_roots",
    origins.has("mcp.tools.enforce_roots") ? tools.enforce_roots : undefined,
    alias.enforce_roots,
  );
  return {
    mode: modeOf(config, located.file !== undefined),
    root: located.root,
    root_by: located.by,
    file: located.file,
    state_dir: resolve(located.root, config.mcp.state_dir),
    allowed_roots: (tools.allowed_roots ?? alias.allowed_roots ?? [located.root]).map((path) =>
      resolve(located.root, path),
    ),
    enforce_roots: alias.enforce_roots ?? tools.enforce_roots,
    isolated: input.env["LLMC_ISOLATED"] === "1",
    env: input.env,
  };
}

function modeOf(config: Config, hasFile: boolean): ModeName {
  if (config.mcp.mode !== undefined) return config.mcp.mode;
  if (config.mcp.code_execution.enabled) return "code_execution";
  return hasFile ? "classic" : "hybrid";
}

function conflict(name: string, tools: unknown, alias: unknown): void {
  if (tools === undefined || alias === undefined || JSON.stringify(tools) === JSON.stringify(alias)) return;
  throw new Fault("invalid_args", `mcp.tools.${name} and mcp.linux_ops.roots.${name} are both set and differ.`, {
    hint: "They are one key: keep the first.",
  });
}

function readFile(file: string | undefined, origins: Map<string, Origin>): Table {
  if (file === undefined) return {};
  const table = parsed(file);
  refuseUnknown(table, [], file);
  const values: Table = {};
  for (const key of allKeys()) {
    const value = get(table, key.path);
    if (value !== undefined) set(values, key.path, pathValue(key.path, value, dirname(file)), origins, "file");
  }
  return values;
}

function parsed(file: string): Table {
  try {
    return parse(readFileSync(file, "utf8")) as Table;
  } catch (error) {
    if (error instanceof TomlError)
      throw new Fault("invalid_args", `${file}:${error.line}:${error.column}: ${error.message.split("\n")[0]}`, {
        hint: "Mend the TOML.",
      });
    throw new Fault("file_not_found", `The config file cannot be read: ${file}`, {
      hint: "Let this user read it, or name another with --config.",
      cause: error,
    });
  }
}

function refuseUnknown(table: Table, path: readonly string[], file: string): void {
  const known = namesBelow(path);
  if (!known) return;
  for (const [name, value] of Object.entries(table)) {
    const here = [...path, name];
    if (!known.includes(name)) throw unknownKey(here.join("."), file);
    if (isTable(value)) refuseUnknown(value, here, file);
    else if (namesBelow(here))
      throw new Fault("invalid_args", `${here.join(".")} in ${file} must be a table: [${here.join(".")}].`);
  }
}

function unknownKey(path: string, file: string): Fault {
  const sections = new Set(allKeys().flatMap((key) => [key.path, key.path.split(".").slice(0, -1).join(".")]));
  const close = nearest(path, sections) ?? bySameLeaf(path);
  return new Fault("invalid_args", `Unknown key ${path} in ${file}.`, {
    hint: close ? `Did you mean ${close}?` : "llmc config show lists every key.",
  });
}

function bySameLeaf(path: string): string | undefined {
  const leaf = path.split(".").at(-1)!;
  return allKeys().find((key) => key.path.endsWith(`.${leaf}`))?.path;
}

/** The list of keys is only made when a variable might be one: most starts have none. */
function applyEnv(values: Table, input: LoadInput, origins: Map<string, Origin>): string[] {
  const strays: string[] = [];
  if (input.env["LLMC_STATE_DIR"])
    set(values, "mcp.state_dir", resolve(input.cwd, input.env["LLMC_STATE_DIR"]), origins, "env");
  for (const [name, text] of Object.entries(input.env)) {
    if (!name.startsWith("LLMC_") || text === undefined || PLAIN_ENV.has(name)) continue;
    const key = allKeys().find(({ env }) => env === name);
    if (key) set(values, key.path, pathValue(key.path, fromText(key, text), input.cwd), origins, "env");
    else strays.push(name);
  }
  return strays;
}

/** Variables that the configuration names: they hold secrets, not keys. */
function secretNames(config: Config): ReadonlySet<string | undefined> {
  const { auth } = config.mcp;
  const providers = Object.values(config.rlm.providers).map((provider) => provider.api_key_env);
  const tokens = auth.tokens.map((token) => token.token_env);
  return new Set([
    auth.token_env,
    config.mcp.store.url_env,
    config.rag.embeddings.api_key_env,
    ...tokens,
    ...providers,
  ]);
}

function unknownEnv(name: string): string {
  const close = nearest(name, [...allKeys().map((key) => key.env), ...PLAIN_ENV]);
  return `Unknown environment variable ${name}${close ? `; did you mean ${close}?` : "."}`;
}

function fromText(key: Key, text: string): unknown {
  if (key.kind === "list") return text === "" ? [] : text.split(",").map((item) => item.trim());
  if (key.kind === "boolean") {
    if (/^(true|1)$/i.test(text)) return true;
    if (/^(false|0)$/i.test(text)) return false;
    throw new Fault("invalid_args", `${key.env} must be true or false.`);
  }
  if (key.kind === "number") {
    if (text.trim() === "" || Number.isNaN(Number(text)))
      throw new Fault("invalid_args", `${key.env} must be a number.`);
    return Number(text);
  }
  if (key.kind === "table") throw new Fault("invalid_args", `${key.path} can only be set in the config file.`);
  return text;
}

function pathValue(path: string, value: unknown, base: string): unknown {
  if (!allKeys().some((key) => key.path === path && key.is_path)) return value;
  const one = (item: unknown) => (typeof item === "string" ? absolute(item, base) : item);
  return Array.isArray(value) ? value.map(one) : one(value);
}

function absolute(path: string, base: string): string {
  if (path === "~" || path.startsWith("~/")) return homedir() + path.slice(1);
  return isAbsolute(path) ? path : resolve(base, path);
}

function checked(values: Table, file: string | undefined, origins: Map<string, Origin>): Config {
  const result = configSchema.safeParse(values, { jitless: true });
  if (result.success) return result.data;
  const issue = result.error.issues[0]!;
  throw new Fault("invalid_args", `${issue.path.join(".")}: ${problem(issue)} (${source(issue, file, origins)})`, {
    hint: "llmc config show lists every key with its default.",
  });
}

function problem(issue: z.core.$ZodIssue): string {
  if (issue.path.join(".") === "mcp.mode") return `unknown mode; use ${MODES.join(", ")}`;
  return issue.message;
}

function source(issue: z.core.$ZodIssue, file: string | undefined, origins: ReadonlyMap<string, Origin>): string {
  const path = issue.path.join(".");
  const key = [...origins.keys()].find((name) => path === name || path.startsWith(`${name}.`));
  const origin = key === undefined ? "file" : origins.get(key)!;
  return origin === "file" ? (file ?? "no file") : origin === "env" ? "from the environment" : "from the command line";
}

function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function get(table: Table, path: string): unknown {
  let current: unknown = table;
  for (const part of path.split(".")) {
    if (!isTable(current) || !Object.hasOwn(current, part)) return undefined;
    current = current[part];
  }
  return current;
}

function set(table: Table, path: string, value: unknown, origins: Map<string, Origin>, origin: Origin): void {
  const parts = path.split(".");
  let current = table;
  for (const part of parts.slice(0, -1)) {
    if (!Object.hasOwn(current, part)) current[part] = {};
    current = current[part] as Table;
  }
  current[parts.at(-1)!] = value;
  origins.set(path, origin);
}
