import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { applied, nextOp, openFs, type Tree } from "./ops.ts";

const CHILD = fileURLToPath(new URL("./crash.child.ts", import.meta.url));

export interface CrashReport {
  readonly operations: number;
  readonly kills: number;
  /** What was neither the state before nor after the operation that was under way. */
  readonly broken: string[];
  readonly temps_left: number;
  readonly locks_left: number;
  /** How often the operation under way was found undone, and done. */
  readonly undone: number;
  readonly done: number;
}

/** Kills a writer with SIGKILL again and again, at random moments, and looks at what it left after the next start. */
export async function crashTest(operations: number, max_ms: number): Promise<CrashReport> {
  const root = mkdtempSync(join(tmpdir(), "llmc-crash-"));
  const stateFile = join(root, ".llmc", "crash.json");
  mkdirSync(join(root, ".llmc"));
  const report = { operations: 0, kills: 0, broken: [] as string[], temps_left: 0, locks_left: 0, undone: 0, done: 0 };
  let tree: Tree = {};
  let number = 0;
  try {
    while (number < operations) {
      writeFileSync(stateFile, JSON.stringify({ tree, number, end: operations }));
      const run = await runUntilKilled(root, stateFile, Math.random() * max_ms);
      if (run.isKilled) report.kills++;
      for (; number <= run.last; number++) tree = applied(tree, nextOp(tree, number));
      const fs = openFs(root);
      report.locks_left += (await fs.locks()).length;
      await fs.close();
      const found = read(root);
      report.temps_left += Object.keys(found).filter((name) => name.includes(".llmc-")).length;
      const next = number < operations ? applied(tree, nextOp(tree, number)) : tree;
      if (same(found, next) && !same(found, tree)) {
        report.done++;
        tree = next;
        number++;
      } else if (same(found, tree)) report.undone++;
      else {
        report.broken.push(`operation ${number}: ${JSON.stringify(nextOp(tree, number)).slice(0, 200)}`);
        return report;
      }
      report.operations = number;
    }
    return report;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function runUntilKilled(
  root: string,
  stateFile: string,
  after_ms: number,
): Promise<{ last: number; isKilled: boolean }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CHILD, root, stateFile], { stdio: ["ignore", "pipe", "inherit"] });
    let out = "";
    let timer: NodeJS.Timeout | undefined;
    child.stdout.on("data", (chunk: Buffer) => {
      out += chunk;
      if (out.includes("ready")) timer ??= setTimeout(() => child.kill("SIGKILL"), after_ms);
    });
    child.on("error", reject);
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      if (code !== 0 && signal !== "SIGKILL") reject(new Error(`The writer failed with ${code ?? signal}.`));
      else resolve({ last: Number(/(\d+)\n[^\n]*$/.exec(out)?.[1] ?? -1), isKilled: signal === "SIGKILL" });
    });
  });
}

function read(root: string): Tree {
  const tree: Tree = {};
  for (const name of readdirSync(root))
    if (statSync(join(root, name)).isFile()) tree[name] = readFileSync(join(root, name), "utf8");
  return tree;
}

function same(a: Tree, b: Tree): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}
