import { createServer } from "node:net";
import type { Config } from "../../config/schema.ts";
import type { Finding } from "../findings.ts";

const WAIT_MS = 1500;

/** Whether llmc serve --http could listen where it is told to. */
export async function portFinding(
  { host, port }: { host: string; port: number },
  signal: AbortSignal,
): Promise<Finding[]> {
  const place = `${host}:${port}`;
  const code = await listenError(host, port);
  if (code === undefined) return [{ level: "ok", about: "port", text: `${place} is free for llmc serve --http` }];
  if (code !== "EADDRINUSE")
    return [
      { level: "warning", about: "port", text: `${place} cannot be used (${code}). Set mcp.server.host and port.` },
    ];
  const answer = await ask(`http://${place}/health`, signal);
  return answer?.includes("server_version")
    ? [{ level: "ok", about: "port", text: `llmc is serving at ${place}` }]
    : [
        {
          level: "warning",
          about: "port",
          text: `${place} is taken by another program. For --http set mcp.server.port.`,
        },
      ];
}

function listenError(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "unknown"));
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}

/** Every address of a model server that the configuration names. Only those on this machine are asked. */
export async function modelFindings(config: Config, signal: AbortSignal): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [key, url] of addressesIn(config)) {
    const { hostname, origin } = new URL(url);
    if (!/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)) {
      findings.push({ level: "ok", about: "models", text: `${origin} (${key}) is not on this machine: not asked` });
      continue;
    }
    const answer = await ask(url, signal);
    findings.push(
      answer === undefined
        ? {
            level: "warning",
            about: "models",
            text: `Nothing answers at ${origin} (${key}). Start it, or change the key.`,
          }
        : { level: "ok", about: "models", text: `${origin} answers (${key})` },
    );
  }
  if (findings.length > 0) return findings;
  return [{ level: "ok", about: "models", text: "no model server is configured, and none is needed" }];
}

const PORTS: Readonly<Record<string, number>> = { ollama: 11_434, openai: 8000 };

/** Where a provider listens when nothing else is said. */
function usual(table: object): { base_url?: string } {
  const { provider } = table as { provider?: unknown };
  const port = typeof provider === "string" ? PORTS[provider] : undefined;
  return port === undefined ? {} : { base_url: `http://127.0.0.1:${port}` };
}

/** By the names of the keys, wherever they stand: tables of providers included. */
function addressesIn(value: unknown, path: readonly string[] = []): (readonly [string, string])[] {
  if (typeof value === "object" && value !== null)
    return Object.entries({ ...usual(value), ...value }).flatMap(([name, child]) =>
      addressesIn(child, [...path, name]),
    );
  if (typeof value !== "string" || !/(url|endpoint)$/.test(path.at(-1) ?? "") || !/^https?:\/\//.test(value)) return [];
  return URL.canParse(value) ? [[path.join("."), value]] : [];
}

/** Any answer shows that someone listens. */
async function ask(url: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(WAIT_MS)]) });
    return (await response.text()).slice(0, 1000);
  } catch {
    return undefined;
  }
}
