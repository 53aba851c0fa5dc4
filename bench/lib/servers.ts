import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

/** A server under measurement: its own process, spoken to in plain JSON lines so that no client adds its time. */
export interface Measured extends AsyncDisposable {
  readonly child: ChildProcess;
  request(method: string, params?: unknown): Promise<{ result?: unknown; error?: unknown }>;
  rssMb(): number;
}

export function start(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
): Measured {
  const child = spawn(command, args, {
    stdio: ["pipe", "pipe", "ignore"],
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.env === undefined ? {} : { env: { ...process.env, ...options.env } }),
  });
  const waiting = new Map<number, (message: { result?: unknown; error?: unknown }) => void>();
  createInterface({ input: child.stdout! }).on("line", (line) => {
    const message = JSON.parse(line) as { id?: number };
    if (message.id === undefined) return;
    waiting.get(message.id)?.(message as never);
    waiting.delete(message.id);
  });
  let last = 0;
  return {
    child,
    request(method, params) {
      const id = ++last;
      return new Promise((resolve) => {
        waiting.set(id, resolve);
        child.stdin!.write(
          `${JSON.stringify({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) })}\n`,
        );
      });
    },
    rssMb: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))![1]) / 1024,
    async [Symbol.asyncDispose]() {
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.stdin!.end();
      setTimeout(() => child.kill("SIGKILL"), 3000).unref();
      await gone;
    },
  };
}

export const INITIALIZE = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "bench", version: "1" },
};

export async function initialize(server: Measured): Promise<void> {
  await server.request("initialize", INITIALIZE);
  server.child.stdin!.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

export function percentile(values: readonly number[], at: number): number {
  return [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * at))]!;
}

export function row(name: string, ...cells: (string | number)[]): void {
  console.log(
    `${name.padEnd(34)} ${cells.map((cell) => String(typeof cell === "number" ? cell.toFixed(2) : cell).padStart(12)).join(" ")}`,
  );
}
