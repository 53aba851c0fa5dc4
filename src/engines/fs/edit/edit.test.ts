import { chmodSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { fc } from "../../../../tests/harness/random.ts";
import { applyHunks } from "../patch/apply.ts";
import { bytesOf, parsePatch } from "../patch/parse.ts";
import { CALL, openTestRoot, type TestRoot } from "../test-root.ts";
import { applyEdits, type Edit } from "./apply.ts";
import { shortDiff } from "./diff.ts";

let at: TestRoot;
beforeEach(() => {
  at = openTestRoot();
});
afterEach(() => at[Symbol.dispose]());

const one = (old_text: string, new_text: string, expected_replacements = 1): Edit => ({
  old_text,
  new_text,
  expected_replacements,
});
const edit = (name: string, ...edits: Edit[]) => at.fs.edit(at.write(name), edits, { dry_run: false }, CALL);
const refusal = async (name: string, ...edits: Edit[]) => {
  const before = at.bytes(name);
  const error = await edit(name, ...edits).then(
    () => undefined,
    (fault) => fault,
  );
  expect(error).toMatchObject({ code: "edit_mismatch" });
  expect(at.bytes(name)).toEqual(before);
  return error.message as string;
};

describe("an edit", () => {
  test("replaces, and answers with count, hash and a short diff", async () => {
    at.put("a.ts", "one\ntwo\nthree\nfour\nfive\n");
    const answer = await edit("a.ts", one("three", "3"));
    expect(at.get("a.ts")).toBe("one\ntwo\n3\nfour\nfive\n");
    expect(answer.replacements).toBe(1);
    expect(answer.diff).toBe("--- a.ts\n+++ a.ts\n@@ -2,3 +2,3 @@\n two\n-three\n+3\n four\n");
  });

  test("is literal: $&, $`, $$ and \\n are what they are", async () => {
    at.put("a.ts", "x\n");
    await edit("a.ts", one("x", "$&$`$$$1\\n"));
    expect(at.get("a.ts")).toBe("$&$`$$$1\\n\n");
  });

  test("keeps every other byte: invalid UTF-8, CRLF, BOM, no final newline, mode", async () => {
    const before = Buffer.concat([
      Buffer.from("\ufeffa\r\nb\r\n"),
      Buffer.from([0xff, 0xfe, 0x80]),
      Buffer.from("\r\nend"),
    ]);
    at.put("a.ts", before);
    chmodSync(join(at.root, "a.ts"), 0o751);
    await edit("a.ts", one("b", "BB"));
    expect(at.bytes("a.ts")).toEqual(Buffer.from(before.toString("latin1").replace("b", "BB"), "latin1"));
    expect(statSync(join(at.root, "a.ts")).mode & 0o777).toBe(0o751);
  });

  test("several are all or none, each on what the one before left", async () => {
    at.put("a.ts", "a b c");
    await refusal("a.ts", one("a", "x"), one("nothing", "y"));
    await edit("a.ts", one("a", "x"), one("x b", "y"));
    expect(at.get("a.ts")).toBe("y c");
  });

  test("a dry run changes nothing", async () => {
    at.put("a.ts", "a");
    const answer = await at.fs.edit(at.write("a.ts"), [one("a", "b")], { dry_run: true }, CALL);
    expect(answer.diff).toContain("+b");
    expect(at.get("a.ts")).toBe("a");
  });

  test("a missing file and an empty old text are refused", async () => {
    await expect(edit("no.ts", one("a", "b"))).rejects.toMatchObject({ code: "file_not_found" });
    at.put("a.ts", "a");
    await expect(edit("a.ts", one("", "b"))).rejects.toMatchObject({ code: "invalid_args" });
  });

  test("says when new text brings bare newlines into CRLF lines", async () => {
    at.put("a.ts", "a\r\nb\r\n");
    expect(await edit("a.ts", one("b", "b\nc"))).toMatchObject({ mixed_line_endings: true });
    expect(at.get("a.ts")).toBe("a\r\nb\nc\r\n");
  });

  test("an outside change while the new file is written is noticed, and kept", async () => {
    at.put("a.ts", `${"x".repeat(2_000_000)}\nend`);
    const editing = edit("a.ts", one("end", "END"));
    await new Promise((resolve) => setImmediate(resolve));
    writeFileSync(join(at.root, "a.ts"), "outside");
    await expect(editing).rejects.toMatchObject({ code: "sha_mismatch" });
    expect(at.get("a.ts")).toBe("outside");
  });

  test("in a file whose writers merge it is applied again to what is there now", async () => {
    at.put("a.log", `${"x".repeat(2_000_000)}\nend`);
    const editing = edit("a.log", one("end", "END"));
    await new Promise((resolve) => setImmediate(resolve));
    writeFileSync(join(at.root, "a.log"), "outside end");
    await editing;
    expect(at.get("a.log")).toBe("outside END");
  });
});

describe("a mismatch", () => {
  test("in number names the lines", async () => {
    at.put("a.ts", "x\ny\nx\n");
    expect(await refusal("a.ts", one("x", "z"))).toMatch(/2 times .* line 1, 3; expected 1/);
  });

  test("by line endings says so", async () => {
    at.put("a.ts", "first\r\nsecond\r\n");
    expect(await refusal("a.ts", one("first\nsecond", "z"))).toMatch(/line endings[\s\S]*lines 1-2[\s\S]*\{\+\\r\+\}/);
  });

  test("by escapes says so", async () => {
    at.put("a.ts", 'say("hi\\n");\n');
    expect(await refusal("a.ts", one('say(\\"hi', "z"))).toMatch(/Cause: escapes/);
    at.put("b.html", "<b>x</b>\n");
    expect(await refusal("b.html", one("&lt;b&gt;", "z"))).toMatch(/Cause: escapes/);
  });

  test("by whitespace says so and shows where", async () => {
    at.put("a.ts", "head\nif (a) {\n\treturn  1;\n}\n");
    expect(await refusal("a.ts", one("if (a) {\n    return 1;\n}", "z"))).toMatch(
      /Cause: whitespace\. Closest: lines 2-4[\s\S]*3: .*\\t/,
    );
  });

  test("by anything else shows the closest place with the characters that differ", async () => {
    at.put("a.ts", "alpha beta\nfunction computeDelay(attempt: number) {\n  return 1;\n}\n");
    const message = await refusal("a.ts", one("function computeDelay(attempts: number) {", "z"));
    expect(message).toContain("2: function computeDelay(attempt[-s-]: number) {");
  });

  test("with nothing like it says so", async () => {
    at.put("a.ts", "alpha\n");
    expect(await refusal("a.ts", one("zzzz qqqq", "z"))).toMatch(/Nothing in the file is like it/);
  });
});

describe("laws", () => {
  const word = fc.constantFrom("a", "b", "\r\n", "\n", "é", "😀", "ab", "\ufeff", "\t", "$&");
  const text = fc.array(word, { minLength: 0, maxLength: 60 }).map((parts) => parts.join(""));

  test("an edit is split and join, and its changes say where it happened", () => {
    fc.assert(
      fc.property(
        text,
        fc.array(
          fc.tuple(
            text.filter((old) => old !== ""),
            text,
          ),
          { minLength: 1, maxLength: 4 },
        ),
        (before, pairs) => {
          let expected = before;
          const edits = pairs.map(([old, next]) => {
            const count = expected.split(old).length - 1;
            expected = expected.split(old).join(next);
            return one(old, next, count);
          });
          const old = Buffer.from(before);
          const applied = applyEdits(old, edits);
          if ("places" in applied) throw new Error("mismatch");
          expect(applied.bytes.toString()).toBe(expected);
          let rebuilt = "";
          let from = 0;
          for (const change of applied.changes) {
            rebuilt +=
              old.toString("latin1", from, change.old_start) +
              applied.bytes.toString("latin1", change.new_start, change.new_end);
            from = change.old_end;
          }
          expect(rebuilt + old.toString("latin1", from)).toBe(applied.bytes.toString("latin1"));
          const diff = shortDiff("f", old, applied.bytes, applied.changes);
          if (diff.includes("\n... ") || !diff.includes("\n@@")) return;
          const [patch] = parsePatch(diff);
          const patched = applyHunks(bytesOf(before), patch!.hunks);
          expect(patched).toEqual({ content: bytesOf(expected), rejected: [] });
        },
      ),
      { numRuns: 2000 },
    );
  });
});
