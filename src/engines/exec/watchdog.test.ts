import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { gone, processesWith, there } from "./test-exec.ts";

const watchdog = JSON.stringify(join(import.meta.dirname, "watchdog.ts"));

/** A server that starts a child and never gets to tell its watchdog of it. */
const server = (child: string, end: string) => `
  import { spawn } from "node:child_process";
  import { createWatchdog } from ${watchdog};
  const dog = createWatchdog("/nonexistent/" + process.pid + "-1");
  dog.watch(2 ** 22 + 1);
  spawn("sleep", [${JSON.stringify(child)}], { detached: true, stdio: "ignore", env: { PATH: process.env.PATH, ...dog.brand } }).unref();
  ${end}`;

const run = (script: string) =>
  spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["ignore", "inherit", "inherit"] });

describe("the watchdog", () => {
  it("ends a child that it was never told of, and none of another server", async () => {
    const [mine, other] = [`601.1${process.pid}`, `602.1${process.pid}`];
    const [dies, lives] = [
      run(server(mine, "setInterval(() => {}, 1e6);")),
      run(server(other, "setInterval(() => {}, 1e6);")),
    ];
    try {
      expect(await there(`sleep\0${mine}`)).toBe(true);
      expect(await there(`sleep\0${other}`)).toBe(true);
      dies.kill("SIGKILL");
      expect(await gone(`sleep\0${mine}`)).toBe(true);
      expect(await there(`sleep\0${other}`)).toBe(true);
    } finally {
      dies.kill("SIGKILL");
      lives.kill("SIGKILL");
    }
    expect(await gone(`sleep\0${other}`)).toBe(true);
  });

  it("looks for nobody when the server closes it", async () => {
    const child = `603.1${process.pid}`;
    const closes = run(server(child, "dog.close();"));
    await once(closes, "exit");
    expect(await gone(`LLMC_SERVER=${closes.pid}-1`)).toBe(true);
    const left = processesWith(`sleep\0${child}`);
    for (const pid of left) process.kill(pid, "SIGKILL");
    expect(left).toHaveLength(1);
  });
});
