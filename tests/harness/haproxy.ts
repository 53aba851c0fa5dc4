import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Balancer } from "./caddy.ts";
import { freePort, opened } from "./ports.ts";

/** deploy/team/haproxy.cfg as it is, in front of these two addresses. */
export async function startHaproxy([LLMC_A, LLMC_B]: readonly string[], limit = 1_000_000): Promise<Balancer> {
  const port = await freePort();
  const file = new URL("../../deploy/team/haproxy.cfg", import.meta.url).pathname;
  const LLMC_LISTEN = `127.0.0.1:${port}`;
  const env = { PATH: process.env["PATH"], LLMC_LISTEN, LLMC_A, LLMC_B, LLMC_ADDRESS_LIMIT: String(limit) };
  const child = spawn("haproxy", ["-db", "-f", file], { env, stdio: "ignore" });
  const exited = once(child, "exit");
  await opened(port, child);
  return {
    url: `http://${LLMC_LISTEN}`,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}
