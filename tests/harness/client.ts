import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { BINARY, plainEnv } from "./cli.ts";

export const REVISIONS = ["2025-06-18", "2025-11-25", "2026-07-28"] as const;
export type Revision = (typeof REVISIONS)[number];

export interface Connected extends AsyncDisposable {
  readonly client: Client;
  readonly pid: number;
  stderr(): string;
  /** The text of a tool's answer, and whether it was an error. */
  call(name: string, args?: Record<string, unknown>): Promise<{ text: string; isError: boolean }>;
}

/** The official client on the built binary, over stdio, at one protocol revision. */
export async function connect(
  root: string,
  revision: Revision = "2025-11-25",
  args: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<Connected> {
  const transport = new StdioClientTransport({
    command: BINARY,
    args: ["serve", "--root", root, ...args],
    stderr: "pipe",
    env: plainEnv(env),
  });
  let stderr = "";
  transport.stderr?.on("data", (chunk: Buffer) => (stderr += chunk));
  const client = new Client(
    { name: "tests", version: "1" },
    revision === "2026-07-28"
      ? { versionNegotiation: { mode: { pin: revision } } }
      : { supportedProtocolVersions: [revision] },
  );
  await client.connect(transport);
  return {
    client,
    pid: transport.pid!,
    stderr: () => stderr,
    async call(name, given = {}) {
      const result = await client.callTool({ name, arguments: given });
      const [first] = result.content;
      return { text: first?.type === "text" ? first.text : "", isError: result.isError === true };
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}
