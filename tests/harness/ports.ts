import type { ChildProcess } from "node:child_process";
import { connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** Below the ports that the system gives to connections: one that is free stays free until its server is back. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(port, () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}

/** Once the program listens there. */
export async function opened(port: number, child: ChildProcess): Promise<void> {
  for (let tries = 0; !(await answers(port)); tries++) {
    if (tries === 400 || child.exitCode !== null) throw new Error(`${child.spawnfile} did not start`);
    await sleep(25);
  }
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  return new Promise((resolve) => {
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
  }).finally(() => socket.destroy()) as Promise<boolean>;
}
