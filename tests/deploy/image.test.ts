import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type BuiltImage, buildImage } from "../../scripts/image.ts";
import { type Temp, temp } from "../harness/temp.ts";

const TOKEN = "image-test-token-0123456789";
const USER = 1000;
const NAME = "localhost/llmc";

/** Chroots need root. Whoever is not root has the same image test in CI. */
describe.skipIf(process.getuid?.() !== 0)("the image", () => {
  let folder: Temp;
  let image: BuiltImage;
  let config: { Entrypoint: string[]; Cmd: string[]; User: string; Healthcheck: { Test: string[] } };
  let container = "";

  beforeAll(() => {
    folder = temp();
    execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder.path]);
    image = buildImage(join(folder.path, readdirSync(folder.path).find((name) => name.endsWith(".tgz"))!));
    for (const name of ["state", "workspace"]) {
      mkdirSync(join(folder.path, name));
      chownSync(join(folder.path, name), USER, USER);
    }
    writeFileSync(join(folder.path, "workspace", "a.txt"), "hello from the host\n");
    container = image.buildah("from", "--pull-never", NAME);
    config = JSON.parse(image.buildah("inspect", container)).Docker.config;
  }, 600_000);
  afterAll(() => {
    image?.remove();
    folder?.[Symbol.dispose]();
  });

  const env = { ...process.env, BUILDAH_ISOLATION: "chroot", LLMC_MCP_TOKEN: TOKEN };
  const volumes = () => ["state", "workspace"].flatMap((name) => ["-v", `${join(folder.path, name)}:/${name}`]);
  const words = (...command: string[]) => [
    ...image.prefix.slice(1),
    "run",
    "--env",
    `LLMC_MCP_TOKEN=${TOKEN}`,
    ...volumes(),
    container,
    "--",
    ...command,
  ];
  const inside = (...command: string[]) =>
    execFileSync("buildah", words(...command), { encoding: "utf8", env, stdio: ["ignore", "pipe", "ignore"] });

  const running = new Set<ChildProcess>();
  afterEach(async () => {
    for (const child of running) await stopped(child);
  });

  /** As the image itself says it is started, on a free port. */
  async function serving(): Promise<{ url: string; child: ChildProcess }> {
    const child = spawn("buildah", words(...config.Entrypoint, ...config.Cmd, "--port", "0"), {
      env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    running.add(child);
    let log = "";
    const url = await new Promise<string>((resolve, reject) => {
      child.stderr.on("data", (chunk: Buffer) => {
        log += chunk;
        const port = /at http:\/\/0\.0\.0\.0:(\d+) /.exec(log)?.[1];
        if (port) resolve(`http://127.0.0.1:${port}`);
      });
      void once(child, "exit").then(() => reject(new Error(log)));
    });
    return { url, child };
  }

  /** buildah hands no signal on: its server is told itself. */
  async function stopped(child: ChildProcess): Promise<void> {
    running.delete(child);
    const ended = once(child, "exit");
    for (const pid of descendants(child.pid!)) if (cmdline(pid).includes("main.mjs")) process.kill(pid, "SIGTERM");
    await ended;
  }

  async function call(
    url: string,
    name: string,
    args: object,
    token = TOKEN,
  ): Promise<{ status: number; body: Record<string, unknown> }> {
    const response = await fetch(`${url}/tool`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ name, args }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  const healthy = (port: string) => {
    // In a chroot the first process is the host's; the check looks at its own words instead, which name --http as well.
    const [, ...test] = config.Healthcheck.Test.map((word) => word.replace("/proc/1/", "/proc/self/"));
    try {
      inside("env", `LLMC_MCP_SERVER_PORT=${port}`, ...test);
      return true;
    } catch {
      return false;
    }
  };

  it("runs as a user of its own, who can write only the state, the workspace and /tmp", () => {
    expect(config.User).toBe("1000:1000");
    expect(inside("id", "-u").trim()).toBe("1000");
    const writable = inside(
      "sh",
      "-c",
      "find / -xdev -type d -writable -not -path '/proc/*' -not -path '/tmp/*' -not -path '/dev/*' -not -path '/sys/*' 2>/dev/null; true",
    );
    expect(
      writable
        .trim()
        .split("\n")
        .filter((path) => !/^\/(tmp|var\/tmp|run\/lock|dev|proc|sys|state|workspace)/.test(path)),
    ).toEqual([]);
    for (const program of ["git", "rg", "bwrap"]) expect(inside(program, "--version")).toMatch(/\d/);
  });

  it("serves over HTTP with a token, is healthy while it does, and keeps its telemetry over a restart", async () => {
    const first = await serving();
    expect(healthy(new URL(first.url).port)).toBe(true);
    expect(await call(first.url, "read_file", { path: "a.txt" })).toMatchObject({
      status: 200,
      body: { data: "hello from the host\n" },
    });
    expect(await call(first.url, "read_file", { path: "a.txt" }, "wrong-token-0123456789")).toMatchObject({
      status: 401,
    });
    expect(await call(first.url, "te_run", { argv: ["seq", "1", "3000"] })).toMatchObject({ status: 200 });
    await stopped(first.child);
    expect(healthy(new URL(first.url).port)).toBe(false);

    image.buildah("rm", container);
    container = image.buildah("from", "--pull-never", NAME);
    const second = await serving();
    expect(await call(second.url, "stat", { path: "a.txt" })).toMatchObject({ status: 200 });
    await stopped(second.child);
    const { calls, te, tools } = JSON.parse(inside("llmc", "stats", "--json"));
    expect([calls, te.total.calls]).toEqual([3, 1]);
    expect(tools.map(({ name }: { name: string }) => name).sort()).toEqual(["read_file", "stat", "te_run"]);
  });

  it("serves over stdio", async () => {
    const transport = new StdioClientTransport({
      command: "buildah",
      args: words("llmc", "serve"),
      env: env as Record<string, string>,
      stderr: "ignore",
    });
    const client = new Client({ name: "tests", version: "1" });
    await client.connect(transport);
    const { content } = await client.callTool({
      name: "execute_code",
      arguments: { language: "python", code: "print(6 * 7)" },
    });
    expect(content).toMatchObject([{ text: expect.stringContaining("42") }]);
    await client.close();
  });
});

function descendants(pid: number): number[] {
  const below = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && parentOf(name) === pid);
  return below.flatMap((name) => [Number(name), ...descendants(Number(name))]);
}

function parentOf(pid: string): number | undefined {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  } catch {
    return undefined;
  }
}

function cmdline(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
