import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type HttpServer, startHttp, TOKEN } from "../harness/http.ts";
import { temp } from "../harness/temp.ts";

const REVISION = "2025-11-25";

function send(server: HttpServer, message: object, session?: string, signal?: AbortSignal): Promise<Response> {
  return server.fetch("/mcp", {
    method: "POST",
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    headers: headers(session),
    ...(signal ? { signal } : {}),
  });
}

function headers(session?: string): Record<string, string> {
  return {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "x-llmc-token": TOKEN,
    "mcp-protocol-version": REVISION,
    ...(session === undefined ? {} : { "mcp-session-id": session }),
  };
}

async function open(server: HttpServer): Promise<string> {
  const params = { protocolVersion: REVISION, capabilities: {}, clientInfo: { name: "t", version: "1" } };
  const answer = await send(server, { id: 1, method: "initialize", params });
  await answer.text();
  const session = answer.headers.get("mcp-session-id")!;
  await (await send(server, { method: "notifications/initialized" }, session)).text();
  return session;
}

interface Event {
  readonly id: string | undefined;
  readonly data: string;
}

/** Events as they come, until the stream ends. */
async function* eventsOf(response: Response): AsyncGenerator<Event> {
  let text = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const lines = text.slice(0, end).split("\n");
      text = text.slice(end + 2);
      const field = (name: string) =>
        lines
          .find((line) => line.startsWith(`${name}:`))
          ?.slice(name.length + 1)
          .trim();
      yield { id: field("id"), data: field("data") ?? "" };
    }
  }
}

const resume = (server: HttpServer, session: string, last: string, token = TOKEN) =>
  server.fetch("/mcp", {
    headers: { ...headers(session), accept: "text/event-stream", "last-event-id": last, "x-llmc-token": token },
  });

/** As a client comes back: again for as long as the server has not heard yet that the first connection is gone. */
async function comeBack(server: HttpServer, session: string, last: string): Promise<Response> {
  for (;;) {
    const response = await resume(server, session, last);
    if (response.status !== 409) return response;
    await response.text();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** A call that ends when a file is there: what it answers comes after the connection was lost. */
async function interrupted(server: HttpServer, root: string, session: string, id: number) {
  const wait = `const fs = require("fs"); fs.writeFileSync("started", ""); const look = () => fs.existsSync("go") ? console.log("done at last") : setTimeout(look, 5); look();`;
  const lost = new AbortController();
  const params = { name: "run_cmd", arguments: { argv: ["node", "-e", wait], timeout_s: 30 } };
  const answer = await send(server, { id, method: "tools/call", params }, session, lost.signal);
  const first = await eventsOf(answer).next();
  await expect.poll(() => existsSync(join(root, "started"))).toBe(true);
  lost.abort();
  return (first.value as Event).id!;
}

describe("a client that lost its connection", () => {
  it("gets the answer that it missed when it comes back with the last event it saw", async () => {
    using folder = temp();
    await using server = await startHttp(folder.path);
    const session = await open(server);
    const last = await interrupted(server, folder.path, session, 7);
    writeFileSync(join(folder.path, "go"), "");
    const response = await comeBack(server, session, last);
    expect(response.status).toBe(200);
    for await (const { data } of eventsOf(response)) {
      if (data === "") continue;
      const message = JSON.parse(data) as { id: number; result: { content: { text: string }[] } };
      expect(message.id).toBe(7);
      expect(message.result.content[0]!.text).toContain("done at last");
      return;
    }
    expect.unreachable("the stream ended without the answer");
  });

  it("finds nothing with an event that never was, or in a session that is not its own", async () => {
    using folder = temp();
    await using server = await startHttp(folder.path);
    const session = await open(server);
    expect((await resume(server, session, "no-such-event")).status).toBeGreaterThanOrEqual(400);
    expect((await resume(server, "s_someone_elses", "x")).status).toBe(404);
    expect((await resume(server, session, "x", "wrong-token")).status).toBe(401);
  });
});
