import { isUtf8 } from "node:buffer";
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { Fault } from "../../base/fault.ts";
import { inside } from "../../base/path/index.ts";
import type { Client, Places } from "./clients.ts";
import type { Entry } from "./entry.ts";
import { isTable, readJson, withJsonEntry, withoutJsonEntry } from "./json-text.ts";
import { readToml, withoutTomlEntry, withTomlEntry } from "./toml-text.ts";

type Table = Record<string, unknown>;

/** A client's file as it is now. */
export interface ConfigFile {
  /** Where its bytes are: links of a person's own are followed. */
  readonly path: string;
  /** undefined: there is none yet. */
  readonly text: string | undefined;
  /** Every server the file names. */
  readonly servers: Table;
}

export function readConfigFile(client: Client, places: Places): ConfigFile {
  const shown = client.file(places);
  const path = realPlace(client, places);
  const bytes = existsSync(path) ? readFileSync(path) : undefined;
  if (bytes && !isUtf8(bytes))
    throw new Fault("invalid_args", `${shown} is not UTF-8.`, { hint: "Nothing was changed." });
  const text = bytes?.toString("utf8");
  const servers = (text === undefined ? {} : parsed(client, text, shown))[client.table] ?? {};
  if (!isTable(servers))
    throw new Fault("invalid_args", `${client.table} in ${shown} is not a table.`, { hint: "Nothing was changed." });
  return { path, text, servers };
}

/** The file's text with the entry, or without it. What comes out is read again: all else must mean what it meant. */
export function changedText(client: Client, file: ConfigFile, name: string, entry: Entry | undefined): string {
  const text = file.text ?? "";
  const next = client.format === "json" ? jsonText(client, text, name, entry) : tomlText(client, text, name, entry);
  const before = parsed(client, text, file.path);
  const wanted = { ...((before[client.table] as Table | undefined) ?? {}) };
  if (entry === undefined) delete wanted[name];
  else wanted[name] = { ...((wanted[name] as Table | undefined) ?? {}), ...client.extra, ...entry };
  if (!isDeepStrictEqual(plain(tried(client, next)), plain({ ...before, [client.table]: wanted })))
    throw new Fault("invalid_args", `${file.path} cannot be changed without touching the rest of it.`, {
      hint: `Add it by hand under ${client.table}: ${JSON.stringify({ [name]: entry })}`,
    });
  return next;
}

function jsonText(client: Client, text: string, name: string, entry: Entry | undefined): string {
  return entry === undefined
    ? withoutJsonEntry(text, client.table, name)
    : withJsonEntry(text, client.table, name, { ...client.extra, ...entry });
}

function tomlText(client: Client, text: string, name: string, entry: Entry | undefined): string {
  return entry === undefined
    ? withoutTomlEntry(text, client.table, name)
    : withTomlEntry(text, client.table, name, entry);
}

function parsed(client: Client, text: string, shown: string): Table {
  return client.format === "json" ? readJson(text, shown) : readToml(text, shown);
}

function tried(client: Client, text: string): Table | undefined {
  try {
    return parsed(client, text, "");
  } catch {
    return undefined;
  }
}

/** Without prototypes and undefined values; an empty table of servers is as good as none. */
function plain(value: Table | undefined): unknown {
  return JSON.parse(JSON.stringify(value ?? null), (_, child: unknown) =>
    isTable(child) && Object.keys(child).length === 0 ? undefined : child,
  );
}

/** A repository may come with a link in the place of a client's file: it must not lead out of the repository. */
function realPlace(client: Client, places: Places): string {
  const file = client.file(places);
  const allowed = client.scope === "project" ? [places.root] : [places.home, places.config, places.codex];
  const path = resolved(file);
  if (allowed.some((place) => inside(path, resolved(place)))) return path;
  throw new Fault("path_denied", `${file} leads to ${path}.`, { hint: "Remove the link, or register by hand." });
}

/** With the links in it followed, as far as it exists. */
function resolved(path: string): string {
  return existsSync(path) ? realpathSync(path) : join(resolved(dirname(path)), basename(path));
}

/** In one step, so that no client ever reads half of it. The mode stays. */
export function replaceFile(path: string, text: string, expected: string | undefined): void {
  mkdirSync(dirname(path), { recursive: true });
  const mode = existsSync(path) ? statSync(path).mode & 0o7777 : undefined;
  const next = join(dirname(path), `.${basename(path)}.llmc-${process.pid}`);
  const descriptor = openSync(next, "wx", mode ?? 0o644);
  try {
    writeSync(descriptor, text);
    fsyncSync(descriptor);
    if ((existsSync(path) ? readFileSync(path, "utf8") : undefined) !== expected)
      throw new Fault("resource_busy", `${path} was changed by someone else meanwhile.`, { hint: "Try again." });
    renameSync(next, path);
  } finally {
    closeSync(descriptor);
    rmSync(next, { force: true });
  }
}
