import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../harness/client.ts";
import { startHttp } from "../harness/http.ts";
import { type Temp, temp } from "../harness/temp.ts";
import { LONG, type RlmPayload, rlmConfig, writes } from "../rlm/bed.ts";
import { type ModelServer, startModelServer } from "../rlm/model-server.ts";
import { programmaticModel } from "../rlm/programmatic-model.ts";

const args = { task: "What is the code word of Falcon?", path: "long.txt" };
let server: ModelServer;
let folder: Temp;

beforeAll(async () => {
  server = await startModelServer({ model: programmaticModel });
  folder = temp();
  writeFileSync(join(folder.path, "long.txt"), `${LONG}The code word of Falcon is ZEBRA-17.\n`);
  configure("");
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

function configure(config: string, policy = "", url = server.url): void {
  writeFileSync(join(folder.path, "llmc.toml"), rlmConfig(url, { config, policy }));
}

describe("rlm_query over stdio", () => {
  it("is listed and answers in classic", async () => {
    configure("[mcp]\nmode = 'classic'\n");
    await using at = await connect(folder.path);
    const { tools } = await at.client.listTools();
    expect(tools.find(({ name }) => name === "rlm_query")?.inputSchema.required).toEqual(["task"]);
    const { text, isError } = await at.call("rlm_query", args);
    expect(isError).toBe(false);
    const payload = JSON.parse(text) as RlmPayload;
    expect(payload).toMatchObject({
      data: { answer: "ZEBRA-17" },
      meta: { stop_reason: "answer", source: { path: "long.txt" } },
    });
    expect(payload).not.toHaveProperty("error");
    const refused = await at.call("rlm_query", { ...args, model: "openai/gpt-4o" });
    expect(refused.isError).toBe(true);
    expect(JSON.parse(refused.text)).toMatchObject({
      error: expect.any(String),
      meta: { error_code: "egress_denied", retryable: false },
    });
  });

  it("is not listed in hybrid but when promoted, and can be called in both", async () => {
    configure("[mcp]\nmode = 'hybrid'\n");
    await using plain = await connect(folder.path);
    expect((await plain.client.listTools()).tools.map(({ name }) => name)).not.toContain("rlm_query");
    expect((await plain.call("rlm_query", args)).text).toMatch(/\n\nZEBRA-17$/);
    configure("[mcp]\nmode = 'hybrid'\n[mcp.hybrid]\npromoted_tools = ['rlm_query']\n");
    await using promoted = await connect(folder.path);
    expect((await promoted.client.listTools()).tools.map(({ name }) => name)).toContain("rlm_query");
    expect((await promoted.call("rlm_query", args)).text).toMatch(/\n\nZEBRA-17$/);
  });

  it("is a function for code in code_execution", async () => {
    configure("[mcp]\nmode = 'code_execution'\n");
    await using at = await connect(folder.path);
    expect((await at.client.listTools()).tools.map(({ name }) => name)).not.toContain("rlm_query");
    const code = `(await tools.rlm_query(${JSON.stringify(args)})).data.answer`;
    expect((await at.call("execute_code", { code, language: "javascript" })).text).toContain("ZEBRA-17");
  });

  it("past the soft deadline is a job whose result is read later, and that can be cancelled", async () => {
    await using slow = await startModelServer({ model: programmaticModel, delay_ms: 700 });
    configure("[mcp.limits]\nsoft_deadline_s = 0.5\n", "", slow.url);
    await using at = await connect(folder.path);
    const { handle } = JSON.parse((await at.call("rlm_query", args)).text) as { handle: string };
    const { text } = await at.call("linux_handle_read", { handle, wait_s: 20 });
    expect(text).toContain("ZEBRA-17");
    await using stuck = await startModelServer({ model: writes("for (;;) await llm_query('x')"), delay_ms: 100 });
    configure("[mcp.limits]\nsoft_deadline_s = 0.5\n", "", stuck.url);
    await using other = await connect(folder.path);
    const job = JSON.parse((await other.call("rlm_query", args)).text) as { handle: string };
    const ended = JSON.parse(
      (await other.call("linux_handle_read", { handle: job.handle, cancel: true, wait_s: 10 })).text,
    ) as { meta: { state: string } };
    expect(ended.meta.state).toBe("cancelled");
  });
});

describe("rlm_query over HTTP", () => {
  it("needs the operator's leave, also when code calls it", async () => {
    const code = `await tools.rlm_query(${JSON.stringify(args)}).then((r) => r.data.answer, (e) => e.code)`;
    configure("");
    await using closed = await startHttp(folder.path);
    const refused = await closed.post("/tool", { name: "rlm_query", args });
    expect(refused).toMatchObject({ status: 403 });
    expect(JSON.stringify(refused.body)).toContain("mcp.rlm.allow_http");
    const nested = await closed.post("/tool", { name: "execute_code", args: { code, language: "javascript" } });
    expect(JSON.stringify(nested.body)).toContain("tool_disabled");
    configure("", "allow_http = true");
    await using open = await startHttp(folder.path);
    expect(JSON.stringify((await open.post("/tool", { name: "rlm_query", args })).body)).toContain("ZEBRA-17");
  });
});
