import { fileURLToPath } from "node:url";
import { ownVersion } from "../../version.ts";

/** What a client runs to start the server. */
export interface Entry {
  readonly command: string;
  readonly args: readonly string[];
}

/** The built code lies in dist/, beside bin/. What npx unpacked is swept away one day, so npx is asked again. */
export function serveEntry(root: string, binary = fileURLToPath(new URL("../bin/llmc", import.meta.url))): Entry {
  const args = ["serve", "--root", root];
  return binary.includes("/_npx/")
    ? { command: "npx", args: ["-y", `llmc@${ownVersion()}`, ...args] }
    : { command: binary, args };
}

/** The project that an entry serves, where it is one of ours. */
export function rootOf(entry: unknown): string | undefined {
  const args = (entry as { args?: unknown } | undefined)?.args;
  if (!Array.isArray(args)) return undefined;
  const at = args.indexOf("--root");
  const root: unknown = at === -1 ? undefined : args[at + 1];
  return typeof root === "string" ? root : undefined;
}
