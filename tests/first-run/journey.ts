import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const run = promisify(execFile);

/** What was typed, and what came back. */
export interface Step {
  readonly typed: string;
  readonly shown: string;
}

export interface Journey {
  readonly steps: readonly Step[];
  /** The first call through a real client, started as the client's own file says. */
  readonly first_call: { readonly tools: readonly string[]; readonly text: string };
  readonly seconds: number;
}

/** Someone who heard of llmc a minute ago: an empty folder, the package, and the Node that the machine has. */
export async function journey(folder: string, tarball: string): Promise<Journey> {
  const began = performance.now();
  const home = join(realpathSync(folder), "home");
  const project = join(realpathSync(folder), "shop");
  mkdirSync(join(home, ".cursor"), { recursive: true });
  mkdirSync(project);
  const env = { ...plain(), HOME: home, NO_COLOR: "1", npm_config_update_notifier: "false" };
  const steps: Step[] = [];
  const type = async (typed: string) => {
    const { stdout, stderr } = await run("sh", ["-c", typed.replace("llmc-VERSION.tgz", tarball)], {
      cwd: project,
      env,
    });
    steps.push({ typed, shown: `${stdout}${stderr}`.replaceAll(project, "~/shop").replaceAll(home, "~").trim() });
  };
  await type("npm install llmc-VERSION.tgz");
  await type("npx llmc --version");
  await type("npx llmc init --yes");
  await type("npx llmc client list");
  await type("npx llmc doctor");
  const first_call = await firstCall(join(project, ".cursor", "mcp.json"), env);
  await type("npx llmc stats");
  return { steps, first_call, seconds: (performance.now() - began) / 1000 };
}

async function firstCall(file: string, env: Record<string, string>): Promise<Journey["first_call"]> {
  const { command, args } = JSON.parse(readFileSync(file, "utf8")).mcpServers.llmc as {
    command: string;
    args: string[];
  };
  const client = new Client({ name: "first-run", version: "1" });
  await client.connect(new StdioClientTransport({ command, args, env, stderr: "ignore" }));
  const { tools } = await client.listTools();
  const { content } = await client.callTool({ name: "read_file", arguments: { path: "AGENTS.md" } });
  await client.close();
  return { tools: tools.map(({ name }) => name), text: (content as { text: string }[])[0]!.text };
}

/** The machine's own programs: none of this repository's, and nothing that npm passes on. */
function plain(): Record<string, string> {
  const path = (process.env["PATH"] ?? "").split(":").filter((part) => !part.includes("node_modules"));
  const kept = Object.entries(process.env).filter(([name]) =>
    /^(LANG|LC_|TMPDIR|NODE_EXTRA_CA_CERTS|SSL_CERT|https?_proxy$)/i.test(name),
  );
  return { ...(Object.fromEntries(kept) as Record<string, string>), PATH: path.join(":") };
}

/** As it stands in the documents. */
export function transcript({ steps }: Journey): string {
  return steps.map(({ typed, shown }) => `$ ${typed}\n${shown}`).join("\n\n");
}
