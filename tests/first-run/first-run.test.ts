import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Temp, temp } from "../harness/temp.ts";
import { type Journey, journey, transcript } from "./journey.ts";

const PACKAGE = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string };

describe("someone who heard of llmc a minute ago", () => {
  let folder: Temp;
  let tarball: string;
  let made: Journey;
  beforeAll(async () => {
    folder = temp();
    execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder.path]);
    tarball = join(folder.path, readdirSync(folder.path).find((name) => name.endsWith(".tgz"))!);
    made = await journey(folder.path, tarball);
  });
  afterAll(() => folder[Symbol.dispose]());

  it("downloads less than 60 MB, and compiles nothing", () => {
    expect(statSync(tarball).size).toBeLessThan(60e6);
    const modules = join(folder.path, "shop", "node_modules");
    const installed = execFileSync("sh", ["-c", "cat */package.json @*/*/package.json"], {
      cwd: modules,
      encoding: "utf8",
    });
    expect(installed).not.toMatch(/"(pre|post)?install":|"gypfile"/);
  });

  it("has a repository, a registered client and an answer in under five minutes, with no error on the way", () => {
    expect(made.seconds).toBeLessThan(300);
    const [install, version, init, clients, doctor, stats] = made.steps.map(({ shown }) => shown);
    expect(install).toMatch(/^added \d+ packages/m);
    expect(install).not.toMatch(/warn|error/i);
    expect(version).toMatch(
      new RegExp(`^llmc ${PACKAGE.version} \\(node 2[24]\\.[\\d.]+; MCP 2025-06-18, 2025-11-25, 2026-07-28\\)$`),
    );
    expect(init).not.toMatch(/^[✗!]/m);
    expect(clients).toContain("✓ cursor");
    expect(doctor).not.toMatch(/^✗/m);
    expect(doctor).toContain("Cursor knows it");
    expect(made.first_call.tools).toContain("read_file");
    expect(made.first_call.text).toContain("# shop");
    expect(stats).toMatch(/^read_file +1 +0/m);
  });

  it("sees what the quick start shows", () => {
    const page = readFileSync(new URL("../../docs/quick-start.md", import.meta.url), "utf8");
    const [, shown] = /<!-- transcript -->\n\n```text\n([\s\S]*?)\n```/.exec(page)!;
    expect(shape(shown!)).toEqual(shape(transcript(made)));
  });
});

/** The same lines, whatever the numbers: times, sizes and versions differ from machine to machine. */
function shape(text: string): string[] {
  return text
    .split("\n")
    .map((line) =>
      line
        .replace(/\d[\d.,:k]*/g, "N")
        .replace(/\s+/g, " ")
        .replace(/\(rev \w+\)|level \w+/g, ""),
    )
    .filter((line) => !/^N? ?(MB read|[✓!] (commands|git|port) )/.test(line));
}
