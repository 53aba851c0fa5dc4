import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { parse as parseJsonc } from "jsonc-parser";
import { parse as parseToml } from "smol-toml";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fc } from "../../../tests/harness/random.ts";
import { type Temp, temp } from "../../../tests/harness/temp.ts";
import { CLIENTS, type Places } from "./clients.ts";
import { serveEntry } from "./entry.ts";
import { clientNamed, createRegistry, type Registry } from "./registry.ts";

let folder: Temp;
let places: Places;
let registry: Registry;
beforeEach(() => {
  folder = temp();
  const home = join(folder.path, "home");
  const root = join(folder.path, "project");
  for (const path of [home, root]) mkdirSync(path);
  places = { home, root, config: join(home, ".config"), codex: join(home, ".codex") };
  registry = createRegistry(places, join(home, ".local", "state", "llmc"), serveEntry(root, "/opt/llmc/bin/llmc"));
});
afterEach(() => folder[Symbol.dispose]());

function place(id: string, text: string): string {
  const file = clientNamed(id).file(places);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}
const read = (file: string) => readFileSync(file, "utf8");
const args = () => ["serve", "--root", places.root];

const ZED = `{
  // Look and feel
  "theme": "One Dark", /* dark */
  "context_servers": {
    "docs": { "command": "docs" }, // the team's
  },
}
`;

const CODEX = `model = "gpt-5"   # the good one

[mcp_servers.docs]
command = "docs"
args = [
  "--port", "1", # ours
]

# How it looks
[tui]
theme = "dark"
`;

