import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { asFault, Fault } from "../base/fault.ts";
import { CONFIG_NAME, locate } from "../config/root.ts";
import { faultText } from "../core/reply.ts";
import { CLIENTS, type Client } from "./client/clients.ts";
import { type Registry, registryFor } from "./client/registry.ts";
import { type Invocation, textFlag } from "./command.ts";
import type { Choices } from "./init/ask.ts";
import { configText } from "./init/config-text.ts";
import { lookAt } from "./init/look.ts";
import { readInside } from "./init/read-inside.ts";
import { agentsText, contractsText, sidecarText } from "./init/starters.ts";
import { writeNew } from "./init/write-new.ts";
import { shorter } from "./shorter.ts";

const SIDECARS = ["AGENTS.min.md", "CONTRACTS.min.md"];

/** Prepares a repository: a configuration, starters, the index, the clients. Nothing that is there is overwritten. */
export async function run(invocation: Invocation): Promise<number> {
  const { terminal } = invocation;
  const root = rootFor(invocation);
  const registry = registryFor(terminal, root);
  const choices = await chosen(invocation, root, registry);
  if (!choices) {
    terminal.err("Nothing was written.\n");
    return 1;
  }
  const say = (mark: string, what: string, text: string) => terminal.out(`${mark} ${what.padEnd(17)} ${text}\n`);
  const wrote = (name: string, text: string, about: string) =>
    writeNew(join(root, name), text) ? say("✓", name, about) : say("·", name, "is there already: kept");

  wrote(CONFIG_NAME, configText(choices.docs ? SIDECARS : []), "hybrid mode; tools reach this folder only");
  if (choices.docs) writeStarters(root, wrote);
  const failed = choices.clients.map((client) => register(registry, client, terminal, say)).includes(false);
  if (choices.index) await index(invocation, root);
  terminal.out(after(choices));
  return failed ? 1 : 0;
}

/** Where a marker says, else here: someone who asks for a repository gets one. */
function rootFor(invocation: Invocation): string {
  const { cwd, env } = invocation.terminal;
  const told = textFlag(invocation, "root");
  if (told !== undefined) {
    const root = resolve(cwd, told);
    if (statSync(root, { throwIfNoEntry: false })?.isDirectory()) return root;
    throw new Fault("file_not_found", `There is no folder ${root}.`, {
      hint: "Create it, or name another with --root.",
    });
  }
  try {
    return locate({ cwd, env }).root;
  } catch {
    if (cwd !== "/" && cwd !== (env["HOME"] || homedir())) return cwd;
    throw new Fault("invalid_args", `${cwd} is no project.`, {
      hint: "Go to the project's folder, or name it with --root.",
    });
  }
}

async function chosen(invocation: Invocation, root: string, registry: Registry): Promise<Choices | undefined> {
  const { flags, terminal } = invocation;
  const found = registry.found();
  if (flags["yes"])
    return { docs: !flags["no-docs"], index: !flags["no-index"], clients: flags["no-clients"] ? [] : found };
  if (!terminal.is_tty || !process.stdin.isTTY)
    throw new Fault("invalid_args", "llmc init asks questions, and this is no terminal.", { hint: "llmc init --yes" });
  const { ask } = await import("./init/ask.ts");
  const { files, bytes } = await sizeOf(invocation, root);
  return ask({
    root,
    has_config: existsSync(join(root, CONFIG_NAME)),
    files,
    megabytes: (bytes / 1e6).toFixed(1),
    found,
    others: CLIENTS.filter((client) => !found.includes(client)),
  });
}

/** Nothing is agreed to yet: what is needed to look goes into a folder of its own. */
async function sizeOf({ terminal }: Invocation, root: string): Promise<{ files: number; bytes: number }> {
  const { createApp } = await import("../app.ts");
  const { loadConfig } = await import("../config/load.ts");
  const state = mkdtempSync(join(tmpdir(), "llmc-init-"));
  const app = createApp(loadConfig({ cwd: root, root, env: { ...terminal.env, LLMC_STATE_DIR: state } }));
  try {
    return await (await app.engines.rag()).estimate();
  } finally {
    await app.close();
    rmSync(state, { recursive: true, force: true });
  }
}

function writeStarters(root: string, wrote: (name: string, text: string, about: string) => void): void {
  const look = lookAt(root);
  wrote("AGENTS.md", agentsText(look), "what agents should know; make it yours");
  wrote("CONTRACTS.md", contractsText(look), "what others rely on; make it yours");
  for (const name of SIDECARS) {
    const page = readInside(root, name.replace(".min", ""));
    if (page !== undefined) wrote(name, sidecarText(page), "the same for models, as a resource");
  }
}

function register(
  registry: Registry,
  client: Client,
  { cwd, env }: Invocation["terminal"],
  say: (mark: string, what: string, text: string) => void,
): boolean {
  try {
    const { file, outcome } = registry.add(client, "llmc");
    say(
      "✓",
      client.title,
      `${outcome === "unchanged" ? "knows it already:" : "registered in"} ${shorter(file, cwd, env["HOME"])}`,
    );
    return true;
  } catch (error) {
    say("✗", client.title, faultText(asFault(error)));
    return false;
  }
}

async function index({ terminal }: Invocation, root: string): Promise<void> {
  const { run: runIndex } = await import("./index-cmd.ts");
  await runIndex({ args: [], flags: { root }, terminal });
}

function after({ clients }: Choices): string {
  const next =
    clients.length > 0
      ? `Start ${clients.map(({ title }) => title).join(", ")} again, and ask it to use llmc.`
      : "Register with your client: llmc client add CLIENT (llmc client list has them).";
  return `\n${next}\nCheck everything: llmc doctor. See what it can do: llmc demo.\n`;
}
