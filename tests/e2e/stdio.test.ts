import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BINARY, plainEnv } from "../harness/cli.ts";
import { connect, REVISIONS } from "../harness/client.ts";
import { type Temp, temp } from "../harness/temp.ts";
import { stable, TABLE } from "./table.ts";

let folder: Temp;
beforeEach(() => {
  folder = temp();
  writeFileSync(join(folder.path, "a.txt"), "one\ntwo\nthree\n");
  mkdirSync(join(folder.path, "sub"));
});
afterEach(() => folder[Symbol.dispose]());

describe("over stdio", () => {
  it("each protocol revision lists and calls, and all give equal answers, canonical name and alias alike", async () => {
    const answers: string[][] = [];
    for (const revision of REVISIONS) {
      await using server = await connect(folder.path, revision, ["--mode", "classic"]);
      expect(server.client.getNegotiatedProtocolVersion()).toBe(revision);
      const { tools } = await server.client.listTools();
      expect(tools.map((tool) => tool.name)).toContain("read_file");
      const row: string[] = [];
      for (const [name, args, alias] of TABLE) {
        const { text, isError } = await server.call(name, args);
        if (alias) expect(stable((await server.call(alias, args)).text)).toBe(stable(text));
        row.push(`${name} ${isError} ${stable(text)}`);
      }
      answers.push(row);
    }
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
    expect(answers[0]!.join("\n")).toMatchInlineSnapshot(`
      "read_file false {"data":"one\\ntwo\\nthree\\n","meta":{"path":"a.txt","length":14,"truncated":false}}
      read_file true {"error":"Path is outside the allowed roots: ../outside. Use a path inside the root, relative to it.","meta":{"error_code":"path_denied","retryable":false,"correlation_id":"…"}}
      list_dir false {"data":["a.txt","sub/"],"meta":{"path":".","truncated":false}}
      stat false {"data":{"path":"a.txt","type":"file","size":14,mtime,"mode":"0644",uid,gid}}
      linux_fs_read false {"content":"two\\n","handle":"res_…","meta":{"path":"a.txt","total_lines":3,"truncated":true}}
      linux_search_content false {"hits":[{"path":"a.txt","line":2,"snippet":"one\\ntwo\\nthree","start_line":1}],"total_hits":1,"truncated":false,"handle":null}
      linux_search_files false {"hits":[{"path":"a.txt"}],"total_hits":1,"truncated":false,"handle":null}
      linux_fs_mkdirs false {"ok":true,"path":"sub","created":false}
      llmc_init false {"text":"Paths start at the repository root. Long or late results are handles (res_…): read_file takes them as path. Edit with linux_fs_edit, create with linux_fs_write. execute_code: await tools.<name>({...}) calls any tool (Python: no await); tools.search(\\"words\\"), tools.help(\\"name\\") find them. Print only what you need. Files persist only through linux_fs_write. Prefer linux_search_content to grep, linux_fs_read for slices."}
      stat true {"error":"stat needs path. It has no argument pth.","meta":{"error_code":"invalid_args","retryable":false,"correlation_id":"…"}}
      nothing true {"error":"There is no tool nothing. tools.search('words') in execute_code finds one.","meta":{"error_code":"unknown_tool","retryable":false,"correlation_id":"…"}}"
    `);
  });

  it("a mode lists what it should, and anything enabled can be called", async () => {
    await using server = await connect(folder.path);
    const { tools } = await server.client.listTools();
    expect(tools.map((tool) => tool.name)).toEqual([
      "read_file",
      "list_dir",
      "linux_fs_write",
      "linux_fs_edit",
      "run_cmd",
      "execute_code",
      "llmc_init",
    ]);
    expect((await server.call("stat", { path: "a.txt" })).isError).toBe(false);
    expect((await server.call("read_file", { path: "a.txt" })).text).toBe("{}\n\none\ntwo\nthree\n");
    expect(server.client.getInstructions()).toContain("Paths start at the repository root.");
  });

  it("resources are the operator's documents", async () => {
    writeFileSync(join(folder.path, "llmc.toml"), '[mcp.resources]\nsidecars = ["docs/agents.min.md", "gone.md"]\n');
    mkdirSync(join(folder.path, "docs"));
    writeFileSync(join(folder.path, "docs/agents.min.md"), "# Be kind\n");
    await using server = await connect(folder.path);
    const { resources } = await server.client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual([
      "llmc://docs/agents.min.md",
      "llmc://docs/gone.md",
      "llmc://index/stats",
    ]);
    const { contents } = await server.client.readResource({ uri: "llmc://docs/agents.min.md" });
    expect(contents[0]).toMatchObject({ text: "# Be kind\n", mimeType: "text/markdown" });
    await expect(server.client.readResource({ uri: "llmc://docs/gone.md" })).rejects.toThrow("cannot be read");
    await expect(server.client.readResource({ uri: "file:///etc/passwd" })).rejects.toThrow("No such resource");
    await waitFor(() => server.stderr().includes("which does not exist"));
  });

  it("a job that outlives its call is a resource that can be watched", async () => {
    await using server = await connect(folder.path, "2025-11-25", [], { LLMC_MCP_LIMITS_SOFT_DEADLINE_S: "0.05" });
    const updated = new Promise<string>((resolve) =>
      server.client.setNotificationHandler("notifications/resources/updated", ({ params }) => resolve(params.uri)),
    );
    const { text } = await server.call("execute_code", {
      language: "javascript",
      code: "await new Promise((done) => setTimeout(done, 700)); 6 * 7",
    });
    const { handle, state } = JSON.parse(text) as { handle: string; state: string };
    expect(state).toBe("running");
    const uri = `llmc://jobs/${handle}`;
    await server.client.subscribeResource({ uri });
    expect(await updated).toBe(uri);
    const { contents } = await server.client.readResource({ uri });
    expect(JSON.parse((contents[0] as { text: string }).text)).toMatchObject({
      handle,
      state: "done",
      content: expect.stringContaining("42"),
    });
    expect((await server.call("read_file", { path: handle })).text).toContain("42");
  });

  it("progress of a tool reaches a client that asked for it", async () => {
    await using server = await connect(folder.path);
    const seen: string[] = [];
    const code =
      "for (let step = 1; step <= 3; step++) { console.log('step ' + step); await new Promise((done) => setTimeout(done, 1200)); }";
    await server.client.callTool(
      { name: "execute_code", arguments: { language: "javascript", code, session_id: "none" } },
      { onprogress: ({ message }) => seen.push(message ?? "") },
    );
    expect(seen.join("\n")).toContain("step");
  });

  it("structured output is sent only when asked for", async () => {
    await using plain = await connect(folder.path);
    const before = await plain.client.callTool({ name: "stat", arguments: { path: "a.txt" } });
    expect(before.structuredContent).toBeUndefined();
    await using structured = await connect(folder.path, "2025-11-25", [], { LLMC_MCP_OUTPUT_STRUCTURED: "true" });
    const { tools } = await structured.client.listTools();
    expect(tools[0]).toMatchObject({ title: "Read a file", outputSchema: { type: "object" } });
    const after = await structured.client.callTool({ name: "read_file", arguments: { path: "a.txt" } });
    expect(after.structuredContent).toMatchObject({ data: "one\ntwo\nthree\n" });
  });
});

