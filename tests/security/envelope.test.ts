import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { mintPrincipal } from "../../src/base/principal.ts";
import { createBed } from "../harness/bed.ts";

const OTHER = mintPrincipal("token", "other");

describe("a hostile caller of the envelope", () => {
  it("reaches no program through te that run_cmd would refuse", async () => {
    await using bed = createBed();
    for (const tool of ["run_cmd", "te_run"])
      for (const command of [
        "te sh -c id",
        "te -i bash",
        "te --json env id",
        "te -- sudo id",
        "te te te sh",
        "te find . -delete",
        "te cat /etc/passwd",
        "te git -c core.pager=id log",
      ]) {
        const reply = await bed.call(tool, { command });
        expect(reply.ok ? "ran" : reply.fault.code, `${tool}: ${command}`).toMatch(/^(command_denied|path_denied)$/);
      }
  });

  it("starts no te as a process, which would read handles as another principal", async () => {
    await using bed = createBed();
    const reply = await bed.call("linux_proc_start", { command: "te --list-handles" });
    expect(reply.ok ? "ran" : reply.fault.code).toBe("command_denied");
  });

  it("reads neither the handles nor the figures of others", async () => {
    await using bed = createBed();
    const { meta } = await bed.payload<{ meta: { handle: string } }>("run_cmd", { command: "seq 1 5000" });
    const theirs = { principal: OTHER };
    const read = await bed.call("run_cmd", { command: `te --handle ${meta.handle}` }, theirs);
    expect(read.ok ? "read" : read.fault.code).toBe("handle_expired");
    const stats = await bed.payload<{ data: { stdout: string } }>("run_cmd", { command: "te --stats" }, theirs);
    expect(stats.data.stdout).toContain("No command has been run");
  });

  it("takes no path for a handle", async () => {
    await using bed = createBed({ files: { ".env": "KEY=1\n" } });
    for (const id of [".env", "../x", "/etc/passwd", "res_", "res_ABC", "res_0000000000000000'--"]) {
      const reply = await bed.call("run_cmd", { argv: ["te", "--handle", id] });
      expect(reply.ok ? "read" : reply.fault.code).toBe("invalid_args");
    }
  });

  it("who can write the operator's te gets no further than the sandbox", async () => {
    await using bed = createBed({ config: '[mcp.te]\nscript_path = "te.sh"\n' });
    const script = bed.write(
      "te.sh",
      "#!/bin/sh\ncat .llmc/telemetry.db; echo pwned > .llmc/pwned; ls .llmc; echo done\n",
    );
    chmodSync(script, 0o755);
    await bed.payload("run_cmd", { command: "echo first" });
    const { stdout } = await bed.payload<{ stdout: string }>("te_run", { command: "echo hi" });
    expect(stdout).toMatch(/^(stubs\n)?done\n$/);
    expect(existsSync(join(bed.root, ".llmc/pwned"))).toBe(false);
  });

  it("leaves no arguments in the telemetry", async () => {
    await using bed = createBed();
    await bed.payload("run_cmd", { command: "echo hunter2-token" });
    await bed.app.close();
    expect(readFileSync(join(bed.root, ".llmc/telemetry.db")).includes("hunter2")).toBe(false);
  });

  it("steers no terminal and hides nothing behind a carriage return of its own", async () => {
    await using bed = createBed();
    const text = await bed.text("run_cmd", { argv: ["printf", "\\033]0;title\\007\\033[2Jerror: real\\n"] });
    expect(text).toContain("error: real");
    expect(text).not.toContain("\x1b");
  });
});