describe("registering with clients", () => {
  it.each(CLIENTS.map(({ id }) => id))("%s gets a file of its own, which is gone when it is undone", (id) => {
    const client = clientNamed(id);
    const { outcome, file } = registry.add(client, "llmc");
    expect(outcome).toBe("added");
    const servers = (client.format === "json" ? parseJsonc(read(file)) : parseToml(read(file)))[client.table];
    expect(servers).toEqual({ llmc: { ...client.extra, command: "/opt/llmc/bin/llmc", args: args() } });
    expect(registry.add(client, "llmc").outcome).toBe("unchanged");
    expect(registry.list().find((state) => state.id === id)!.registered).toMatchObject([{ root: places.root }]);
    expect(registry.remove(client, "llmc").outcome).toBe("restored");
    expect(existsSync(file)).toBe(false);
    expect(registry.remove(client, "llmc").outcome).toBe("absent");
  });

  it("keeps every comment, key and comma of a file that is there, and its mode", () => {
    const file = place("zed", ZED);
    chmodSync(file, 0o600);
    registry.add(clientNamed("zed"), "llmc");
    for (const line of ZED.split("\n")) expect(read(file)).toContain(line);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(parseJsonc(read(file)).context_servers).toMatchObject({ docs: { command: "docs" }, llmc: { args: args() } });
    expect(registry.remove(clientNamed("zed"), "llmc").outcome).toBe("restored");
    expect(read(file)).toBe(ZED);
    expect(readdirSync(dirname(file))).toEqual(["settings.json"]);
  });

  it("takes out its entry alone when someone changed the file since", () => {
    const file = place("zed", ZED);
    registry.add(clientNamed("zed"), "llmc");
    writeFileSync(file, read(file).replace('"One Dark"', '"Light"'));
    expect(registry.remove(clientNamed("zed"), "llmc").outcome).toBe("removed");
    expect(parseJsonc(read(file))).toEqual({ ...parseJsonc(ZED), theme: "Light" });
    for (const comment of ["// Look and feel", "/* dark */", "// the team's"]) expect(read(file)).toContain(comment);
  });

  it("writes TOML as text: comments, order and lists over several lines stay", () => {
    const file = place("codex", CODEX);
    registry.add(clientNamed("codex"), "llmc");
    expect(read(file).startsWith(CODEX)).toBe(true);
    expect(parseToml(read(file))["mcp_servers"]).toMatchObject({ docs: {}, llmc: { args: args() } });
    writeFileSync(file, `${read(file)}\n[history]\nkept = true\n`);
    expect(registry.remove(clientNamed("codex"), "llmc").outcome).toBe("removed");
    expect(read(file)).toBe(`${CODEX}\n[history]\nkept = true\n`);
  });

  it("updates an entry of its own and leaves what the user added to it", () => {
    const own = `[mcp_servers.llmc]\nargs = [\n  "serve", "--root", "${places.root}"\n]\ncommand = "/old/llmc" # mine\nstartup_timeout_sec = 9\n\n[mcp_servers.llmc.env]\ncommand = "x"\n`;
    const file = place("codex", own);
    expect(registry.add(clientNamed("codex"), "llmc").outcome).toBe("changed");
    expect(parseToml(read(file))).toEqual({
      mcp_servers: {
        llmc: { command: "/opt/llmc/bin/llmc", args: args(), startup_timeout_sec: 9, env: { command: "x" } },
      },
    });
    expect(read(file)).toContain("# mine");
    const json = place(
      "gemini",
      JSON.stringify({ mcpServers: { llmc: { command: "/old", args: args(), trust: true } } }),
    );
    registry.add(clientNamed("gemini"), "llmc");
    expect(JSON.parse(read(json)).mcpServers.llmc).toEqual({
      command: "/opt/llmc/bin/llmc",
      args: args(),
      trust: true,
    });
  });

  it("does not take the place of another project's entry, and can stand beside it", () => {
    place("codex", `[mcp_servers.llmc]\ncommand = "llmc"\nargs = ["serve", "--root", "/other"]\n`);
    expect(() => registry.add(clientNamed("codex"), "llmc")).toThrow(/has a server "llmc" for \/other/);
    expect(registry.add(clientNamed("codex"), "llmc-2").outcome).toBe("added");
    expect(
      registry
        .list()
        .find(({ id }) => id === "codex")!
        .registered.map(({ root }) => root),
    ).toEqual(["/other", places.root]);
  });

  it.each([
    ["zed", "{ broken", /is not JSON \(line 1\)/],
    ["zed", '{ "context_servers": [] }', /is not a table/],
    ["zed", "[]", /holds no object/],
    ["codex", "a = = b\n", /is not TOML \(line 1\)/],
    ["codex", 'mcp_servers = { docs = { command = "d" } }\n', /cannot be changed without touching/],
  ])("leaves a file of %s that holds %j as it is", (id, text, message) => {
    const file = place(id, text);
    expect(() => registry.add(clientNamed(id), "llmc")).toThrow(message);
    expect(read(file)).toBe(text);
    expect(readdirSync(dirname(file))).toHaveLength(1);
  });

  it("follows a link of the person's own, and none that leads out of the repository", () => {
    const real = join(places.home, "dotfiles.json");
    writeFileSync(real, "{}\n");
    mkdirSync(join(places.config, "zed"), { recursive: true });
    symlinkSync(real, join(places.config, "zed", "settings.json"));
    expect(registry.add(clientNamed("zed"), "llmc").file).toBe(real);
    symlinkSync(real, join(places.root, ".mcp.json"));
    const before = read(real);
    expect(() => registry.add(clientNamed("claude-code"), "llmc")).toThrow(/leads to/);
    expect(read(real)).toBe(before);
  });

  it("finds the clients that are used here", () => {
    expect(registry.found()).toEqual([]);
    mkdirSync(join(places.home, ".cursor"));
    mkdirSync(join(places.root, ".vscode"));
    expect(registry.found().map(({ id }) => id)).toEqual(["cursor", "vscode"]);
  });

  it("asks npx again where npx unpacked it", () => {
    expect(serveEntry("/p", "/home/x/.npm/_npx/ab12/node_modules/llmc/bin/llmc")).toMatchObject({
      command: "npx",
      args: ["-y", expect.stringMatching(/^llmc@\d/), "serve", "--root", "/p"],
    });
  });

  it("any JSON in any style comes back byte for byte, and means the same meanwhile", () => {
    const styles = fc.constantFrom<[string | undefined, string]>(
      [undefined, "\n"],
      ["  ", "\n"],
      ["\t", "\r\n"],
      ["    ", "\n"],
    );
    const name = fc.stringMatching(/^[a-z]{1,8}$/);
    const others = fc.dictionary(
      name.filter((one) => one !== "llmc"),
      fc.record({ command: fc.string() }),
    );
    const document = fc.tuple(fc.dictionary(name, fc.jsonValue()), fc.option(others, { nil: undefined }));
    fc.assert(
      fc.property(document, styles, fc.boolean(), ([rest, servers], [indent, eol], mark) => {
        const { mcpServers: _, ...keys } = rest;
        const value = servers === undefined ? keys : { ...keys, mcpServers: servers };
        const text = (mark ? "\ufeff" : "") + JSON.stringify(value, null, indent).replaceAll("\n", eol) + eol;
        const file = place("gemini", text);
        registry.add(clientNamed("gemini"), "llmc");
        const { mcpServers, ...kept } = JSON.parse(read(file).replace("\ufeff", ""));
        expect(kept).toEqual(JSON.parse(JSON.stringify(keys)));
        expect({ ...mcpServers, llmc: undefined }).toEqual({
          ...JSON.parse(JSON.stringify(servers ?? {})),
          llmc: undefined,
        });
        expect(mcpServers.llmc.args).toEqual(args());
        writeFileSync(file, `${read(file)} `);
        expect(registry.remove(clientNamed("gemini"), "llmc").outcome).toBe("removed");
        const left = parseJsonc(read(file).replace("\ufeff", ""));
        expect({ mcpServers: {}, ...left }).toEqual({ mcpServers: {}, ...JSON.parse(JSON.stringify(value)) });
        writeFileSync(file, text);
        registry.add(clientNamed("gemini"), "llmc");
        registry.remove(clientNamed("gemini"), "llmc");
        expect(read(file)).toBe(text);
      }),
      { numRuns: 60 },
    );
  });
});
