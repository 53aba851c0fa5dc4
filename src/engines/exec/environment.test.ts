import { describe, expect, it } from "vitest";
import { testExec } from "./test-exec.ts";

const HOSTILE = {
  LD_PRELOAD: "/CANARY/x.so",
  LD_LIBRARY_PATH: "/CANARY",
  NODE_OPTIONS: "--require=/CANARY/x.js",
  PYTHONPATH: "/CANARY",
  PYTHONSTARTUP: "/CANARY",
  BASH_ENV: "/CANARY",
  ENV: "/CANARY",
  GIT_EXTERNAL_DIFF: "/CANARY",
  GIT_CONFIG_PARAMETERS: "'core.pager=CANARY'",
  GIT_DIR: "/CANARY",
  RIPGREP_CONFIG_PATH: "/CANARY",
  GREP_OPTIONS: "CANARY",
  LESSOPEN: "|CANARY",
  LLMC_MCP_TOKEN: "CANARY",
  AWS_SECRET_ACCESS_KEY: "CANARY",
  OPENAI_API_KEY: "CANARY",
  SSH_AUTH_SOCK: "/CANARY",
  HTTPS_PROXY: "http://CANARY@x",
  LANG: "C.UTF-8",
  TZ: "UTC",
};

const PRINT = ["node", "-p", "JSON.stringify(process.env)"];

describe("the environment of a child", () => {
  it.each([
    ["in the sandbox", {}, []],
    ["on the host", { bwrap: null, isolated: true }, ["LLMC_SERVER"]],
  ])("is built from a list, %s", async (_where, deps, more) => {
    await using test = testExec({}, { ...deps, env: HOSTILE });
    const { stdout } = await test.run(PRINT, { session: { agent_id: "a", session_id: "b", model: "c" } });
    expect(stdout).not.toContain("CANARY");
    const names = Object.keys(JSON.parse(stdout)).filter((name) => !["PWD", "OLDPWD", "SHLVL", "_"].includes(name));
    expect(names.sort()).toEqual([
      "HOME",
      "LANG",
      ...more,
      "LOGNAME",
      "PATH",
      "TERM",
      "TE_AGENT_ID",
      "TE_MODEL",
      "TE_SESSION_ID",
      "TMPDIR",
      "TZ",
      "USER",
    ]);
  });

  it("lets no variable of the server change what a reader does", async () => {
    await using test = testExec({}, { env: HOSTILE });
    for (const command of ["git --version", "rg --version", "grep --color=never x -", "ls"]) {
      const result = await test.run(command);
      expect(result.stdout + result.stderr, command).not.toContain("CANARY");
    }
  });

  it("holds no relative or public folder in its PATH", async () => {
    await using test = testExec({}, { path: `/usr/bin:${process.cwd()}/node_modules/.bin:/tmp/x:.` });
    const { PATH } = JSON.parse((await test.run(PRINT)).stdout) as { PATH: string };
    expect(PATH.split(":").every((dir) => dir.startsWith("/") && !dir.startsWith("/tmp"))).toBe(true);
  });
});
