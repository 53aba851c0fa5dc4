import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { connect } from "../harness/client.ts";
import { temp } from "../harness/temp.ts";

/** All processes below one. */
function below(pid: number): number[] {
  try {
    const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number),
    );
    return children.flatMap((child) => [child, ...below(child)]);
  } catch {
    return [];
  }
}

it("the built server runs code in each language, and a session goes on in the next server", async () => {
  using folder = temp();
  {
    await using first = await connect(folder.path);
    const run = (code: string, language: string, session_id = "none") =>
      first.call("execute_code", { code, language, session_id });
    expect((await run("print('hi')\n1 + 1", "python")).text).toBe('{"result":2}\n\nhi\n');
    expect((await run("const n: number = 2; n", "typescript")).text).toContain('{"result":2}');
    expect((await run("import YAML from 'yaml'; YAML.parse('a: [1]')", "javascript")).text).toContain('{"a":[1]}');
    await first.call("create_session", { language: "python", session_id: "kept" });
    await run("x = 20", "python", "kept");
  }
  await using second = await connect(folder.path);
  const { text } = await second.call("execute_code", { code: "x + 1", language: "python", session_id: "kept" });
  expect(text).toContain('{"result":21}');
});

it("a server that is killed leaves no process of the sandbox behind, whatever runs in it", async () => {
  using folder = temp();
  const server = await connect(folder.path);
  await server.call("execute_code", { code: "1", language: "python", session_id: "none" });
  const running = server.call("execute_code", { code: "while True: pass", language: "python" }).catch(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, 300));
  const children = below(server.pid);
  expect(children.length).toBeGreaterThan(0);
  process.kill(server.pid, "SIGKILL");
  await running;
  await expect.poll(() => children.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
  await server[Symbol.asyncDispose]();
});

it("a client that cancels stops the code", async () => {
  using folder = temp();
  await using server = await connect(folder.path);
  const call = (code: string, signal?: AbortSignal) =>
    server.client.callTool(
      { name: "execute_code", arguments: { code, language: "javascript" } },
      ...(signal ? [{ signal }] : []),
    );
  await call("let n = 1");
  const caller = new AbortController();
  const endless = call("n = 2; for (;;);", caller.signal);
  setTimeout(() => caller.abort(), 200);
  await expect(endless).rejects.toThrow();
  const { content } = await call("n");
  // The cancel may come before the run has begun; the session answers either way.
  expect(content[0]).toMatchObject({ text: expect.stringMatching(/"result":[12]/) });
});