function start(...args: string[]) {
  const child = spawn(BINARY, ["serve", "--root", folder.path, ...args], { stdio: "pipe", env: plainEnv() });
  const lines: string[] = [];
  const waiting: (() => void)[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(line);
    for (const wake of waiting.splice(0)) wake();
  });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk));
  return {
    child,
    stderr: () => stderr,
    send: (message: unknown) =>
      child.stdin.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`),
    async line(index: number): Promise<{ id: unknown; result?: unknown; error?: { code: number } }> {
      while (lines.length <= index) await new Promise<void>((resolve) => waiting.push(resolve));
      return JSON.parse(lines[index]!);
    },
  };
}

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
};

describe("the server's life", () => {
  it("goes on after malformed JSON, an unknown method and a line that is too long", async () => {
    writeFileSync(join(folder.path, "llmc.toml"), "[mcp.limits]\nmax_request_bytes = 2000\n");
    const server = start();
    server.send(INITIALIZE);
    await server.line(0);
    server.send("{nonsense");
    server.send({ jsonrpc: "2.0", id: 2, method: "no/such" });
    server.send({
      jsonrpc: "2.0",
      id: 3,
      method: "tools/call",
      params: { name: "stat", arguments: { path: "x".repeat(5000) } },
    });
    server.send({ jsonrpc: "2.0", id: 4, method: "ping" });
    const got = [await server.line(1), await server.line(2), await server.line(3), await server.line(4)];
    const byId = new Map(got.map((message) => [message.id, message]));
    expect(byId.get(null)?.error?.code).toBe(-32700);
    expect(byId.get(2)?.error?.code).toBe(-32601);
    expect(byId.get(3)?.error?.code).toBe(-32600);
    expect(byId.get(4)?.result).toEqual({});
    server.child.stdin.end();
    expect((await once(server.child, "exit"))[0]).toBe(0);
  });

  it("ends with its client, by itself and without an error", async () => {
    const server = start();
    server.send(INITIALIZE);
    await server.line(0);
    server.child.stdin.end();
    expect(await once(server.child, "exit")).toEqual([0, null]);
  });

  it("ends when its parent dies, even when someone else keeps the pipe open", async () => {
    const script = `const { spawn } = require("node:child_process"); const [r] = [process.argv[1]];
      const server = spawn(${JSON.stringify(BINARY)}, ["serve", "--root", r], { stdio: [0, "inherit", "ignore"], detached: true });
      console.error(server.pid); setTimeout(() => process.kill(process.pid, "SIGKILL"), 300);`;
    const parent = spawn(process.execPath, ["-e", script, folder.path], {
      stdio: ["pipe", "ignore", "pipe"],
      env: plainEnv(),
    });
    const pid = Number(String((await once(parent.stderr, "data"))[0]));
    await once(parent, "exit");
    for (let tries = 0; tries < 600 && alive(pid); tries++) await new Promise((resolve) => setTimeout(resolve, 50));
    expect(alive(pid)).toBe(false);
    parent.stdin.destroy();
  });

  it("drains on SIGTERM: a call under way is answered, and then it ends", async () => {
    const server = start("--mode", "classic");
    server.send(INITIALIZE);
    await server.line(0);
    server.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    server.send({
      jsonrpc: "2.0",
      id: 2,
      method: "tools/call",
      params: { name: "run_cmd", arguments: { argv: ["sleep", "1"] } },
    });
    await waitFor(() => childrenOf(server.child.pid!).length > 0);
    server.child.kill("SIGTERM");
    expect((await server.line(1)).id).toBe(2);
    expect(await once(server.child, "exit")).toEqual([0, null]);
  });

  it("says on stderr, and never on stdout, how it was configured", async () => {
    const server = start();
    server.send(INITIALIZE);
    await server.line(0);
    await waitFor(() => server.stderr().includes("llmc serves on stdio"));
    const record = JSON.parse(server.stderr().split("\n")[0]!);
    expect(record).toMatchObject({ level: "info", mode: "hybrid", config: { "mcp.output.max_tokens": 8000 } });
    server.child.stdin.end();
    await once(server.child, "exit");
  });
});

function alive(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}

function childrenOf(pid: number): string[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
}

async function waitFor(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
}
