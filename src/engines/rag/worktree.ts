import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

const MAX_LINK = 4_096;

/**
 * Where the working trees of one repository keep what they parsed, so that none of them does it again: with the state of the main one.
 * Nothing where there is one tree only, or where the operator keeps the state elsewhere. A `.git` file can come with a repository
 * and name any folder: it counts only when that folder names this tree in turn, and when all of it is ours alone to write.
 */
export function sharedFile(root: string, state_dir: string): string | undefined {
  if (state_dir !== join(root, ".llmc")) return undefined;
  try {
    const dot = join(root, ".git");
    const stat = lstatSync(dot);
    if (stat.isDirectory()) return hasOthers(dot) ? fileIn(state_dir) : undefined;
    const common = stat.isFile() && stat.size < MAX_LINK ? commonOf(root, dot) : undefined;
    if (common === undefined || !isOurs(common)) return undefined;
    return fileIn(basename(common) === ".git" ? join(dirname(common), ".llmc") : join(common, "llmc"));
  } catch {
    // No repository, or one that is being made or removed.
    return undefined;
  }
}

/** Whether a repository has working trees besides its own. */
function hasOthers(common: string): boolean {
  try {
    return readdirSync(join(common, "worktrees")).length > 0;
  } catch {
    return false;
  }
}

/** The repository that a linked working tree belongs to, when it says so too. */
function commonOf(root: string, dot: string): string | undefined {
  const admin = resolve(
    root,
    readFileSync(dot, "utf8")
      .replace(/^gitdir:\s*/, "")
      .trim(),
  );
  const back = readFileSync(join(admin, "gitdir"), "utf8").trim();
  if (resolve(admin, back) !== dot || basename(dirname(admin)) !== "worktrees") return undefined;
  return resolve(admin, readFileSync(join(admin, "commondir"), "utf8").trim());
}

function fileIn(folder: string): string | undefined {
  if (!isOurs(dirname(folder))) return undefined;
  if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) {
    mkdirSync(folder, { mode: 0o700 });
    writeFileSync(join(folder, ".gitignore"), "*\n", { flag: "wx" });
  }
  const file = join(folder, "shared.db");
  const known = lstatSync(file, { throwIfNoEntry: false });
  return isOurs(folder) && (known === undefined || (known.isFile() && isPrivate(known))) ? file : undefined;
}

function isOurs(folder: string): boolean {
  const stat = lstatSync(folder);
  return stat.isDirectory() && isPrivate(stat);
}

/** Ours, and nobody else may write to it. */
function isPrivate({ uid, mode }: { uid: number; mode: number }): boolean {
  return uid === process.getuid?.() && (mode & 0o022) === 0;
}
