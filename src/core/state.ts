import { type Dirent, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "../base/fault.ts";
import { inside } from "../base/path/index.ts";

/**
 * The state folder, made when the first call comes. It lies in a repository, so it keeps itself out of git. In `stubs/`, the one
 * place that tools may read, stand the declarations of the tools as they are now.
 */
export function prepareState(state_dir: string, stubs: () => Readonly<Record<string, string>> = () => ({})): void {
  try {
    mkdirSync(join(state_dir, "stubs"), { recursive: true, mode: 0o700 });
    const ignore = join(state_dir, ".gitignore");
    if (!existsSync(ignore)) writeFileSync(ignore, "*\n");
    for (const [name, text] of Object.entries(stubs())) writeChanged(join(state_dir, "stubs", name), text);
  } catch {
    // Read-only, or in the way: whoever needs the folder says what is wrong with it.
  }
}

/**
 * A state folder inside a root may have come with the repository. Links in it would lead what the server writes (its audit, its
 * stores) to any file of the user's.
 */
export function refuseLinkedState(state_dir: string, roots: readonly string[]): void {
  if (!roots.some((root) => inside(state_dir, root))) return;
  const link = [...linksAt(state_dir)][0];
  if (link === undefined) return;
  throw new Fault("path_denied", `The state folder must hold no links, and ${link} is one.`, {
    hint: "Remove it if it came with the repository, or set LLMC_STATE_DIR to a folder elsewhere.",
    rule: "state folder",
  });
}

/** The folder itself, what is in it, and what is in the folders in it: as deep as the server writes. */
function* linksAt(path: string, depth = 2): Iterable<string> {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isSymbolicLink()) yield path;
  if (!stat?.isDirectory()) return;
  for (const entry of entriesOf(path)) {
    const below = join(path, entry.name);
    if (entry.isSymbolicLink()) yield below;
    else if (entry.isDirectory() && depth > 1) yield* linksAt(below, depth - 1);
  }
}

/** What cannot be listed cannot be used either, and whoever needs it says so. */
function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function writeChanged(path: string, text: string): void {
  if (!existsSync(path) || readFileSync(path, "utf8") !== text) writeFileSync(path, text);
}
