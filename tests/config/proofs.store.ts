import { writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { createBed } from "../harness/bed.ts";
import { runBinary } from "../harness/cli.ts";
import { temp } from "../harness/temp.ts";
import type { Proof } from "./proof.ts";

const POSTGRES = "[mcp.store]\nbackend = 'postgres'\n";

async function told(config: string): Promise<string> {
  using folder = temp();
  writeFileSync(join(folder.path, "llmc.toml"), config);
  return (await runBinary(["store", "check", "--root", folder.path], { cwd: folder.path })).stderr;
}

/** How many connections are made to a server that hangs up, or that says nothing. */
async function connections(config: string, hangsUp: boolean, asks: number): Promise<number> {
  let count = 0;
  const server = createServer((socket) => {
    count++;
    socket.on("error", () => {});
    if (hangsUp) socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const env = { LLMC_STORE_URL: `postgres://me@127.0.0.1:${port}/team` };
  try {
    await using bed = createBed({ config, env });
    const { signal } = new AbortController();
    await Promise.allSettled(Array.from({ length: asks }, () => bed.app.shared!.ready(signal)));
    return count;
  } finally {
    server.close();
  }
}

export const STORE_PROOFS: Record<string, Proof> = {
  "mcp.store.backend": async () => [await told(""), await told(POSTGRES)],
  "mcp.store.url_env": async () => [await told(POSTGRES), await told(`${POSTGRES}url_env = 'TEAM_URL'\n`)],
  "mcp.store.max_connections": async () => [
    await connections(POSTGRES, false, 12),
    await connections(`${POSTGRES}max_connections = 2\n`, false, 12),
  ],
  "mcp.store.connect_retry_s": async () => [
    (await connections(POSTGRES, true, 1)) > 1,
    (await connections(`${POSTGRES}connect_retry_s = 0.5\n`, true, 1)) > 1,
  ],
};
