import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { Fault } from "../../base/fault.ts";
import { nearest } from "../../base/text.ts";
import type { Terminal } from "../command.ts";
import { openBackups, removeFile } from "./backups.ts";
import { CLIENTS, type Client, isFound, type Places } from "./clients.ts";
import { changedText, readConfigFile, replaceFile } from "./config-file.ts";
import { type Entry, rootOf, serveEntry } from "./entry.ts";

export interface Registered {
  readonly name: string;
  readonly root: string;
  readonly command: string;
  /** The program that the client would start is there. */
  readonly works: boolean;
}

export interface ClientState {
  readonly id: string;
  readonly title: string;
  readonly file: string;
  readonly found: boolean;
  /** Entries of ours, for this project or another. */
  readonly registered: readonly Registered[];
  /** Why the file cannot be used. */
  readonly problem?: string;
}

export interface Added {
  readonly client: string;
  readonly file: string;
  readonly outcome: "added" | "changed" | "unchanged";
  readonly backup?: string;
}

export interface Removed {
  readonly client: string;
  readonly file: string;
  readonly outcome: "restored" | "removed" | "absent";
}

/** Our entries in the files of MCP clients. */
export interface Registry {
  list(): ClientState[];
  found(): Client[];
  add(client: Client, name: string): Added;
  remove(client: Client, name: string): Removed;
}

export function createRegistry(places: Places, state: string, entry: Entry = serveEntry(places.root)): Registry {
  const backups = openBackups(join(state, "clients"));
  return {
    list: () => CLIENTS.map((client) => stateOf(client, places)),
    found: () => CLIENTS.filter((client) => isFound(client, places)),
    add(client, name) {
      const file = readConfigFile(client, places);
      const there = file.servers[name];
      const other = rootOf(there);
      if (there !== undefined && other !== places.root)
        throw new Fault("target_exists", `${client.title} has a server "${name}" for ${other ?? "something else"}.`, {
          hint: `Keep both: llmc client add ${client.id} --name ${name}-2`,
        });
      const next = changedText(client, file, name, entry);
      const shown = { client: client.id, file: file.path };
      if (next === file.text) return { ...shown, outcome: "unchanged" };
      const backup = backups.keep(file.path, name, file.text, next);
      replaceFile(file.path, next, file.text);
      return { ...shown, outcome: there === undefined ? "added" : "changed", backup };
    },
    remove(client, name) {
      const file = readConfigFile(client, places);
      const shown = { client: client.id, file: file.path };
      if (file.text === undefined || file.servers[name] === undefined) return { ...shown, outcome: "absent" };
      const original = backups.original(file.path, name, file.text);
      if (original?.before === null) removeFile(file.path, original.made_folder);
      else replaceFile(file.path, original?.before ?? changedText(client, file, name, undefined), file.text);
      backups.forget(file.path, name);
      return { ...shown, outcome: original ? "restored" : "removed" };
    },
  };
}

function stateOf(client: Client, places: Places): ClientState {
  const shown = { id: client.id, title: client.title, file: client.file(places), found: isFound(client, places) };
  try {
    const { servers } = readConfigFile(client, places);
    return { ...shown, registered: Object.entries(servers).flatMap(ours) };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { ...shown, registered: [], problem: error.message };
  }
}

function ours([name, entry]: [string, unknown]): Registered[] {
  const { command, args } = entry as { command?: unknown; args?: unknown };
  const root = rootOf(entry);
  if (typeof command !== "string" || root === undefined || !/\bllmc\b/.test([command, args].join(" "))) return [];
  return [{ name, root, command, works: !command.includes("/") || existsSync(command) }];
}

/** The registry of the person at this terminal, for one project. */
export function registryFor({ env }: Terminal, root: string): Registry {
  const home = env["HOME"] || homedir();
  const config = env["XDG_CONFIG_HOME"] || join(home, ".config");
  const state = env["XDG_STATE_HOME"] || join(home, ".local", "state");
  return createRegistry({ home, root, config, codex: env["CODEX_HOME"] || join(home, ".codex") }, join(state, "llmc"));
}

export function clientNamed(id: string): Client {
  const client = CLIENTS.find((known) => known.id === id);
  if (client) return client;
  const names = CLIENTS.map((known) => known.id);
  const close = nearest(id, names);
  throw new Fault("invalid_args", `There is no client "${id.slice(0, 60)}".`, {
    hint: close ? `Did you mean ${close}?` : `Known: ${names.join(", ")}.`,
  });
}
