import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createRoots } from "../../../src/base/path/index.ts";
import { createFs } from "../../../src/engines/fs/index.ts";
import { maaslOptions } from "../../../src/engines/fs/options.ts";

const CHILD = fileURLToPath(new URL("./swapper.child.ts", import.meta.url));
const SECRET = "SECRET-OUTSIDE\n";

export interface SwapReport {
  readonly tries: number;
  readonly answered: number;
  /** Answers that showed something from outside, and changes made outside. */
  readonly leaks: string[];
}

/** Reads, lists, writes, edits, moves and deletes beside the swapper for so long. */
export async function swapTest(duration_ms: number): Promise<SwapReport> {
  const base = mkdtempSync(join(tmpdir(), "llmc-swap-"));
  const inside = join(base, "inside");
  const outside = join(base, "outside");
  mkdirSync(join(inside, "folder"), { recursive: true });
  mkdirSync(outside);
  for (const name of ["secret.txt", "a.txt", "b.txt"]) writeFileSync(join(outside, name), SECRET);
  writeFileSync(join(inside, "victim.txt"), "harmless\n");
  writeFileSync(join(inside, "folder", "a.txt"), "harmless\n");
  const child = spawn(process.execPath, [CHILD, inside, outside], { stdio: ["ignore", "pipe", "ignore"] });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  const exited = new Promise((resolve) => child.once("exit", resolve));
  const roots = createRoots({ roots: [inside] });
  const fs = createFs(maaslOptions.parse({}), { roots, state_dir: join(base, "state") });
  const call = { owner: "swap", signal: new AbortController().signal };
  const read = (name: string) => roots.mint(name, "read");
  const write = (name: string) => roots.mint(name, "write");
  const deeds: (() => Promise<unknown> | unknown)[] = [
    () => fs.readBytes(read("victim.txt"), 0, 100),
    () => fs.readLines(read("victim.txt"), 0, 10),
    () => fs.readBytes(read("folder/secret.txt"), 0, 100),
    () => fs.readBytes(read("folder/a.txt"), 0, 100),
    () => fs.listDir(read("folder"), 10, true),
    () => collected(fs.walk(read("."), { depth: 3, include_hidden: true, signal: call.signal })),
    () => fs.write(write("victim.txt"), "written\n", { mode: "rewrite" }, call),
    () => fs.write(write("victim.txt"), "more\n", { mode: "append" }, call),
    () => fs.write(write("folder/a.txt"), "written\n", { mode: "rewrite" }, call),
    () => fs.write(write("folder/b.txt"), "more\n", { mode: "append" }, call),
    () =>
      fs.edit(
        write("folder/secret.txt"),
        [{ old_text: "SECRET", new_text: "x", expected_replacements: 1 }],
        { dry_run: false },
        call,
      ),
    () => fs.move(write("folder/secret.txt"), write("stolen.txt"), false, call),
    () => fs.remove(write("folder/b.txt"), false, call),
    () => fs.mkdirs(write("folder/new/deep"), true, call),
    () => fs.remove(write("folder/new"), true, call),
  ];
  const leaks: string[] = [];
  let tries = 0;
  let answered = 0;
  const end = Date.now() + duration_ms;
  try {
    while (Date.now() < end) {
      const index = tries++ % deeds.length;
      const answer = await attempt(deeds[index]!);
      if (answer !== undefined) answered++;
      if (answer?.includes("SECRET") || answer?.includes("secret.txt"))
        leaks.push(`deed ${index}: ${answer.slice(0, 200)}`);
      if (tries % 16 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    if (child.exitCode !== null) leaks.push("the swapper did not live to the end");
  } finally {
    child.kill("SIGKILL");
    await exited;
    fs.close();
  }
  const left = readdirSync(outside).sort();
  if (left.join() !== "a.txt,b.txt,secret.txt") leaks.push(`outside holds ${left.join()}`);
  for (const name of left)
    if (readFileSync(join(outside, name), "utf8") !== SECRET) leaks.push(`outside ${name} was changed`);
  rmSync(base, { recursive: true, force: true });
  return { tries, answered, leaks };
}

async function collected(walk: AsyncIterable<{ path: string }[]>): Promise<string[]> {
  const paths: string[] = [];
  for await (const batch of walk) paths.push(...batch.map((entry) => entry.path));
  return paths;
}

async function attempt(deed: () => Promise<unknown> | unknown): Promise<string | undefined> {
  try {
    return JSON.stringify(await deed());
  } catch {
    return undefined;
  }
}
