import { afterAll, describe, expect, it } from "vitest";
import { createBed } from "../../tests/harness/bed.ts";
import { mintPrincipal } from "../base/principal.ts";

const bed = createBed();
afterAll(() => bed[Symbol.asyncDispose]());

interface Ran {
  readonly result: unknown;
  readonly session_id: string | null;
  readonly handle?: string;
  readonly files_changed: readonly unknown[];
}
const run = (args: Record<string, unknown>, more = {}) =>
  bed.payload<Ran>("execute_code", { language: "javascript", ...args }, more);

describe("execute_code", () => {
  it("keeps the caller's variables without being asked, and runs alone when asked", async () => {
    const first = await run({ code: "let n = 1; n" });
    expect(first).toMatchObject({ result: 1, stdout: "", stderr: "", exit_code: 0, tool_calls: {}, files_changed: [] });
    expect(first.session_id).toMatch(/^ses_/);
    expect(await run({ code: "++n", language: "typescript" })).toMatchObject({
      result: 2,
      session_id: first.session_id,
    });
    expect(await run({ code: "typeof n", session_id: "none" })).toMatchObject({
      result: "undefined",
      session_id: null,
    });
    expect(await run({ code: "n", session_id: first.session_id! })).toMatchObject({ result: 2 });
  });

  it("keeps callers apart, by principal and by the session of their connection", async () => {
    await run({ code: "let mine = 1" });
    const other = { principal: mintPrincipal("token", "other"), via: "http" } as const;
    expect(await run({ code: "typeof mine" }, other)).toMatchObject({ result: "undefined" });
    await run({ code: "let a = 1" }, { ...other, session: { session_id: "one" } });
    expect(await run({ code: "typeof a" }, { ...other, session: { session_id: "two" } })).toMatchObject({
      result: "undefined",
    });
    expect(await run({ code: "a" }, { ...other, session: { session_id: "one" } })).toMatchObject({ result: 1 });
    const { session_id } = await run({ code: "1" });
    expect(await bed.call("execute_code", { code: "1", language: "javascript", session_id }, other)).toMatchObject({
      fault: { code: "session_not_found" },
    });
  });

  it("tells a model the value and what was printed, and no more", async () => {
    expect(await bed.text("execute_code", { code: "console.log('a\\nb'); [1, 2]", language: "javascript" })).toBe(
      '{"result":[1,2]}\n\na\nb\n',
    );
    const failed = await bed.text("execute_code", { code: "throw new Error('x')", language: "javascript" });
    expect(failed).toMatch(/^\{"exit_code":1\}\n\n\[stderr\]\nError: x\n/);
  });

  it("lets files be read through a handle", async () => {
    const one = await run({ code: "require('fs').writeFileSync('a.txt', 'hello')", session_id: "none" });
    expect(one.files_changed).toEqual([{ path: "a.txt", bytes: 5 }]);
    expect(await bed.payload("read_file", { path: one.handle })).toMatchObject({ data: "hello" });
    const code = "const fs = require('fs'); fs.writeFileSync('a', '1'); fs.writeFileSync('b', '2')";
    const two = await run({ code, session_id: "none" });
    expect(await bed.payload("read_file", { path: two.handle })).toMatchObject({ data: "==> a <==\n1\n==> b <==\n2" });
  });

  it("inside code has a new interpreter, and does not wait for the session that runs it", async () => {
    expect(await run({ code: "1" }, { depth: 1 })).toMatchObject({ session_id: null });
    expect(await bed.call("execute_code", { code: "1", language: "javascript" }, { depth: 2 })).toMatchObject({
      fault: { code: "limit_exceeded" },
    });
  });

  it("is stopped by its caller", async () => {
    const caller = new AbortController();
    setTimeout(() => caller.abort(new Error("gone")), 50);
    expect(
      await bed.call("execute_code", { code: "for (;;);", language: "javascript" }, { signal: caller.signal }),
    ).toMatchObject({ ok: false });
    expect(await run({ code: "1 + 1" })).toMatchObject({ result: 2 });
  });
});

describe("sessions", () => {
  it("are made, listed, looked into, emptied, cancelled and ended", async () => {
    const args = { language: "javascript", session_id: "work" };
    expect(await bed.payload("create_session", args)).toMatchObject({ session_id: "work", language: "javascript" });
    await run({ code: "let list = [1]; require('fs').writeFileSync('f', 'xy')", session_id: "work" });
    expect(await bed.payload("get_workspace_info", { session_id: "work" })).toMatchObject({
      files: [{ path: "f", bytes: 2 }],
      variables: [{ name: "list", type: "Array" }],
    });
    expect(await bed.payload("create_session", { ...args, session_id: "copy", from_session: "work" })).toMatchObject({
      session_id: "copy",
    });
    expect(await run({ code: "list", session_id: "copy" })).toMatchObject({ result: [1] });
    expect(await bed.payload("cancel_execution", { session_id: "work" })).toEqual({ cancelled: false });
    expect(await bed.payload("reset_workspace", { session_id: "work" })).toEqual({ ok: true });
    expect(await run({ code: "typeof list", session_id: "work" })).toMatchObject({ result: "undefined" });
    const { sessions } = await bed.payload<{ sessions: { session_id: string }[] }>("get_active_sessions");
    expect(sessions.map(({ session_id }) => session_id)).toEqual(expect.arrayContaining(["work", "copy"]));
    expect(await bed.payload("destroy_session", { session_id: "work" })).toEqual({ ok: true });
    expect(await bed.payload("reset_all_sessions")).toEqual({ reset: sessions.length - 1 });
    expect(await bed.payload("get_active_sessions")).toEqual({ sessions: [] });
    expect(await bed.call("destroy_session", { session_id: "work" })).toMatchObject({
      fault: { code: "session_not_found" },
    });
  });

  it("and runtimes and packages can be listed", async () => {
    expect(await bed.payload("list_runtimes")).toMatchObject({ runtimes: [{ language: "javascript" }, {}, {}] });
    const { packages } = await bed.payload<{ packages: { name: string }[] }>("list_available_packages", {
      language: "javascript",
    });
    expect(packages.map(({ name }) => name)).toContain("dayjs");
  });
});
