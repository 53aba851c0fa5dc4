import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runBinary } from "../../../tests/harness/cli.ts";
import { connect } from "../../../tests/harness/client.ts";
import { type Temp, temp } from "../../../tests/harness/temp.ts";
import { inTerminal } from "../../../tests/harness/terminal.ts";
import { countTokens } from "../../core/tokens.ts";
import { lookAt } from "./look.ts";
import { agentsText, contractsText, sidecarText } from "./starters.ts";

let folder: Temp;
let home: string;
let root: string;
beforeEach(() => {
  folder = temp();
  home = join(folder.path, "home");
  root = join(folder.path, "project");
  for (const path of [home, root]) mkdirSync(path);
});
afterEach(() => folder[Symbol.dispose]());

const read = (name: string) => readFileSync(join(root, name), "utf8");
const init = (...args: string[]) => runBinary(["init", ...args], { cwd: root, env: { HOME: home } });
const MADE = ["llmc.toml", "AGENTS.md", "CONTRACTS.md", "AGENTS.min.md", "CONTRACTS.min.md"];

describe("llmc init", () => {
  it("makes an empty folder a repository that serves, with its sidecars as resources", async () => {
    mkdirSync(join(home, ".cursor"));
    const { code, stdout, stderr } = await init("--yes");
    expect([code, stderr]).toEqual([0, ""]);
    for (const name of MADE) expect(stdout).toContain(`✓ ${name}`);
    expect(read("llmc.toml")).toMatch(/# .*\nmode = "hybrid"\n/);
    expect(read("llmc.toml")).toContain('allowed_roots = ["."]');
    expect(existsSync(join(root, ".llmc", "index.db"))).toBe(true);
    const entry = JSON.parse(read(".cursor/mcp.json")).mcpServers.llmc as { args: string[] };
    expect(entry.args).toEqual(["serve", "--root", root]);
    await using server = await connect(root);
    const { resources } = await server.client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(expect.arrayContaining(["llmc://docs/AGENTS.min.md"]));
    const { contents } = await server.client.readResource({ uri: "llmc://docs/CONTRACTS.min.md" });
    expect(contents).toMatchObject([{ text: read("CONTRACTS.min.md") }]);
  });

  it("overwrites nothing, links included, and says so", async () => {
    for (const name of MADE) writeFileSync(join(root, name), name === "llmc.toml" ? "[mcp]\n" : `${name} of mine\n`);
    const first = await init("--yes", "--no-index");
    for (const name of MADE) expect(first.stdout).toContain(`· ${name}`);
    expect(read("AGENTS.md")).toBe("AGENTS.md of mine\n");
    const other = join(folder.path, "other");
    mkdirSync(other);
    symlinkSync(join(folder.path, "outside.md"), join(other, "AGENTS.md"));
    const { code } = await runBinary(["init", "--yes", "--no-index", "--root", other], {
      cwd: root,
      env: { HOME: home },
    });
    expect([code, existsSync(join(folder.path, "outside.md"))]).toEqual([0, false]);
  });

  it("copies nothing from outside that a link of the repository leads to", async () => {
    const secret = join(folder.path, "secret.md");
    writeFileSync(secret, "A canary that sings.\n");
    for (const name of ["AGENTS.md", "README.md"]) symlinkSync(secret, join(root, name));
    expect((await init("--yes", "--no-index")).code).toBe(0);
    for (const name of readdirSync(root).filter((entry) => !["AGENTS.md", "README.md"].includes(entry)))
      if (statSync(join(root, name)).isFile()) expect(read(name)).not.toContain("canary");
    expect(existsSync(join(root, "AGENTS.min.md"))).toBe(false);
  });

  it("does only what is wanted", async () => {
    mkdirSync(join(home, ".cursor"));
    await init("--yes", "--no-docs", "--no-index", "--no-clients");
    expect(MADE.filter((name) => existsSync(join(root, name)))).toEqual(["llmc.toml"]);
    expect([".cursor", ".llmc"].filter((name) => existsSync(join(root, name)))).toEqual([]);
  });

  it("asks in a terminal, and does what was answered", async () => {
    mkdirSync(join(home, ".codex"));
    await using session = inTerminal(["init"], { cwd: root, env: { HOME: home } });
    await session.shows("Write starters");
    session.press("n");
    await session.shows("Index it now");
    session.press("n");
    await session.shows("Register with which clients");
    session.press("\r");
    expect(await session.ended).toBe(0);
    expect(MADE.filter((name) => existsSync(join(root, name)))).toEqual(["llmc.toml"]);
    expect(readFileSync(join(home, ".codex", "config.toml"), "utf8")).toContain("[mcp_servers.llmc]");
    expect(session.text()).toContain("Start Codex again");
  });

  it("writes nothing when the person goes away", async () => {
    await using session = inTerminal(["init"], { cwd: root, env: { HOME: home } });
    await session.shows("Write starters");
    session.press("\u0003");
    expect(await session.ended).toBe(1);
    expect(session.text()).toContain("Nothing was written");
    expect(readdirSync(root)).toEqual([]);
  });

  it.each([
    [["init"], "llmc init --yes"],
    [["init", "--yes", "--root", "gone"], "There is no folder"],
  ])("%j in no terminal is one line that says what to do", async (args, text) => {
    const { code, stderr } = await runBinary(args, { cwd: root, env: { HOME: home } });
    expect([code, stderr.trim().split("\n").length, stderr]).toEqual([2, 1, expect.stringContaining(text)]);
  });

  it("does not take a home for a project", async () => {
    const { code, stderr } = await runBinary(["init", "--yes"], { cwd: home, env: { HOME: home } });
    expect([code, stderr]).toEqual([2, expect.stringContaining("is no project")]);
  });
});

describe("the starters", () => {
  it("tell what the repository itself says", () => {
    writeFileSync(
      join(root, "package.json"),
      JSON.stringify({ name: "shop", bin: { shop: "x" }, scripts: { test: "vitest run", build: "tsc" } }),
    );
    writeFileSync(
      join(root, "README.md"),
      "# Shop\n\n[![badge](https://x/badge.svg)](https://x)\n\nSells *things*\nto people.\n",
    );
    for (const name of ["src", "api", "node_modules"]) mkdirSync(join(root, name));
    writeFileSync(join(root, "api", "openapi.yaml"), "");
    const look = lookAt(root);
    const agents = agentsText(look);
    expect(agents).toContain("# shop\n\nSells *things* to people.\n");
    expect(agents).toContain("- `npm test`: vitest run\n- `npm run build`: tsc");
    expect(agents).toContain("- `api/`\n- `src/`");
    expect(agents).not.toContain("node_modules");
    expect(contractsText(look)).toContain("- the command shop\n- api/openapi.yaml");
  });

  it("are short for models, whatever they are for people", () => {
    const long = `# Title\n\n<!-- note -->\n\n\`\`\`sh\ncode\n\`\`\`\n\n${"- a rule about something that matters\n\n".repeat(500)}`;
    const short = sidecarText(long);
    expect(short.startsWith("# Title\n- a rule")).toBe(true);
    expect(short).not.toMatch(/note|code|\n\n/);
    expect(countTokens(short)).toBeLessThanOrEqual(400);
  });
});
