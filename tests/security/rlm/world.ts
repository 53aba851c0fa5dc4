import { spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";

/** Addresses that stand for the rest of the world, from the ranges that documents use. */
export const ELSEWHERE = "203.0.113.5";
export const PROXY = "203.0.113.7";
export const PORT = 8099;

/** A server at every address, a resolver that lies, and an eye on every packet. */
export interface World extends AsyncDisposable {
  /** Targets of packets to anywhere but this machine, since the last call. */
  packets(): Promise<string[]>;
  /** Connections that arrived at addresses which are not this machine's, since the last call. */
  arrivals(): string[];
  /** Names that were looked up, since the last call. */
  lookups(): string[];
}

export async function startWorld(): Promise<World> {
  const [seen, arrived, asked]: [string[], string[], string[]] = [[], [], []];
  /** Questions for a name that is this machine for one lookup (of two kinds of address), and then no more. */
  let rebound = 0;
  const take = (list: string[]) => list.splice(0);
  const eye = spawn("python3", [fileURLToPath(new URL("./sniffer.py", import.meta.url))], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  eye.stdout.on("data", (chunk: Buffer) => seen.push(...String(chunk).split("\n").filter(Boolean)));
  while (!seen.includes("ready")) await once(eye.stdout, "data");
  take(seen);

  const everywhere = createServer((request, response) => {
    request.resume();
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ message: { content: "from elsewhere" }, done: true, embeddings: [[1, 0]] }));
  });
  everywhere.on("connection", ({ localAddress = "" }) => {
    if (!/^(::ffff:)?127\.|^::1$/.test(localAddress)) arrived.push(localAddress);
  });
  await new Promise<void>((resolve) => everywhere.listen(PORT, "::", resolve));

  const resolver = createSocket("udp4");
  resolver.on("message", (query, from) => {
    const name = nameIn(query);
    asked.push(name);
    if (name === "rebind.test") rebound++;
    const address = name === "rebind.test" && rebound <= 2 ? "127.0.0.1" : ELSEWHERE;
    resolver.send(answerTo(query, address), from.port, from.address);
  });
  await new Promise<void>((resolve) => resolver.bind(53, "127.0.0.1", resolve));

  return {
    async packets() {
      // What was sent is on its way through the pipe.
      await new Promise((resolve) => setTimeout(resolve, 100));
      return take(seen);
    },
    arrivals: () => take(arrived),
    lookups: () => take(asked),
    async [Symbol.asyncDispose]() {
      eye.kill("SIGKILL");
      resolver.close();
      everywhere.closeAllConnections();
      await new Promise((resolve) => everywhere.close(resolve));
    },
  };
}

const HEADER = 12;

function nameIn(query: Buffer): string {
  const labels: string[] = [];
  for (let at = HEADER; query[at]! > 0; at += query[at]! + 1)
    labels.push(query.toString("latin1", at + 1, at + 1 + query[at]!));
  return labels.join(".");
}

/** One A record; nothing for other kinds. */
function answerTo(query: Buffer, address: string): Buffer {
  const end = HEADER + nameIn(query).length + 2 + 4;
  const isA = query.readUInt16BE(end - 4) === 1;
  const head = Buffer.from(query.subarray(0, end));
  head.writeUInt16BE(0x8180, 2);
  head.writeUInt16BE(isA ? 1 : 0, 6);
  head.fill(0, 8, HEADER);
  const record = Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split(".").map(Number)]);
  return isA ? Buffer.concat([head, record]) : head;
}
