import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { quickHash } from "../base/hash.ts";
import type { Loaded } from "../config/load.ts";
import { locate } from "../config/root.ts";
import type { Terminal } from "./command.ts";

type Kept = Omit<Loaded, "env" | "origins">;

/**
 * The effective configuration, from the last time that it was worked out from the same file, environment and program. Checking it
 * again takes as long as starting Node, and te starts for every command. Kept in the user's own cache folder, as compiled code is.
 */
export async function rememberedConfig({ cwd, env }: Terminal): Promise<Loaded> {
  const located = locate({ cwd, env, root: undefined, config: undefined });
  const key = keyOf(cwd, env, located.root, located.file);
  const folder = join(env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "llmc", "te");
  const place = join(folder, `${quickHash(`${located.root}\0${located.file ?? ""}`)}.json`);
  const kept = key === undefined ? undefined : read(place, key);
  if (kept) return { ...kept, env, origins: new Map() };
  const { loadConfig } = await import("../config/load.ts");
  const loaded = loadConfig({ cwd, env });
  if (key !== undefined) write(folder, place, key, loaded);
  return loaded;
}

/** All that the configuration follows from: this program, the file as the disk knows it, and the variables. */
function keyOf(cwd: string, env: Terminal["env"], root: string, file: string | undefined): string | undefined {
  try {
    const names = Object.keys(env).filter((name) => name.startsWith("LLMC_") || name === "HOME");
    const variables = names
      .sort()
      .map((name) => `${name}=${env[name]}`)
      .join("\0");
    // Two hashes and not the text: a variable may hold a token.
    const told = `${quickHash(variables)}${quickHash(`${variables}\0`)}`;
    return JSON.stringify([identity(process.argv[1]!), cwd, root, file === undefined ? null : identity(file), told]);
  } catch {
    return undefined;
  }
}

/** The time of the last change of any kind cannot be set back by whoever writes a file. */
function identity(path: string): readonly unknown[] {
  const { dev, ino, size, mtimeMs, ctimeMs } = statSync(path);
  return [path, dev, ino, size, mtimeMs, ctimeMs];
}

function read(place: string, key: string): Kept | undefined {
  try {
    const entry = JSON.parse(readFileSync(place, "utf8")) as { key: string; kept: Kept };
    return entry.key === key ? entry.kept : undefined;
  } catch {
    return undefined;
  }
}

/** One that cannot be kept is worked out again the next time. */
function write(folder: string, place: string, key: string, { env: _, origins: __, ...kept }: Loaded): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const temporary = `${place}.${process.pid}`;
    writeFileSync(temporary, JSON.stringify({ key, kept }), { mode: 0o600 });
    renameSync(temporary, place);
  } catch {}
}
