import { dirname } from "node:path";
import { asFault, Fault } from "../base/fault.ts";
import { locate } from "../config/root.ts";
import { faultText } from "../core/reply.ts";
import type { Client } from "./client/clients.ts";
import { type ClientState, clientNamed, type Registry, registryFor } from "./client/registry.ts";
import { type Invocation, textFlag } from "./command.ts";
import { shorter } from "./shorter.ts";

/** llmc client add: writes our entry into the files of the clients named, or of all that are found. */
export async function add(invocation: Invocation): Promise<number> {
  const { registry, name } = opened(invocation);
  let copies: string | undefined;
  const code = each(invocation, chosen(invocation, registry), (client) => {
    const { file, outcome, backup } = registry.add(client, name);
    copies ??= backup && dirname(backup);
    return `${WORDS[outcome]} ${shown(invocation, file)}`;
  });
  if (copies !== undefined)
    invocation.terminal.out(`Undo with llmc client remove. How files were before: ${shown(invocation, copies)}\n`);
  return code;
}

const WORDS = {
  added: "added to",
  changed: "changed in",
  unchanged: "already in",
  restored: "as it was, byte for byte:",
  removed: "taken out of",
  absent: "not in",
} as const;

export async function remove(invocation: Invocation): Promise<number> {
  const { registry, name } = opened(invocation);
  const registered = registry.list().filter((state) => state.registered.some((entry) => entry.name === name));
  const clients =
    invocation.args.length > 0 ? invocation.args.map(clientNamed) : registered.map(({ id }) => clientNamed(id));
  if (clients.length === 0) invocation.terminal.out(`No client has a server "${name}" of ours.\n`);
  return each(invocation, clients, (client) => {
    const { file, outcome } = registry.remove(client, name);
    return `${WORDS[outcome]} ${shown(invocation, file)}`;
  });
}

export async function list(invocation: Invocation): Promise<number> {
  const { registry, root } = opened(invocation);
  const states = registry.list();
  if (invocation.flags["json"]) invocation.terminal.out(`${JSON.stringify(states, null, 2)}\n`);
  else
    for (const state of states)
      invocation.terminal.out(`${stateLine(state, root, (path) => shown(invocation, path))}\n`);
  return 0;
}

export function stateLine(state: ClientState, root: string, shown: (path: string) => string): string {
  const { id, found, registered, problem, file } = state;
  const [mark, text] =
    problem !== undefined
      ? ["✗", problem]
      : registered.some((entry) => !entry.works)
        ? ["✗", `starts a program that is gone: llmc client add ${id}`]
        : registered.some((entry) => entry.root === root)
          ? ["✓", `registered in ${shown(file)}`]
          : registered.length > 0
            ? ["✓", `registered for ${registered.map((entry) => shown(entry.root)).join(", ")}`]
            : found
              ? ["·", `found, not registered: llmc client add ${id}`]
              : ["·", "not found here"];
  return `${mark} ${id.padEnd(15)} ${text}`;
}

function shown({ terminal: { cwd, env } }: Invocation, path: string): string {
  return shorter(path, cwd, env["HOME"]);
}

function opened(invocation: Invocation): { registry: Registry; name: string; root: string } {
  const { cwd, env } = invocation.terminal;
  const { root } = locate({ cwd, env, root: textFlag(invocation, "root") });
  const name = textFlag(invocation, "name") ?? "llmc";
  if (!/^[A-Za-z][A-Za-z0-9_-]{0,30}$/.test(name))
    throw new Fault("invalid_args", `--name ${name.slice(0, 60)} is no name for a server.`, {
      hint: "Letters, digits, - and _, at most 31, a letter first.",
    });
  return { registry: registryFor(invocation.terminal, root), name, root };
}

function chosen({ args }: Invocation, registry: Registry): readonly Client[] {
  if (args.length > 0) return args.map(clientNamed);
  const found = registry.found();
  if (found.length > 0) return found;
  throw new Fault("invalid_args", "No MCP client was found here.", {
    hint: "Name one: llmc client add claude-code. llmc client list has them all.",
  });
}

/** One that fails does not keep the others from being done. */
function each({ terminal }: Invocation, clients: readonly Client[], work: (client: Client) => string): number {
  let failed = 0;
  for (const client of clients) {
    try {
      terminal.out(`✓ ${client.id.padEnd(15)} ${work(client)}\n`);
    } catch (error) {
      failed = 1;
      terminal.out(`✗ ${client.id.padEnd(15)} ${faultText(asFault(error))}\n`);
    }
  }
  return failed;
}
