import { spawn } from "node:child_process";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { Fault } from "../../base/fault.ts";
import { PROTOCOL_REVISIONS } from "../../version.ts";

export interface Answer {
  readonly text: string;
  readonly isError: boolean;
}

/** A real server of its own, spoken to as a client does. */
export interface DemoServer {
  call(name: string, args: Record<string, unknown>): Promise<Answer>;
  /** What the model is shown before it calls anything. */
  surface(): Promise<string>;
  close(): Promise<void>;
}

interface Message {
  readonly id?: number;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
}

export async function startServer(
  root: string,
  env: Readonly<Record<string, string | undefined>>,
  mode: string,
): Promise<DemoServer> {
  const args = ["--disable-warning=ExperimentalWarning", process.argv[1]!, "serve", "--root", root, "--mode", mode];
  // In a group of its own: Ctrl-C is for the demo, which closes its servers itself. They end with their stdin in any case.
  const stdio = ["pipe", "pipe", "ignore"] as ["pipe", "pipe", "ignore"];
  const child = spawn(process.execPath, args, { env: serverEnv(env), detached: true, stdio });
  const waiting = new Map<number, { resolve(message: Message): void; reject(fault: Fault): void }>();
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  void ended.then(() => {
    for (const { reject } of waiting.values()) reject(new Fault("internal_error", "The demo's server ended."));
  });
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line) as Message;
    if (message.id === undefined) return;
    waiting.get(message.id)?.resolve(message);
    waiting.delete(message.id);
  });
  const send = (message: object) => void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  let next = 0;
  async function ask(method: string, params: object): Promise<Record<string, unknown>> {
    const id = ++next;
    const answer = new Promise<Message>((resolve, reject) => waiting.set(id, { resolve, reject }));
    send({ id, method, params });
    const { result, error } = await answer;
    if (!result) throw new Fault("internal_error", error?.message ?? "No answer.");
    return result;
  }

  const clientInfo = { name: "llmc-demo", version: "1" };
  const greeted = await ask("initialize", { protocolVersion: PROTOCOL_REVISIONS[1], capabilities: {}, clientInfo });
  send({ method: "notifications/initialized" });
  return {
    async call(name, given) {
      const { content, isError } = await ask("tools/call", { name, arguments: given });
      return { text: (content as { text: string }[]).map(({ text }) => text).join("\n"), isError: isError === true };
    },
    surface: async () => JSON.stringify((await ask("tools/list", {}))["tools"]) + String(greeted["instructions"] ?? ""),
    async close() {
      child.stdin.end();
      await ended;
    },
  };
}

/** Defaults, whatever the person has set; and a Node for the demo's tests, also where none is installed. */
function serverEnv(env: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  const kept = Object.entries(env).filter(([name]) => !name.startsWith("LLMC_") || name === "LLMC_ISOLATED");
  return { ...Object.fromEntries(kept), PATH: `${env["PATH"] ?? ""}:${dirname(process.execPath)}` };
}
