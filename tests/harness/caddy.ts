import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { temp } from "./temp.ts";

export interface Caddy extends AsyncDisposable {
  readonly url: string;
  /** The certificate that signed its own; none without TLS. */
  authority(): string;
}

/** The files in deploy/ as they are, in front of these addresses. */
export async function startCaddy(
  file: "Caddyfile" | "team/Caddyfile",
  upstreams: readonly string[],
  { tls = false }: { tls?: boolean } = {},
): Promise<Caddy> {
  const [port, plain] = [await freePort(), await freePort()];
  const folder = temp();
  const url = tls ? `https://localhost:${port}` : `http://127.0.0.1:${port}`;
  const env = {
    PATH: process.env["PATH"],
    ...{ HOME: folder.path, XDG_DATA_HOME: folder.path, XDG_CONFIG_HOME: folder.path },
    LLMC_DOMAIN: url,
    LLMC_UPSTREAM: upstreams.map((each) => each.replace("http://", "")).join(" "),
  };
  const config = join(folder.path, "caddy.json");
  writeFileSync(config, JSON.stringify(besideOthers(adapted(file, env), plain)));
  const child = spawn("caddy", ["run", "--config", config], { env, stdio: "ignore" });
  const exited = once(child, "exit");
  for (let tries = 0; !(await answers(port)); tries++) {
    if (tries === 200 || child.exitCode !== null) throw new Error("Caddy did not start");
    await sleep(25);
  }
  return {
    url,
    authority: () => readFileSync(join(folder.path, "caddy/pki/authorities/local/root.crt"), "utf8"),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
      folder[Symbol.dispose]();
    },
  };
}

interface CaddyConfig {
  apps: { http: Record<string, unknown>; [app: string]: unknown };
  [section: string]: unknown;
}

/** What Caddy makes of a file; throws where it does not understand it. */
export function adapted(file: string, env: NodeJS.ProcessEnv): CaddyConfig {
  const path = new URL(`../../deploy/${file}`, import.meta.url).pathname;
  const args = ["adapt", "--adapter", "caddyfile", "--validate", "--config", path];
  return JSON.parse(execFileSync("caddy", args, { env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }));
}

/** No port of its own beside the one it serves, and no authority in the trust of this machine. */
function besideOthers(config: CaddyConfig, http_port: number): CaddyConfig {
  const pki = { certificate_authorities: { local: { install_trust: false } } };
  const http = { ...config.apps.http, http_port };
  return { ...config, admin: { disabled: true }, apps: { ...config.apps, http, pki } };
}

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

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  return new Promise((resolve) => {
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
  }).finally(() => socket.destroy()) as Promise<boolean>;
}
