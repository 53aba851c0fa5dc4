import { describe, expect, it } from "vitest";
import { createBed, LOCAL } from "../../tests/harness/bed.ts";
import { Fault } from "../base/fault.ts";
import { mintPrincipal } from "../base/principal.ts";

interface Page {
  content: string;
  meta: Record<string, unknown>;
}

describe("linux_handle_read", () => {
  it("gives 200 lines from the start when nothing else is asked", async () => {
    await using bed = createBed();
    const handle = await (await bed.app.engines.handles()).put(LOCAL, "line\n".repeat(500), { kind: "output" });
    const page = await bed.payload<Page>("linux_handle_read", { handle });
    expect(page).toEqual({
      content: "line\n".repeat(200),
      meta: { kind: "output", state: "done", progress: null, total_lines: 500, truncated: true },
    });
    expect(await bed.text("linux_handle_read", { handle, offset_lines: 499 })).toBe(
      '{"kind":"output","total_lines":500}\n\nline\n',
    );
  });

  it("pages by chunk until there is no more", async () => {
    await using bed = createBed();
    const text = Array.from({ length: 5000 }, (_, index) => `line number ${index}`).join("\n");
    const handle = await (await bed.app.engines.handles()).put(LOCAL, text, { kind: "output" });
    let joined = "";
    for (let chunk = 0, more = true; more; chunk++) {
      const page = await bed.payload<Page>("linux_handle_read", { handle, chunk });
      joined += page.content;
      more = page.meta["truncated"] === true;
    }
    expect(joined).toBe(text);
  });

  it("tells a model where to go on when the lines do not fit a reply", async () => {
    await using bed = createBed();
    const lines = Array.from({ length: 300 }, (_, index) => `${index} ${"word ".repeat(60)}`);
    const handle = await (await bed.app.engines.handles()).put(LOCAL, lines.join("\n"), { kind: "output" });
    let next = 0;
    const seen: string[] = [];
    for (let more = true; more; ) {
      const text = await bed.text("linux_handle_read", { handle, offset_lines: next, max_lines: 2000 });
      const head = JSON.parse(text.slice(0, text.indexOf("\n")));
      const body = text.slice(text.indexOf("\n") + 2);
      seen.push(...body.split("\n").filter(Boolean));
      more = head.truncated === true;
      if (more) expect(head.next_offset_lines).toBeGreaterThan(next);
      next = head.next_offset_lines;
    }
    expect(seen).toEqual(lines);
  });

  it("waits for a job, shows its progress, and cancels it", async () => {
    await using bed = createBed();
    const handles = await bed.app.engines.handles();
    const job = await handles.startJob(LOCAL, { kind: "job" }, () => void job.failed(new Fault("timeout", "Stopped.")));
    job.progress("1 of 3");
    const running = await bed.payload<Page>("linux_handle_read", { handle: job.handle });
    expect(running.meta).toMatchObject({ state: "running", progress: "1 of 3" });
    const cancelled = await bed.payload<Page>("linux_handle_read", { handle: job.handle, cancel: true });
    expect(cancelled.meta["state"]).toBe("cancelled");

    const other = await handles.startJob(LOCAL, { kind: "job" }, () => {});
    const waited = bed.payload<Page>("linux_handle_read", { handle: other.handle, wait_s: 30 });
    await other.done("the result\n");
    expect(await waited).toMatchObject({ content: "the result\n", meta: { state: "done" } });
  });

  it("refuses another's handle as if there were none, and both ways to page at once", async () => {
    await using bed = createBed();
    const handle = await (await bed.app.engines.handles()).put(mintPrincipal("token", "other"), "secret", {
      kind: "output",
    });
    for (const one of [handle, "res_00000000000000000000000000", "../../etc/passwd", "res_' OR 1=1 --"]) {
      const answer = JSON.parse(await bed.text("linux_handle_read", { handle: one }));
      expect(answer.meta.error_code).toBe("HANDLE_EXPIRED");
      expect(JSON.stringify(answer)).not.toContain("secret");
    }
    const mine = await (await bed.app.engines.handles()).put(LOCAL, "x", { kind: "output" });
    const answer = JSON.parse(await bed.text("linux_handle_read", { handle: mine, offset_lines: 0, chunk: 0 }));
    expect(answer.meta.error_code).toBe("INVALID_ARGUMENT");
  });

  it("finds a job that was late, with its result", async () => {
    await using bed = createBed({
      files: { "a.txt": "needle\n" },
      config: '[mcp.limits]\nsoft_deadline_s = 1\n[mcp.output]\nformat = "json"\n',
    });
    const handles = await bed.app.engines.handles();
    const job = await handles.startJob(LOCAL, { kind: "job" }, () => {});
    setTimeout(() => void job.done("late result"), 1500);
    const page = await bed.payload<Page>("linux_handle_read", { handle: job.handle, wait_s: 20 });
    expect(page.content).toBe("late result");
  });
});
