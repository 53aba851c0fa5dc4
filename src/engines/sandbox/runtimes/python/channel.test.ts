import { describe, expect, it } from "vitest";
import { fc } from "../../../../../tests/harness/random.ts";
import { createChannel } from "./channel.ts";

const frame = (kind: number, payload: Uint8Array, size = payload.length) => {
  const head = Buffer.alloc(5);
  head.writeUInt32LE(size);
  head[4] = kind;
  return Buffer.concat([head, payload]);
};

const callOf = (name: string, json: string) => {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(Buffer.byteLength(name));
  return frame(67, Buffer.concat([size, Buffer.from(name), Buffer.from(json)]));
};

/** A bridge that writes down what was asked and answers it. */
function recorder() {
  const asked: [string, string][] = [];
  return {
    asked,
    channel: createChannel({
      call: (name: string, json: string) => asked.push([name, json]),
      reply: () => ({ call: asked.length, reply: { ok: true, json: "1" } }),
    } as never),
  };
}

const anyFrame = fc.oneof(
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  fc.tuple(fc.integer({ min: 0, max: 255 }), fc.uint8Array({ maxLength: 40 })).map(([kind, body]) => frame(kind, body)),
  fc
    .tuple(fc.constantFrom(67, 68), fc.uint8Array({ maxLength: 20 }), fc.integer({ min: 0, max: 0xffffffff }))
    .map(([kind, body, size]) => frame(kind, body, size)),
  fc.tuple(fc.string(), fc.json()).map(([name, json]) => callOf(name, json)),
  fc.json().map((json) => frame(68, Buffer.from(json))),
);

describe("the bridge's messages", () => {
  it("come through as they were sent, however they are cut", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string({ unit: "binary" }), fc.json()), { maxLength: 6 }),
        fc.integer({ min: 1, max: 30 }),
        (calls, step) => {
          const { asked, channel } = recorder();
          channel.begin({});
          const well = calls.map(([name, json]) => [name.toWellFormed(), json] as [string, string]);
          const bytes = Buffer.concat(well.map(([name, json]) => callOf(name, json)));
          for (let at = 0; at < bytes.length; at += step) channel.write(bytes.subarray(at, at + step));
          expect(asked).toEqual(well);
        },
      ),
    );
  });

  it("that no driver sends are ignored or end the run, and nothing of them is left for the next", () => {
    fc.assert(
      fc.property(fc.array(anyFrame, { maxLength: 8 }), (frames) => {
        const { asked, channel } = recorder();
        channel.begin({});
        try {
          for (const bytes of frames) channel.write(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
        expect(typeof channel.end()).toBe("object");
        for (const [name, json] of asked) expect([typeof name, typeof json]).toEqual(["string", "string"]);
        const before = asked.length;
        channel.begin({});
        expect(channel.finished()).toBe(false);
        channel.write(callOf("stat", "{}"));
        expect(asked.slice(before)).toEqual([["stat", "{}"]]);
        channel.write(frame(68, Buffer.from('{"done":true}')));
        expect(channel.end()).toEqual({ done: true });
      }),
      { numRuns: 2000 },
    );
  });
});
