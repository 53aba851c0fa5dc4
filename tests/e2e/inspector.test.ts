import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { BINARY, plainEnv } from "../harness/cli.ts";
import { startHttp, TOKEN } from "../harness/http.ts";
import { temp } from "../harness/temp.ts";

const INSPECTOR = join(import.meta.dirname, "../../node_modules/.bin/mcp-inspector");

/** What the inspector's command line prints; its catalog goes to a home of its own. */
async function inspect(home: string, target: readonly string[], method: readonly string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)(INSPECTOR, ["--cli", ...target, "--method", ...method], {
    env: plainEnv({ HOME: home, MCP_CATALOG_PATH: join(home, "catalog.json") }),
  });
  return JSON.parse(stdout);
}

describe("the inspector's command line", () => {
  it.each(["http", "stdio"] as const)(
    "lists and calls over %s, and finds no schema that a client would refuse",
    async (over) => {
      using folder = temp();
      using home = temp();
      writeFileSync(join(folder.path, "a.txt"), "one\ntwo\n");
      await using server = over === "http" ? await startHttp(folder.path, { args: ["--mode", "classic"] }) : undefined;
      const target = server
        ? [`${server.url}/mcp`, "--transport", "http", "--header", `X-LLMC-Token: ${TOKEN}`]
        : [BINARY, "serve", "--mode", "classic", "--root", folder.path];
      const { tools } = (await inspect(home.path, target, ["tools/list", "--strict"])) as { tools: { name: string }[] };
      expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["stat", "run_cmd", "execute_code"]));
      const call = ["tools/call", "--tool-name", "linux_fs_read", "--tool-arg", "path=a.txt", "max_lines=1"];
      const result = (await inspect(home.path, target, call)) as { content: { text: string }[] };
      expect(JSON.parse(result.content[0]!.text)).toMatchObject({ content: "one\n" });
    },
  );
});
