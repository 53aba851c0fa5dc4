import { mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Temp, temp } from "../../tests/harness/temp.ts";
import type { Fault } from "../base/fault.ts";
import { allKeys } from "./keys.ts";
import { type LoadInput, loadConfig } from "./load.ts";
import { effective } from "./show.ts";

let folder: Temp;
beforeEach(() => {
  folder = temp();
});
afterEach(() => folder[Symbol.dispose]());

function load(toml: string | undefined, more: Partial<LoadInput> = {}) {
  if (toml !== undefined) writeFileSync(join(folder.path, "llmc.toml"), toml);
  return loadConfig({ cwd: folder.path, root: folder.path, env: {}, ...more });
}

function refused(toml: string | undefined, more: Partial<LoadInput> = {}): string {
  try {
    load(toml, more);
  } catch (error) {
    return `${(error as Fault).message} ${(error as Fault).hint ?? ""}`;
  }
  throw new Error("nothing was refused");
}

describe("values", () => {
  it("come from the command line over the environment over the file over the defaults", () => {
    const key = "mcp.output.max_tokens";
    const env = { LLMC_MCP_OUTPUT_MAX_TOKENS: "3000" };
    const toml = "[mcp.output]\nmax_tokens = 2000\n";
    expect(load(undefined).config.mcp.output.max_tokens).toBe(8000);
    expect(load(toml).config.mcp.output.max_tokens).toBe(2000);
    expect(load(toml, { env }).config.mcp.output.max_tokens).toBe(3000);
    const all = load(toml, { env, cli: { [key]: 4000 } });
    expect(all.config.mcp.output.max_tokens).toBe(4000);
    expect(all.origins.get(key)).toBe("cli");
  });

  it("from the environment take the key's type", () => {
    const { tools, output } = load(undefined, {
      env: {
        LLMC_MCP_TOOLS_DISABLED: "stat, health",
        LLMC_MCP_OUTPUT_STRUCTURED: "true",
        LLMC_MCP_TOOLS_READ_TIMEOUT: "2.5",
      },
    }).config.mcp;
    expect([tools.disabled, output.structured, tools.read_timeout]).toEqual([["stat", "health"], true, 2.5]);
    expect(refused(undefined, { env: { LLMC_MCP_OUTPUT_STRUCTURED: "maybe" } })).toContain("true or false");
    expect(refused(undefined, { env: { LLMC_MCP_OUTPUT_MAX_TOKENS: "many" } })).toContain("must be a number");
  });

  it("that are paths start at the file they stand in, or at the working directory", () => {
    const toml = '[mcp]\nstate_dir = "state"\n[mcp.tools]\nallowed_roots = ["sub", "~"]\n';
    const loaded = load(toml, { cwd: "/" });
    expect(loaded.state_dir).toBe(join(folder.path, "state"));
    expect(loaded.allowed_roots).toEqual([join(folder.path, "sub"), homedir()]);
    expect(load(undefined, { cwd: "/tmp", env: { LLMC_STATE_DIR: "x" } }).state_dir).toBe("/tmp/x");
  });
});

