import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import type { Installed } from "../peers/install.ts";
import { ourOperations } from "../peers/llmc.ts";
import type { NextStep, Operations, ServerCommand, Step } from "../peers/types.ts";

/** Ours in a mode, or a peer: something that can be started on a root. */
export interface Contender {
  readonly name: string;
  commands(root: string): readonly ServerCommand[];
  prepare?(home: string, root: string): void;
  operations(root: string): Operations;
}

const BINARY = fileURLToPath(new URL("../../bin/llmc", import.meta.url));

export type Mode = "hybrid" | "code_execution" | "classic";

export const ours = (mode: Mode): Contender => ({
  name: `llmc ${mode}`,
  commands: (root) => [{ command: BINARY, args: ["serve", "--root", root, "--mode", mode] }],
  operations: ourOperations,
});

export const theirs = ({ peer, scripts }: Installed): Contender => ({
  name: peer.name,
  commands: (root) =>
    scripts.map((script, server) => ({ command: process.execPath, args: [script, ...peer.args(root, server)] })),
  ...(peer.prepare ? { prepare: peer.prepare } : {}),
  operations: (root) => peer.operations(root),
});

export interface Session extends AsyncDisposable {
  /** Tokens of what a model reads before it asks anything. */
  readonly definitions: number;
  readonly tools: number;
  readonly pids: readonly number[];
  readonly operations: Operations;
  ping(): Promise<unknown>;
  call(step: Step, signal?: AbortSignal): Promise<{ text: string; isError: boolean }>;
  /** Makes the calls one after the other, and counts what was sent and read. */
  play(steps: readonly NextStep[]): Promise<{ request: number; answer: number; text: string }>;
}

/** Started with the official client, without a network where the machine allows that, each in a home of its own. */
export async function open(contender: Contender, root: string, wrap: readonly string[] = []): Promise<Session> {
  const home = mkdtempSync(join(tmpdir(), "llmc-bench-home-"));
  mkdirSync(home, { recursive: true });
  contender.prepare?.(home, root);
  const clients: Client[] = [];
  const pids: number[] = [];
  let [definitions, tools] = [0, 0];
  for (const { command, args } of contender.commands(root)) {
    const [first, ...rest] = [...wrap, command, ...args];
    const transport = new StdioClientTransport({
      command: first!,
      args: rest,
      cwd: root,
      stderr: "ignore",
      env: { PATH: process.env["PATH"] ?? "", HOME: home, CANARY: "canary-in-the-environment" },
    });
    const client = new Client(
      { name: "bench", version: "1" },
      { supportedProtocolVersions: ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] },
    );
    await client.connect(transport);
    const listed = await client.listTools();
    tools += listed.tools.length;
    definitions += countTokens(JSON.stringify(listed.tools)) + countTokens(client.getInstructions() ?? "");
    clients.push(client);
    pids.push(transport.pid!);
  }
  const call: Session["call"] = async ({ name, args, server = 0 }, signal) => {
    const result = await clients[server]!.callTool(
      { name, arguments: args },
      { timeout: 120_000, ...(signal ? { signal } : {}) },
    );
    const { content, structuredContent, isError } = result;
    // Everything that a client hands on is paid for: every item, and the structured copy where there is one.
    const texts = (content as { type: string; text?: string }[]).map((item) => item.text ?? JSON.stringify(item));
    return {
      text: [...texts, ...(structuredContent ? [JSON.stringify(structuredContent)] : [])].join("\n"),
      isError: isError === true,
    };
  };
  return {
    definitions,
    tools,
    pids,
    operations: contender.operations(root),
    ping: () => clients[0]!.ping(),
    call,
    async play(steps) {
      let [request, answer, text] = [0, 0, ""];
      for (const next of steps) {
        const step = typeof next === "function" ? next(text) : next;
        if (!step) continue;
        if (step.wait_ms !== undefined) await setTimeout(step.wait_ms);
        const said = await call(step);
        request += countTokens(JSON.stringify({ name: step.name, arguments: step.args }));
        answer += countTokens(said.text);
        text += `${said.text}\n`;
      }
      return { request, answer, text };
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients) await client.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
