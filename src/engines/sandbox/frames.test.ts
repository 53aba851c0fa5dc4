import { describe, expect, it } from "vitest";
import { fc } from "../../../tests/harness/random.ts";
import { createFrameReader, encodeFrame, type Frame } from "./frames.ts";

describe("frames", () => {
  it("come out as they went in, however they are cut", () => {
    const frame = fc.record({
      head: fc.record({ t: fc.string(), n: fc.integer() }),
      body: fc.uint8Array({ maxLength: 50 }),
    });
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 6 }), fc.integer({ min: 1, max: 40 }), (frames, step) => {
        const bytes = Buffer.concat(frames.flatMap(({ head, body }) => encodeFrame(head, body)));
        const got: Frame[] = [];
        const read = createFrameReader(10_000, (one) => got.push({ head: one.head, body: Buffer.from(one.body) }));
        for (let at = 0; at < bytes.length; at += step) read(bytes.subarray(at, at + step));
        expect(got.map(({ head, body }) => [head, [...body]])).toEqual(
          frames.map(({ head, body }) => [{ ...head }, [...body]]),
        );
      }),
    );
  });

  it("that are none are refused, and large ones before they are read", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        const read = createFrameReader(1000, ({ head }) => expect(typeof head).toBe("object"));
        try {
          read(Buffer.from(bytes));
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
      }),
    );
    const read = createFrameReader(100, () => {});
    expect(() => read(Buffer.from([255, 255, 255, 1, 0, 0, 0, 0]))).toThrow(/too large/);
  });
});
