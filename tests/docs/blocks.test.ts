import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse as parseToml } from "smol-toml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse as parseYaml } from "yaml";
import { COMMANDS } from "../../src/cli/commands.ts";
import { parseCommand } from "../../src/cli/parse.ts";
import { loadConfig } from "../../src/config/load.ts";
import { BINARY, plainEnv, runBinary } from "../harness/cli.ts";
import { type Temp, temp } from "../harness/temp.ts";
import { BLOCKS, type Block, ROOT } from "./pages.ts";

const named = ({ page, line, language }: Block) => `${page}:${line} (${language})`;
const cases = (wanted: (block: Block) => boolean) =>
  BLOCKS.filter(wanted).map((block) => [named(block), block] as const);
const isShell = ({ language }: Block) => language === "sh";

/** Commands that serve until they are stopped are stopped when they say that they serve. npx finds what is already here. */
const LLMC = `#!/bin/sh
case " $* " in
  *" serve --http "*|*" --watch "*)
    err=$(mktemp)
    LLMC_MCP_SERVER_PORT=0 "${BINARY}" "$@" 2>"$err" &
    server=$!
    until grep -qE 'is serving|Watching' "$err"; do kill -0 $server || { cat "$err" >&2; exit 1; }; sleep 0.05; done
    kill $server; wait $server; code=$?
    rm -f "$err"
    [ $code -eq 143 ] && code=0
    exit $code ;;
  *) exec "${BINARY}" "$@" ;;
esac
`;

describe("what the documents say can be typed", () => {
  let folder: Temp;
  let bin: string;
  beforeAll(() => {
    folder = temp();
    bin = join(folder.path, "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "llmc"), LLMC);
    writeFileSync(join(bin, "npx"), '#!/bin/sh\nexec "$@"\n');
    for (const name of ["llmc", "npx"]) chmodSync(join(bin, name), 0o755);
    symlinkSync(join(BINARY, "..", "te"), join(bin, "te"));
  });
  afterAll(() => folder[Symbol.dispose]());

  /** A repository with something to find, and a home of its own. */
  function project(): { root: string; env: Record<string, string> } {
    const root = join(folder.path, `project-${Math.random().toString(36).slice(2)}`);
    const home = `${root}-home`;
    for (const path of [root, home, join(root, "src")]) mkdirSync(path, { recursive: true });
    execFileSync("git", ["init", "-q", root]);
    writeFileSync(join(root, "README.md"), "# Shop\n\nOrders are retried.\n");
    writeFileSync(
      join(root, "src", "retry.ts"),
      "/** Where the retry backoff is decided for orders. */\nexport function retryDelay(attempt: number) {\n  return 100 * 2 ** attempt;\n}\n",
    );
    return { root, env: { ...plainEnv({ HOME: home }), PATH: `${bin}:${process.env["PATH"]}` } };
  }

  it.each(cases((block) => isShell(block) && block.note === undefined))("%s runs", (_, { text }) => {
    const { root, env } = project();
    const { status, stderr, stdout } = spawnSync("sh", ["-e", "-c", text.replaceAll("/path/to/your/project", root)], {
      cwd: root,
      env,
      encoding: "utf8",
      input: "",
    });
    expect([status, stderr, stdout]).toMatchObject([0, expect.any(String), expect.any(String)]);
  });

  it.each(cases((block) => isShell(block) && block.note?.startsWith("run by: ") === true))(
    "%s is run by the test it names",
    (_, { note, text }) => {
      const file = join(ROOT, note!.slice("run by: ".length));
      expect(existsSync(file)).toBe(true);
      expect(
        text
          .trim()
          .split("\n")
          .every((line) => /^(npm install|npx|curl) /.test(line)),
      ).toBe(true);
    },
  );

  it.each(cases((block) => isShell(block) && block.note?.startsWith("not run: ") === true))(
    "%s is shell, and its own commands exist",
    (_, { text }) => {
      execFileSync("sh", ["-n", "-c", text]);
      for (const [, words] of text.matchAll(/^(?:npx )?llmc (.*)$/gm))
        parseCommand(words!.replace(/\s+#.*$/, "").split(" "), COMMANDS);
      for (const [path] of text.matchAll(/\bdeploy\/[\w.-]+/g)) expect(existsSync(join(ROOT, path)), path).toBe(true);
    },
  );

  it("leaves no command in a block that is not called one", () => {
    const hidden = BLOCKS.filter(({ language, text }) => language === "" && /^\s*(llmc|npx|npm|docker) /m.test(text));
    expect(hidden.map(named)).toEqual([]);
  });

  it("says for each block that is not run why, and there are few", () => {
    const notes = BLOCKS.filter(isShell).flatMap(({ note }) => (note === undefined ? [] : [note]));
    for (const note of notes) expect(note).toMatch(/^(run by: \S+|not run: .{10,})$/);
    expect(notes.filter((note) => note.startsWith("not run: ")).length).toBeLessThanOrEqual(14);
    expect(BLOCKS.filter((block) => isShell(block) && block.note === undefined).length).toBeGreaterThan(8);
  });

  it.each(cases(({ language, note }) => language === "toml" && note?.startsWith("written by") !== true))(
    "%s is a configuration that loads",
    (_, { text }) => {
      const { root } = project();
      writeFileSync(join(root, "llmc.toml"), text);
      expect(() => loadConfig({ cwd: root, root, env: { LLMC_TOKEN_CI: "0123456789abcdef" } })).not.toThrow();
    },
  );

  it.each(cases(({ note }) => note?.startsWith("written by: ") === true))(
    "%s is what llmc client add writes",
    async (_, { note, text, language }) => {
      const { root, env } = project();
      const client = note!.slice("written by: ".length);
      await runBinary(["client", "add", client], { cwd: root, env });
      const state = JSON.parse((await runBinary(["client", "list", "--json"], { cwd: root, env })).stdout) as {
        id: string;
        file: string;
      }[];
      const file = readFileSync(state.find(({ id }) => id === client)!.file, "utf8");
      const read = language === "toml" ? parseToml : JSON.parse;
      const written = file.replaceAll(root, "/path/to/your/project").replaceAll(BINARY, "/path/to/llmc");
      expect(read(written)).toEqual(read(text));
    },
  );

  it.each(cases(({ language, note }) => ["json", "yaml"].includes(language) && note === undefined))(
    "%s can be read",
    (_, { language, text }) => {
      const read: unknown = language === "json" ? JSON.parse(text) : parseYaml(text);
      expect(read).toBeTypeOf("object");
    },
  );
});
