import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { Fault } from "../base/fault.ts";

export const CONFIG_NAME = "llmc.toml";

interface Where {
  readonly cwd: string;
  /** From the command line. */
  readonly root?: string | undefined;
  readonly config?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface Located {
  readonly root: string;
  /** What decided. */
  readonly by: string;
  /** The file to read, if there is one. */
  readonly file: string | undefined;
}

/** Which repository this is: told, else where the config file lies, else the nearest marker above. Never `/` or home by accident. */
export function locate(where: Where): Located {
  const named = where.config ?? where.env["LLMC_CONFIG"];
  const file = named === undefined ? undefined : resolve(where.cwd, named);
  if (file !== undefined && !existsSync(file))
    throw new Fault("file_not_found", `The config file does not exist: ${file}`, {
      hint: "Check --config or LLMC_CONFIG.",
    });

  const found = rootOf(where, file);
  const beside = join(found.root, CONFIG_NAME);
  return { ...found, file: file ?? (existsSync(beside) ? beside : undefined) };
}

function rootOf(where: Where, file: string | undefined): { root: string; by: string } {
  if (where.root !== undefined) return { root: resolve(where.cwd, where.root), by: "--root" };
  const told = where.env["LLMC_ROOT"];
  if (told) return { root: resolve(where.cwd, told), by: "LLMC_ROOT" };
  if (file !== undefined) return { root: dirname(file), by: "the config file's folder" };
  const marked = nearestMarker(where.cwd);
  if (marked !== undefined && marked !== "/" && marked !== homedir())
    return { root: marked, by: "the nearest .git or llmc.toml" };
  throw new Fault("invalid_args", `No repository here: neither .git nor ${CONFIG_NAME} in ${where.cwd} or above it.`, {
    hint: "Go to a repository, name one with --root DIR, or make this one with llmc init.",
  });
}

function nearestMarker(from: string): string | undefined {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git")) || existsSync(join(folder, CONFIG_NAME))) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}
