/** Code over stdio against `node -e` and `python3 -c` on the same code, in turns; resume; memory. `node bench/sandbox.ts [rounds] [in a row]` */
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { initialize, type Measured, median, percentile, row, start } from "./lib/servers.ts";

const ROUNDS = Number(process.argv[2] ?? 40);
const IN_A_ROW = Number(process.argv[3] ?? 1000);
const BINARY = fileURLToPath(new URL("../bin/llmc", import.meta.url));
const PYTHON = "print(sum(i * i for i in range(1000)))";
const JAVASCRIPT = "let s = 0; for (let i = 0; i < 1000; i++) s += i * i; console.log(s)";

const root = mkdtempSync(join(tmpdir(), "llmc-bench-"));
const serve = () => start(BINARY, ["serve", "--root", root], { env: { LLMC_MCP_SANDBOX_IDLE_S: "600" } });
try {
  await bench();
} finally {
  rmSync(root, { recursive: true, force: true });
}

async function bench(): Promise<void> {
  await using server = serve();
  await initialize(server);
  const before = server.rssMb();
  await call(server, "python", "1", "none");
  await call(server, "javascript", "1", "none");
  row("", "ours p50 ms", "floor p50 ms", "ratio", "goal");
  const node = () => run(process.execPath, ["-e", JAVASCRIPT]);
  const python = () => run("python3", ["-c", PYTHON]);
  await race("stateless javascript", 0.25, () => call(server, "javascript", JAVASCRIPT, "none"), node);
  await race("stateless python", 0.3, () => call(server, "python", PYTHON, "none"), python);
  await race("javascript in a session", 0.15, () => call(server, "javascript", JAVASCRIPT), node);
  const floor = await race("python in a session", 0.15, () => call(server, "python", PYTHON), python);
  await race("python in a session / node -e", 0.15, () => call(server, "python", PYTHON), node);
  await inARow(server);
  await resume(server, floor);
  await memory(server);
  row("server before first use, MB", before);
}

async function race(name: string, goal: number, ours: () => Promise<unknown>, floor: () => Promise<unknown>) {
  const times = { ours: [] as number[], floor: [] as number[] };
  for (let round = -5; round < ROUNDS; round++) {
    const [a, b] = [await timed(ours), await timed(floor)];
    if (round >= 0) {
      times.ours.push(a);
      times.floor.push(b);
    }
  }
  row(name, median(times.ours), median(times.floor), median(times.ours) / median(times.floor), goal);
  return median(times.floor);
}

async function inARow(server: Measured): Promise<void> {
  const times: number[] = [];
  for (let run = 0; run < IN_A_ROW; run++) times.push(await timed(() => call(server, "python", PYTHON, "none")));
  const [p50, p95] = [percentile(times, 0.5), percentile(times, 0.95)];
  row(`stateless python x${IN_A_ROW}: p50, p95`, p50, p95, p95 / p50, 3);
}

/** A session that a server before this one left behind. */
async function resume(server: Measured, floor: number): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < Math.min(ROUNDS, 10); round++) {
    const id = `asleep-${round}`;
    {
      await using earlier = serve();
      await initialize(earlier);
      await tool(earlier, "create_session", { language: "python", session_id: id });
      await call(earlier, "python", "x = list(range(20_000))", id);
    }
    // A spare interpreter is there, as it is between the calls of a person or a model.
    await call(server, "python", "1", "none");
    await new Promise((resolve) => setTimeout(resolve, 1500));
    times.push(await timed(() => call(server, "python", "len(x)", id)));
    await tool(server, "destroy_session", { session_id: id });
  }
  row("resume of a hibernated session", median(times), floor, median(times) / floor, 4);
}

async function memory(server: Measured): Promise<void> {
  const count = 6;
  for (let index = 0; index < 2; index++) await session(server, `warm-${index}`);
  await new Promise((resolve) => setTimeout(resolve, 2500));
  const before = treeMb(server.child.pid!);
  for (let index = 0; index < count; index++) await session(server, `live-${index}`);
  await new Promise((resolve) => setTimeout(resolve, 2500));
  row("MB for each live python session", (treeMb(server.child.pid!) - before) / count, "", "", 60);
}

async function session(server: Measured, id: string): Promise<void> {
  await tool(server, "create_session", { language: "python", session_id: id });
  await call(server, "python", PYTHON, id);
}

async function call(server: Measured, language: string, code: string, session_id?: string): Promise<void> {
  await tool(server, "execute_code", { code, language, ...(session_id === undefined ? {} : { session_id }) });
}

async function tool(server: Measured, name: string, args: Record<string, unknown>): Promise<void> {
  const { result, error } = await server.request("tools/call", { name, arguments: args });
  const text = JSON.stringify(result ?? error);
  if (error !== undefined || /"isError":true|exit_code/.test(text)) throw new Error(text);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

function run(command: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => execFile(command, args, (error) => (error ? reject(error) : resolve())));
}

/** Of a process and all below it; what they share is counted once for each. */
function treeMb(pid: number): number {
  const own = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
  const below = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number),
  );
  return below.reduce((sum, child) => sum + treeMb(child), own);
}
