import { allKeys, type Key } from "./keys.ts";
import type { Loaded, Origin } from "./load.ts";

export interface Effective {
  readonly key: Key;
  readonly value: unknown;
  readonly origin: Origin;
}

/** Every key with the value in force. Secrets are not among them. */
export function effective(loaded: Loaded): Effective[] {
  return allKeys().map((key) => ({
    key,
    value: redacted(key, resolvedValue(loaded, key)),
    origin: loaded.origins.get(key.path) ?? "default",
  }));
}

/** Key path to value, for the log. */
export function effectiveValues(loaded: Loaded): Record<string, unknown> {
  return Object.fromEntries(
    effective(loaded).flatMap(({ key, value }) => (value === undefined ? [] : [[key.path, value]])),
  );
}

/** Values that the rest of the configuration decides are shown as decided. */
function resolvedValue(loaded: Loaded, key: Key): unknown {
  if (key.path === "mcp.mode") return loaded.mode;
  if (key.path === "mcp.state_dir") return loaded.state_dir;
  if (key.path === "mcp.tools.allowed_roots") return loaded.allowed_roots;
  if (key.path === "mcp.tools.enforce_roots") return loaded.enforce_roots;
  let value: unknown = loaded.config;
  for (const part of key.path.split(".")) value = (value as Record<string, unknown> | undefined)?.[part];
  return value;
}

const CREDENTIALS_IN_URL = /(\w+:\/\/)[^\s/@]+@/g;
const SECRET_WORD =
  /((?:token|secret|password|passwd|api[-_]?key|authorization)["']?\s*[=:]\s*(?:bearer\s+)?)[^\s"',]+/gi;

function redacted(key: Key, value: unknown): unknown {
  if (value === undefined) return undefined;
  if (key.secret) return Array.isArray(value) && value.length === 0 ? value : "(set)";
  return mapText(value, (text) => text.replace(CREDENTIALS_IN_URL, "$1…@").replace(SECRET_WORD, "$1…"));
}

function mapText(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((item) => mapText(item, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, mapText(child, change)]));
}
