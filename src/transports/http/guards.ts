import { Fault } from "../../base/fault.ts";
import type { HeaderList } from "./headers.ts";
import type { ServerOptions } from "./options.ts";

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);
}

/** Against pages that make a browser talk to this server: the Host must be one of ours, and an Origin, if there is one, too. */
export function createGuards(options: ServerOptions): (headers: HeaderList) => void {
  const hosts = new Set([...LOOPBACK, ...options.allowed_hosts.map((host) => host.toLowerCase())]);
  const origins = new Set(options.allowed_origins.map((origin) => origin.toLowerCase().replace(/\/$/, "")));

  return (headers) => {
    const host = headers.get("host");
    if (host === null || !isKnown(host.toLowerCase(), hosts)) throw forbidden("Host", "mcp.server.allowed_hosts");
    const origin = headers.get("origin");
    if (origin !== null && !isOurs(origin.toLowerCase(), origins))
      throw forbidden("Origin", "mcp.server.allowed_origins");
  };
}

/** A name listed with its port must match with it; one without matches any port. */
function isKnown(host: string, hosts: ReadonlySet<string>): boolean {
  return hosts.has(host) || hosts.has(host.replace(/:\d{1,5}$/, ""));
}

function isOurs(origin: string, origins: ReadonlySet<string>): boolean {
  if (origins.has(origin)) return true;
  const local = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/.test(origin);
  return local;
}

function forbidden(header: string, key: string): Fault {
  return new Fault("permission_denied", `This ${header} header is not accepted here.`, {
    hint: `The operator lists what is in ${key}.`,
    rule: header.toLowerCase(),
  });
}
