import { describe, expect, it } from "vitest";
import { fc } from "../../../tests/harness/random.ts";
import { openSqlite } from "../../base/store/sqlite.ts";
import { blobSource, putWhole } from "./blobs.ts";
import { countNewlines } from "./lines.ts";
import { PAGE_BYTES, pageOfBytes, pageOfLines } from "./paging.ts";
import { HANDLES } from "./schema.ts";

const pieces = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 40 }),
  fc.constant("\n"),
  fc.constant("\r\n"),
  fc.nat({ max: 90_000 }).map((length) => "é".repeat(length)),
  fc.nat({ max: 40_000 }).map((length) => "ab\n".repeat(length)),
);
const texts = fc.array(pieces, { maxLength: 8 }).map((parts) => parts.join("").toWellFormed());

async function stored(text: string) {
  const db = openSqlite(":memory:", HANDLES);
  const blob = await db.transaction((tx) => putWhole(tx, Buffer.from(text)));
  return { source: blobSource(db, blob), [Symbol.asyncDispose]: () => db.close() };
}

describe("paging", () => {
  it("by lines gives slices that joined are the payload, and counts the lines", async () => {
    await fc.assert(
      fc.asyncProperty(texts, fc.integer({ min: 700, max: 50_000 }), async (text, step) => {
        await using payload = await stored(text);
        const parts: string[] = [];
        for (let line = 0, more = true; more; ) {
          const page = await pageOfLines(payload.source, line, step);
          if (page.line_cut) return;
          parts.push(page.content);
          line = page.next_offset_lines ?? line + step;
          more = page.more;
        }
        expect(parts.join("")).toBe(text);
        const expected = text === "" ? 0 : text.replace(/\n$/, "").split("\n").length;
        expect((await payload.source.lines()).total).toBe(expected);
      }),
      { numRuns: 60 },
    );
  });

  it("by lines starts anywhere", async () => {
    await fc.assert(
      fc.asyncProperty(texts, fc.nat({ max: 60_000 }), fc.integer({ min: 1, max: 20 }), async (text, from, count) => {
        await using payload = await stored(text);
        const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
        const page = await pageOfLines(payload.source, from, count);
        expect(page.content).toBe(lines.slice(from, from + count).join(""));
        expect(page.more).toBe(from + count < lines.length && from < lines.length);
      }),
      { numRuns: 60 },
    );
  });

  it("by chunk gives bounded pages that joined are the payload", async () => {
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        await using payload = await stored(text);
        const parts: string[] = [];
        for (let chunk = 0, more = true; more; chunk++) {
          const page = await pageOfBytes(payload.source, chunk);
          expect(Buffer.byteLength(page.content)).toBeLessThan(2 * PAGE_BYTES);
          parts.push(page.content);
          more = page.more;
        }
        expect(parts.join("")).toBe(text);
      }),
      { numRuns: 60 },
    );
  });

  it("counts newlines at any alignment as a plain loop does", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200, max: 20 }), fc.nat({ max: 5 }), (bytes, from) => {
        const part = bytes.subarray(from);
        expect(countNewlines(part)).toBe([...part].filter((byte) => byte === 10).length);
      }),
    );
  });
});
