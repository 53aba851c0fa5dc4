import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Balancer, startCaddy } from "../harness/caddy.ts";
import { startHaproxy } from "../harness/haproxy.ts";
import { type HttpServer, startHttp, TOKEN } from "../harness/http.ts";
import { freePort } from "../harness/ports.ts";
import { temp } from "../harness/temp.ts";

/** What became of the requests of one kind. */
interface Row {
  requests: number;
  acknowledged: number;
  /** Acknowledged and not there. */
  lost: number;
  /** There more than once. */
  twice: number;
  /** Answered "come again" and come again. */
  repeated: number;
  /** Without an answer, and under way while a replica was being killed. */
  cut: number;
  /** Failed without a kill that explains it, and there all the same. */
  done_all_the_same: number;
}

export interface ChaosReport {
  readonly kills: number;
  readonly stat: Row;
  readonly append: Row;
  readonly edit: Row;
  /** Of requests that no kill explains. */
  readonly other_errors: readonly string[];
}

interface Ask {
  readonly url: string;
  readonly through: keyof typeof BALANCERS;
  readonly seconds: number;
  readonly per_second: number;
  readonly kill_every_s: number;
}

const BALANCERS = {
  caddy: (upstreams: readonly string[]): Promise<Balancer> => startCaddy("team/Caddyfile", upstreams),
  haproxy: (upstreams: readonly string[]): Promise<Balancer> => startHaproxy(upstreams),
};
const NO_ANSWER = new Set([0, 502]);
/** After this both balancers know of one that is back. */
const NOTICED_MS = 2500;
const FILES = 40;
const KINDS = ["stat", "append", "edit"] as const;
const CONFIG = "[mcp]\nmode = 'classic'\n[mcp.store]\nbackend = 'postgres'\n[mcp.maasl]\nwait_ms = 2000\n";

/**
 * Two replicas behind a balancer under load, of which one or the other is killed with kill -9 and started again. Every change carries
 * a number of its own. What an edit puts in still holds what it looked for, so an edit that is done twice shows.
 */
export async function chaos({ url, through, seconds, per_second, kill_every_s }: Ask): Promise<ChaosReport> {
  using folder = temp();
  using states = temp();
  const root = folder.path;
  writeFileSync(join(root, "llmc.toml"), CONFIG);
  const places = Array.from({ length: FILES }, () => "begin\n");
  for (let number = 1; number <= seconds * per_second + FILES; number++) places[number % FILES] += `[${number}]\n`;
  for (const [file, text] of places.entries()) writeFileSync(join(root, `f${file}.txt`), text);

  const ports = [await freePort(), await freePort()];
  const start = (index: number) =>
    startHttp(root, {
      args: ["--port", String(ports[index])],
      env: {
        LLMC_STORE_URL: url,
        LLMC_STATE_DIR: join(states.path, String(index)),
        // One token makes all of the load.
        LLMC_MCP_LIMITS_RATE_LIMIT_RPS: "10000",
        LLMC_MCP_LIMITS_CONCURRENCY_PER_TOKEN: "1000",
      },
    });
  const replicas: (HttpServer | undefined)[] = await Promise.all([start(0), start(1)]);
  await using balancer = await BALANCERS[through](ports.map((port) => `127.0.0.1:${port}`));
  const rows = { stat: newRow(), append: newRow(), edit: newRow() };
  const acknowledged: Record<(typeof KINDS)[number], number[]> = { stat: [], append: [], edit: [] };
  const failed: typeof acknowledged = { stat: [], append: [], edit: [] };
  const deaths: { from: number; to: number }[] = [];
  const other_errors: string[] = [];
  let back_at = 0;

  async function send(row: Row, name: string, args: object): Promise<200 | "cut" | "failed"> {
    for (;;) {
      const began = Date.now();
      const { status, body } = await ask(balancer.url, name, args);
      // Of a replica, not of the balancer.
      if ((status === 409 || status === 503) && body.startsWith("{")) {
        row.repeated++;
        await sleep(20 + Math.random() * 80);
        continue;
      }
      if (status === 200) return status;
      if (NO_ANSWER.has(status) && deaths.some(({ from, to }) => began <= to && Date.now() >= from)) {
        row.cut++;
        return "cut";
      }
      other_errors.push(`${name}: ${status} ${body.slice(0, 200)}`);
      return "failed";
    }
  }

  async function request(number: number): Promise<void> {
    const kind = KINDS[number % 3]!;
    const row = rows[kind];
    row.requests++;
    const path = `f${number % FILES}.txt`;
    const status = await {
      stat: () => send(row, "stat", { path }),
      append: () => send(row, "linux_fs_write", { path, content: `<${number}>\n`, mode: "append" }),
      edit: () => send(row, "linux_fs_edit", { path, old_text: `[${number}]`, new_text: `[${number}]+` }),
    }[kind]();
    if (status === "failed") failed[kind].push(number);
    if (status !== 200) return;
    row.acknowledged++;
    acknowledged[kind].push(number);
  }

  async function kill(): Promise<void> {
    const index = Math.floor(Math.random() * replicas.length);
    const victim = replicas[index];
    // With both away there is nobody to serve: not what is looked at here.
    if (!victim || replicas.includes(undefined) || Date.now() - back_at < NOTICED_MS) return;
    replicas[index] = undefined;
    const death = { from: Date.now(), to: Number.POSITIVE_INFINITY };
    deaths.push(death);
    victim.signal("SIGKILL");
    await victim.exited();
    death.to = Date.now();
    replicas[index] = await start(index);
    back_at = Date.now();
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
  for (const replica of replicas) await replica?.[Symbol.asyncDispose]();

  const text = Array.from({ length: FILES }, (_, file) => readFileSync(join(root, `f${file}.txt`), "utf8")).join("");
  for (const [kind, pattern] of [
    ["append", /<(\d+)>/g],
    ["edit", /\[(\d+)\](?=\+)/g],
  ] as const) {
    const found = new Map<number, number>();
    for (const { 1: number, index, 0: whole } of text.matchAll(pattern))
      found.set(
        Number(number),
        (found.get(Number(number)) ?? 0) + (kind === "append" ? 1 : plusses(index + whole.length)),
      );
    rows[kind].done_all_the_same = failed[kind].filter((number) => found.has(number)).length;
    rows[kind].lost = acknowledged[kind].filter((number) => !found.has(number)).length;
    rows[kind].twice = [...found.values()].filter((count) => count > 1).length;
  }
  return { kills: deaths.length, ...rows, other_errors };

  function plusses(at: number): number {
    return /^\+*/.exec(text.slice(at, at + 10))![0].length;
  }
}

/** Status 0: an answer that breaks off. */
async function ask(url: string, name: string, args: object): Promise<{ status: number; body: string }> {
  const headers = { "content-type": "application/json", "x-llmc-token": TOKEN };
  try {
    const response = await fetch(`${url}/tool`, { method: "POST", body: JSON.stringify({ name, args }), headers });
    return { status: response.status, body: await response.text() };
  } catch {
    return { status: 0, body: "" };
  }
}

function newRow(): Row {
  return { requests: 0, acknowledged: 0, lost: 0, twice: 0, repeated: 0, cut: 0, done_all_the_same: 0 };
}
