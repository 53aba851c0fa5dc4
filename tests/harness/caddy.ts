import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "node:tls";
import { freePort, opened } from "./ports.ts";
import { temp } from "./temp.ts";

/** What stands before the replicas. */
export interface Balancer extends AsyncDisposable {
  readonly url: string;
}

export interface Caddy extends Balancer {
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
  await opened(port, child);
  const authority = () => readFileSync(join(folder.path, "caddy/pki/authorities/local/root.crt"), "utf8");
  // It listens before it has made its certificate.
  while (tls && child.exitCode === null && !(await shakesHands(port, authority))) await sleep(25);
  return {
    url,
    authority,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
      folder[Symbol.dispose]();
    },
  };
}

async function shakesHands(port: number, authority: () => string): Promise<boolean> {
  try {
    const socket = connect({ port, host: "127.0.0.1", servername: "localhost", ca: authority() });
    await once(socket, "secureConnect");
    socket.destroy();
    return true;
  } catch {
    return false;
  }
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