describe("mistakes", () => {
  it("name the key that was meant", () => {
    expect(refused("[mcp.tools]\nalowed_roots = []\n")).toContain("Unknown key mcp.tools.alowed_roots");
    expect(refused("[mcp.tools]\nalowed_roots = []\n")).toContain("Did you mean mcp.tools.allowed_roots?");
    expect(refused("[tools]\nmax_tokens = 1\n")).toMatch(/Unknown key tools/);
    expect(refused("[mcp]\nmax_tokens = 1\n")).toContain("mcp.output.max_tokens");
  });

  it("say where they stand", () => {
    expect(refused("[mcp]\nmode = 'fast'\n")).toMatch(
      /mcp\.mode: unknown mode; use classic, hybrid, code_execution \(.*llmc\.toml\)/,
    );
    expect(refused(undefined, { env: { LLMC_MCP_MODE: "fast" } })).toContain("from the environment");
    expect(refused("[mcp\n")).toMatch(/llmc\.toml:\d+:\d+/);
    expect(refused("mcp = 5\n")).toContain("must be a table");
    expect(refused("[mcp]\nconfig_version = 'v9'\n")).toContain("mcp.config_version");
    expect(refused("[mcp.output]\nmax_tokens = 'many'\n")).toContain("mcp.output.max_tokens");
  });

  it("in unknown variables are warned about, not fatal", () => {
    expect(load(undefined, { env: { LLMC_MCP_OUTPUT_FROMAT: "json" } }).warnings[0]).toContain(
      "did you mean LLMC_MCP_OUTPUT_FORMAT?",
    );
  });

  it("through __proto__ change nothing", () => {
    expect(refused("[mcp.__proto__]\nmode = 'classic'\n")).toContain("Unknown key");
    load("", { env: { LLMC___PROTO___POLLUTED: "1" } });
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});

describe("the mode", () => {
  it("is hybrid without a file, classic with one, and what the old switch said", () => {
    expect(load(undefined).mode).toBe("hybrid");
    expect(load("").mode).toBe("classic");
    expect(load("[mcp.code_execution]\nenabled = true\n").mode).toBe("code_execution");
    expect(load("[mcp]\nmode = 'hybrid'\n[mcp.code_execution]\nenabled = true\n").mode).toBe("hybrid");
  });
});

describe("roots", () => {
  it("have an alias, and both set differently is an error", () => {
    expect(load("[mcp.linux_ops.roots]\nallowed_roots = ['a']\nenforce_roots = false\n")).toMatchObject({
      allowed_roots: [join(folder.path, "a")],
      enforce_roots: false,
    });
    expect(refused("[mcp.tools]\nallowed_roots = ['a']\n[mcp.linux_ops.roots]\nallowed_roots = ['b']\n")).toContain(
      "differ",
    );
    expect(refused("[mcp.tools]\nenforce_roots = true\n[mcp.linux_ops.roots]\nenforce_roots = false\n")).toContain(
      "differ",
    );
  });

  it("are the repository by default, and nothing when the list is empty", () => {
    expect(load(undefined).allowed_roots).toEqual([folder.path]);
    expect(load("[mcp.tools]\nallowed_roots = []\n").allowed_roots).toEqual([]);
    expect(load('[mcp.tools]\nallowed_roots = ["/"]\n').allowed_roots).toEqual(["/"]);
  });

  it("are found by flag, variable, config file, marker, in that order, and never by accident", () => {
    const sub = join(folder.path, "a/b");
    mkdirSync(sub, { recursive: true });
    mkdirSync(join(folder.path, "a/.git"));
    expect(loadConfig({ cwd: sub, env: {} }).root).toBe(join(folder.path, "a"));
    writeFileSync(join(folder.path, "other.toml"), "");
    expect(loadConfig({ cwd: sub, env: { LLMC_CONFIG: "../../other.toml" } })).toMatchObject({
      root: folder.path,
      file: join(folder.path, "other.toml"),
    });
    expect(loadConfig({ cwd: sub, env: { LLMC_ROOT: "." } }).root).toBe(sub);
    expect(loadConfig({ cwd: sub, root: "..", env: { LLMC_ROOT: "." } }).root).toBe(join(folder.path, "a"));
    expect(() => loadConfig({ cwd: folder.path, env: {} })).toThrowError(/No repository here/);
    expect(() => loadConfig({ cwd: "/", env: {} })).toThrowError(/No repository here/);
    expect(() => loadConfig({ cwd: sub, config: "nothing.toml", env: {} })).toThrowError(/does not exist/);
  });
});

describe("what is shown", () => {
  it("has every key once, with its description and its origin", () => {
    const keys = allKeys();
    expect(new Set(keys.map((key) => key.path)).size).toBe(keys.length);
    for (const key of keys) expect([key.path, key.description.length > 10]).toEqual([key.path, true]);
    const shown = effective(load("[mcp.output]\nformat = 'json'\n"));
    expect(shown.find(({ key }) => key.path === "mcp.output.format")).toMatchObject({ value: "json", origin: "file" });
    expect(shown.find(({ key }) => key.path === "mcp.mode")).toMatchObject({ value: "classic", origin: "default" });
  });

  it("hides what looks like a secret", () => {
    const toml =
      "[mcp.tools.executables.deploy]\ncommand = ['curl', '--token=swordfish', 'https://user:hunter2@example.org/']\n";
    const text = JSON.stringify(effective(load(toml)));
    expect(text).not.toContain("swordfish");
    expect(text).not.toContain("hunter2");
    expect(text).toContain("example.org");
  });
});
