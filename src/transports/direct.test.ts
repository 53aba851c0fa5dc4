import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";
import { createBed, LOCAL } from "../../tests/harness/bed.ts";
import { createDirect } from "./direct.ts";
import { callTool } from "./tool-call.ts";

/** The whole server behind it, in lean form, and the messages that went out. */
function open(isOpen = true) {
  const bed = createBed({ files: { "a.txt": "one\n" } });
  const sent: JSONRPCMessage[] = [];
  const caller = { principal: LOCAL, via: "stdio" as const, session_id: "s" };
  const answered: (() => void)[] = [];
  const direct = createDirect({
    isOpen: () => isOpen,
    client: () => "test",
    call: async (call) => (await callTool({ dispatch: bed.app.dispatch, structured: false }, caller, call)).result,
    send: async (message) => {
      sent.push(message);
      for (const tell of answered.splice(0)) tell();
    },
  });
  const next = () => new Promise<void>((resolve) => answered.push(resolve));
  return { bed, direct, sent, next, [Symbol.asyncDispose]: () => bed[Symbol.asyncDispose]() };
}

const message = (method: string, params?: unknown, id: number | undefined = 1) =>
  ({
    jsonrpc: "2.0",
    ...(id === undefined ? {} : { id }),
    method,
    ...(params === undefined ? {} : { params }),
  }) as never;
const call = (name: string, args: unknown, id = 1) => message("tools/call", { name, arguments: args }, id);

describe("the direct way", () => {
  it("answers a ping and a plain call", async () => {
    await using wire = open();
    expect(wire.direct.take(message("ping"))).toBe(true);
    expect(wire.sent.pop()).toEqual({ result: {}, jsonrpc: "2.0", id: 1 });
    const out = wire.next();
    expect(wire.direct.take(call("read_file", { path: "a.txt" }, 7))).toBe(true);
    await out;
    expect(wire.sent.pop()).toEqual({
      result: { content: [{ type: "text", text: "{}\n\none\n" }] },
      jsonrpc: "2.0",
      id: 7,
    });
  });

  it("answers a failed call as an error of the tool", async () => {
    await using wire = open();
    const out = wire.next();
    wire.direct.take(call("nothing", {}));
    await out;
    expect(wire.sent.pop()).toMatchObject({ id: 1, result: { isError: true } });
  });

  it("takes nothing before the handshake", async () => {
    await using wire = open(false);
    expect(wire.direct.take(message("ping"))).toBe(false);
    expect(wire.direct.take(call("read_file", { path: "a.txt" }))).toBe(false);
  });

  it.each([
    ["another method", message("tools/list")],
    ["a notification", message("notifications/initialized", undefined, undefined)],
    ["a response", { jsonrpc: "2.0", id: 1, result: {} } as never],
    ["a ping with parameters", message("ping", { _meta: {} })],
    ["no parameters", message("tools/call")],
    ["no name", message("tools/call", { arguments: {} })],
    ["a list of arguments", message("tools/call", { name: "stat", arguments: [] })],
    ["a task", message("tools/call", { name: "stat", arguments: {}, task: {} })],
    ["the state of an earlier round", message("tools/call", { name: "stat", requestState: "x" })],
    ["an envelope", message("tools/call", { name: "stat", _meta: { "io.modelcontextprotocol/protocolVersion": "x" } })],
    ["metadata that is no object", message("tools/call", { name: "stat", _meta: "x" })],
    ["a token that is none", message("tools/call", { name: "stat", _meta: { progressToken: {} } })],
    ["a cancel of what it does not run", message("notifications/cancelled", { requestId: 9 }, undefined)],
    ["a cancel of nothing", message("notifications/cancelled", undefined, undefined)],
  ])("leaves to the library: %s", async (_name, other) => {
    await using wire = open();
    expect(wire.direct.take(other)).toBe(false);
    expect(wire.sent).toEqual([]);
  });

  it("ends a cancelled call without an answer, and takes its id again", async () => {
    await using wire = open();
    const waits = { language: "javascript", code: "await new Promise(() => {})" };
    wire.direct.take(call("execute_code", waits, 5));
    expect(wire.direct.take(message("notifications/cancelled", { requestId: 5 }, undefined))).toBe(true);
    while (wire.bed.app.dispatch.busy() > 0) await new Promise((resolve) => setImmediate(resolve));
    expect(wire.sent).toEqual([]);
    const out = wire.next();
    wire.direct.take(call("read_file", { path: "a.txt" }, 5));
    await out;
    expect(wire.sent).toMatchObject([{ id: 5 }]);
  });

  it("ends what runs when the client is gone", async () => {
    await using wire = open();
    wire.direct.take(call("execute_code", { language: "javascript", code: "await new Promise(() => {})" }));
    wire.direct.close();
    while (wire.bed.app.dispatch.busy() > 0) await new Promise((resolve) => setImmediate(resolve));
    expect(wire.sent).toEqual([]);
  });
});
