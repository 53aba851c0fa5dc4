import { PassThrough } from "node:stream";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";
import { fc } from "../../tests/harness/random.ts";
import { LineTransport } from "./line-transport.ts";

async function open(max_line_bytes = 1000) {
  const input = new PassThrough();
  const output = new PassThrough();
  const transport = new LineTransport({ input, output, max_line_bytes });
  const messages: JSONRPCMessage[] = [];
  transport.onmessage = (message) => messages.push(message);
  let closed = 0;
  transport.onclose = () => closed++;
  await transport.start();
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  return {
    transport,
    messages,
    closed: () => closed,
    async send(...chunks: (string | Buffer)[]) {
      for (const chunk of chunks) {
        input.write(chunk);
        await turn();
      }
    },
    end: async () => {
      input.end();
      await turn();
      await turn();
    },
    answers: () =>
      String(output.read() ?? "")
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as { id: unknown; error: { code: number } }),
  };
}

const ping = (id: number) => `${JSON.stringify({ jsonrpc: "2.0", id, method: "ping" })}\n`;

describe("the line transport", () => {
  it("delivers messages however they are cut into chunks", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 8 }), async (cuts) => {
        const wire = await open();
        const text = Buffer.from(`${ping(1)}\n${JSON.stringify({ jsonrpc: "2.0", method: "é😀" })}\r\n${ping(2)}`);
        let from = 0;
        for (const size of cuts) {
          await wire.send(text.subarray(from, from + size));
          from += size;
        }
        await wire.send(text.subarray(from));
        expect(wire.messages.map((message) => ("method" in message ? message.method : ""))).toEqual([
          "ping",
          "é😀",
          "ping",
        ]);
      }),
      { numRuns: 50 },
    );
  });

  it("answers what is not JSON or not a message, and lives on", async () => {
    const wire = await open();
    await wire.send(
      "{nonsense\n",
      "[]\n",
      '"text"\n',
      '{"jsonrpc":"1.0","id":7,"method":"ping"}\n',
      '{"jsonrpc":"2.0","id":{},"method":"x"}\n',
      ping(3),
    );
    expect(wire.answers().map(({ id, error }) => [id, error.code])).toEqual([
      [null, -32700],
      [null, -32600],
      [null, -32600],
      [7, -32600],
      [null, -32600],
    ]);
    expect(wire.messages).toHaveLength(1);
    expect(wire.closed()).toBe(0);
  });

  it("drops a line that is too long, names its request where it can, and lives on", async () => {
    const wire = await open(1000);
    const big = "x".repeat(400);
    await wire.send('{"method":"tools/call","params":{"a":"', big, big, big, '"},"jsonrpc":"2.0","id":42}\n');
    await wire.send(`{"jsonrpc":"2.0","id":"abc","method":"x","params":{"a":"${big}${big}${big}"}}\n`);
    await wire.send(`{"method":"x","params":{"a":"${big}${big}${big}","id":9}}\n`, ping(5));
    expect(wire.answers().map(({ id, error }) => [id, error.code])).toEqual([
      [42, -32600],
      ["abc", -32600],
      [null, -32600],
    ]);
    expect(wire.messages).toMatchObject([{ id: 5 }]);
  });

  it("survives deep nesting and many keys", async () => {
    const wire = await open(20_000_000);
    await wire.send(
      `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}}\n`,
    );
    await wire.send(
      `${JSON.stringify({ jsonrpc: "2.0", id: 2, method: "x", params: Object.fromEntries(Array.from({ length: 200_000 }, (_, key) => [`k${key}`, 1])) })}\n`,
      ping(3),
    );
    expect(wire.messages.map((message) => ("id" in message ? message.id : 0))).toEqual([1, 2, 3]);
  });

  it("closes once when its input ends, and refuses to send after that", async () => {
    const wire = await open();
    await wire.end();
    expect(wire.closed()).toBe(1);
    await expect(wire.transport.send({ jsonrpc: "2.0", method: "x" })).rejects.toThrow("closed");
  });
});
