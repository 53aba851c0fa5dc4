/** Commands against bare child_process and bare bubblewrap, in turns; a flood; leaks. `node bench/exec.ts [rounds] [flood seconds] [runs]` */
import { type SpawnOptions, spawn } from "node:child_process";
import { mkdirSync, readdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { BUILT_IN_DENIED_PATHS } from "../src/base/path/index.ts";
import type { Keep } from "../src/engines/exec/index.ts";
import { allPids, procStat } from "../src/engines/exec/proc.ts";
import { ME, testExec } from "../src/engines/exec/test-exec.ts";
import { createHandles, handlesOptions } from "../src/engines/handles/index.ts";

const ROUNDS = Number(process.argv[2] ?? 300);
const FLOOD_S = Number(process.argv[3] ?? 10);
const RUNS = Number(process.argv[4] ?? 1000);
const BARE: SpawnOptions = { stdio: ["ignore", "pipe", "pipe"], detached: true };

await using test = testExec({ run_cmd_allowlist: ["true", "ls", "yes", "node"], policy: { yes: { class: "reader" } } });
await using boxed = testExec({ run_cmd_allowlist: ["true"], policy: { true: { class: "project_code" } } });

const denied = BUILT_IN_DENIED_PATHS.filter((rule) => !/[!:/]/.test(rule)).map((name) => join(boxed.root, name));
console.table([
  await race(
    "run_cmd true, raw",
    1.4,
    () => test.run(["true"]),
    () => bare("/usr/bin/true", []),
  ),
  await race(
    "run_cmd true, in bubblewrap / as much by hand",
    1.3,
    () => boxed.run(["true"]),
    () => byHand(denied),
  ),
  await race(
    "run_cmd true, in bubblewrap / fewer mounts by hand",
    1.3,
    () => boxed.run(["true"]),
    () => byHand([]),
  ),
]);
await flood();
await leaks();

async function race(name: string, goal: number, ours: () => Promise<unknown>, floor: () => Promise<unknown>) {
  const times = { ours: [] as number[], floor: [] as number[] };
  for (let round = -10; round < ROUNDS; round++)
    for (const [key, work] of [
      ["ours", ours],
      ["floor", floor],
    ] as const) {
      const began = performance.now();
      await work();
      if (round >= 0) times[key].push(performance.now() - began);
    }
  const [a, b] = [median(times.ours), median(times.floor)];
  return {
    name,
    ours_ms: round(a),
    floor_ms: round(b),
    ratio: round(a / b),
    goal,
  };
}

/** What one would write for the same hold on a program, with and without the names in the root that it must not write. */
async function byHand(names: readonly string[]): Promise<void> {
  const hold =
    "--die-with-parent --unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-net --cap-drop ALL".split(
      " ",
    );
  const disk =
    "--ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64 --ro-bind /etc /etc --dev /dev --proc /proc --tmpfs /tmp --tmpfs /run --tmpfs /root".split(
      " ",
    );
  for (const name of names) mkdirSync(name);
  const cover = names.flatMap((name) => ["--ro-bind", name, name]);
  await bare("/usr/bin/bwrap", [
    ...hold,
    ...disk,
    "--bind",
    boxed.root,
    boxed.root,
    ...cover,
    "--chdir",
    boxed.root,
    "--",
    "/usr/bin/true",
  ]);
  for (const name of names) rmdirSync(name);
}

function bare(file: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, BARE);
    child.stdout?.resume();
    child.stderr?.resume();
    child.once("error", reject);
    child.once("close", (code) => (code === 0 ? resolve() : reject(new Error(`${file} ended with ${code}`))));
  });
}

/** The whole way: a flood, its beginning into the real store, the rest counted. */
async function flood(): Promise<void> {
  const handles = createHandles(handlesOptions.parse({}), { state_dir: test.state_dir, roots: test.roots });
  const keep: Keep = (output) => handles.put(ME, output, { kind: "output" });
  await test.run(["yes"], { timeout_s: 0.05, max_bytes: 1000, keep });
  const before = process.memoryUsage.rss();
  let most = before;
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 20);
  const result = await test.run(["yes"], { timeout_s: FLOOD_S, keep });
  clearInterval(watch);
  await handles.close();
  console.log(
    `yes for ${FLOOD_S} s: RSS grew by ${round((most - before) / 1024 ** 2)} MB at most (goal < 20), handle ${result.handle !== undefined}`,
  );
}

async function leaks(): Promise<void> {
  await test.run(["true"]);
  const [fds, children] = [openFds(), ownChildren()];
  let next = 0;
  const began = performance.now();
  const worker = async () => {
    while (next++ < RUNS) await (next % 4 === 0 ? boxed.run(["true"]) : test.run(["ls"]));
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  await new Promise((resolve) => setTimeout(resolve, 200));
  const took = round((performance.now() - began) / 1000);
  console.log(
    `${RUNS} runs, 8 at a time, ${took} s: ${openFds() - fds} descriptors and ${ownChildren() - children} processes leaked (goal 0)`,
  );
}

function openFds(): number {
  return readdirSync("/proc/self/fd").length;
}

function ownChildren(): number {
  return allPids().filter((pid) => procStat(pid)?.ppid === process.pid).length;
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1]!;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
