import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { isForeignFolder, skipByName } from "./admit.ts";
import type { Rules } from "./ignored.ts";

/** A regular file that the rules let in. */
export interface Seen {
  readonly path: string;
  readonly size: number;
  readonly changed_ms: number;
}

interface WalkOptions {
  readonly root: string;
  readonly rules: Rules;
  /** Never entered: where the index itself lies. */
  readonly state_dir: string;
}

/** Every file below a folder, in the order of its path. Links are not followed, so there are no circles. */
export function* walk(options: WalkOptions, folder = ""): Generator<Seen> {
  const pending = [folder];
  while (pending.length > 0) {
    const at = pending.pop()!;
    const folders: string[] = [];
    for (const entry of entriesOf(join(options.root, at))) {
      const path = at === "" ? entry.name : `${at}/${entry.name}`;
      if (entry.isDirectory()) {
        if (mayEnter(options, at, entry.name)) folders.push(path);
      } else if (entry.isFile() && isWanted(options, at, entry.name)) {
        const seen = lookAt(options.root, path);
        if (seen) yield seen;
      }
    }
    pending.push(...folders.reverse());
  }
}

/** Whether a path would be met by a walk, for one that is heard of by other ways. */
export function wouldMeet(options: WalkOptions, path: string, isFolder: boolean): boolean {
  const parts = path.split("/");
  const name = parts.pop()!;
  for (let index = 0; index < parts.length; index++)
    if (!mayEnter(options, parts.slice(0, index).join("/"), parts[index]!)) return false;
  const folder = parts.join("/");
  return isFolder ? mayEnter(options, folder, name) : isWanted(options, folder, name);
}

export function lookAt(root: string, path: string): Seen | undefined {
  try {
    const stat = lstatSync(join(root, path));
    return stat.isFile() ? { path, size: stat.size, changed_ms: stat.ctimeMs } : undefined;
  } catch {
    return undefined;
  }
}

function mayEnter({ root, rules, state_dir }: WalkOptions, folder: string, name: string): boolean {
  return !isForeignFolder(name) && join(root, folder, name) !== state_dir && !rules.ignores(folder, name, true);
}

function isWanted({ rules }: WalkOptions, folder: string, name: string): boolean {
  // In a linked working tree `.git` is a file.
  if (name === ".git") return false;
  return skipByName(folder === "" ? name : `${folder}/${name}`) === undefined && !rules.ignores(folder, name, false);
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    // Gone meanwhile, or not for us to read.
    return [];
  }
}
