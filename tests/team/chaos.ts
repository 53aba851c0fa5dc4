import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type HttpServer, startHttp } from "../harness/http.ts";
import { temp } from "../harness/temp.ts";

export interface ChaosReport {
  readonly requests: number;
  readonly kills: number;
  readonly acknowledged: number;
  /** Acknowledged and not there. */
  readonly lost: number;
  /** There more than once. */
  readonly twice: number;
  /** Answered "come again" and come again. */
  readonly repeated: number;
  /** Requests that were under way at a replica when it was killed. */
  readonly cut: number;
  readonly other_errors: readonly string[];
}

interface Ask {
  readonly url: string;
  readonly seconds: number;
  readonly per_second: number;
  readonly kill_every_s: number;
}

const FILES = 40;
const CONFIG = "[mcp]\nmode = 'classic'\n[mcp.store]\nbackend = 'postgres'\n[mcp.maasl]\nwait_ms = 2000\n";

/** Two replicas under load, of which one after the other is killed with kill -9 and started again. Every write carries a number of its own. */
export async function chaos({ url, seconds, per_second, kill_every_s }: Ask): Promise<ChaosReport> {
  using folder = temp();
  using states = temp();
  const root = folder.path;
  writeFileSync(join(root, "llmc.toml"), CONFIG);
  for (let file = 0; file < FILES; file++) writeFileSync(join(root, `f${file}.txt`), "begin\n");
  const start = (index: number) =>
    startHttp(root, {
      env: {
        LLMC_STORE_URL: url,
        LLMC_STATE_DIR: join(states.path, String(index)),
        // One token makes all of the load.
        LLMC_MCP_LIMITS_RATE_LIMIT_RPS: "10000",
        LLMC_MCP_LIMITS_CONCURRENCY_PER_TOKEN: "1000",
      },
    });
  const replicas: (HttpServer | undefined)[] = await Promise.all([start(0), start(1)]);
  const tally = { requests: 0, kills: 0, repeated: 0, cut: 0 };
  const acknowledged: number[] = [];
  const other_errors: string[] = [];

  /** As a balancer does: whoever is there; one that does not answer the door is passed over. */
  async function send(name: string, args: object): Promise<number | "cut"> {
    for (;;) {
      const alive = replicas.filter((replica) => replica !== undefined);
      const replica = alive[Math.floor(Math.random() * alive.length)]!;
      try {
        const { status, body } = await replica.post("/tool", { name, args });
        if (status === 409 || status === 503) {
          tally.repeated++;
          await sleep(20 + Math.random() * 80);
          continue;
        }
        if (status !== 200) other_errors.push(`${name}: ${status} ${String(body["code"])}`);
        return status;
      } catch (error) {
        const { code } = (error as { cause?: { code?: string } }).cause ?? {};
        if (code === "ECONNREFUSED") continue;
        if (replicas.includes(replica)) other_errors.push(`${name}: ${code}`);
        return "cut";
      }
    }
  }

  async function request(number: number): Promise<void> {
    tally.requests++;
    const path = `f${number % FILES}.txt`;
    if (number % 3 === 0) {
      if ((await send("stat", { path })) === "cut") tally.cut++;
      return;
    }
    const answer = await send("linux_fs_write", { path, content: `<${number}>\n`, mode: "append" });
    if (answer === 200) acknowledged.push(number);
    if (answer === "cut") tally.cut++;
  }

  async function kill(): Promise<void> {
    const index = Math.floor(Math.random() * replicas.length);
    const victim = replicas[index];
    if (!victim) return;
    replicas[index] = undefined;
    victim.signal("SIGKILL");
    tally.kills++;
    await victim.exited();
    replicas[index] = await start(index);
  }

  const began = Date.now();
  const flying = new Set<Promise<void>>();
  const restarts: Promise<void>[] = [];
  for (let number = 1; Date.now() - began < seconds * 1000; number++) {
    const one = request(number).finally(() => flying.delete(one));
    flying.add(one);
    if (Date.now() - began > (restarts.length + 1) * kill_every_s * 1000) restarts.push(kill());
    await sleep(Math.max(0, began + (number * 1000) / per_second - Date.now()));
  }
  await Promise.all([...flying, ...restarts]);
  const found = new Map<number, number>();
  for (let file = 0; file < FILES; file++)
    for (const [, number] of readFileSync(join(root, `f${file}.txt`), "utf8").matchAll(/<(\d+)>/g))
      found.set(Number(number), (found.get(Number(number)) ?? 0) + 1);
  for (const replica of replicas) await replica?.[Symbol.asyncDispose]();
  return {
    ...tally,
    acknowledged: acknowledged.length,
    lost: acknowledged.filter((number) => !found.has(number)).length,
    twice: [...found.values()].filter((count) => count > 1).length,
    other_errors,
  };
}
