import { basename } from "node:path";
import picomatch from "picomatch";

export type LockClass = "CRIT_CODE" | "CRIT_DB" | "MERGE_META" | "IDEMP_DOCS";

interface ClassRow {
  readonly strategy: "mutex" | "single_writer" | "merge" | "idempotent";
  /** Which files belong to it, by name. */
  readonly names: readonly string[];
  /** Times `lease_s`. */
  readonly lease: number;
  /** Times `wait_ms`. */
  readonly wait: number;
  /** What an edit does when an outside program changed the file under it: refuse, or apply itself again to what is there now. */
  readonly changed: "refuse" | "apply_again";
  /** A write of the bytes that are there already is done without a lock. */
  readonly skips_same: boolean;
}

/** The four classes of shared things and how their writers take turns. */
export const CLASSES: Readonly<Record<LockClass, ClassRow>> = {
  CRIT_CODE: { strategy: "mutex", names: ["*"], lease: 1, wait: 1, changed: "refuse", skips_same: false },
  CRIT_DB: {
    strategy: "single_writer",
    names: ["*.db", "*.sqlite", "*.sqlite3", "*.{db,sqlite,sqlite3}-{wal,shm,journal}"],
    lease: 2,
    wait: 2,
    changed: "refuse",
    skips_same: false,
  },
  MERGE_META: {
    strategy: "merge",
    names: ["*.jsonl", "*.ndjson", "*.log", "CHANGELOG*", ".gitignore", ".gitattributes"],
    lease: 1,
    wait: 1,
    changed: "apply_again",
    skips_same: false,
  },
  IDEMP_DOCS: {
    strategy: "idempotent",
    names: ["*.{md,mdx,rst,adoc}", "LICENSE*", "NOTICE*"],
    lease: 1,
    wait: 1,
    changed: "refuse",
    skips_same: true,
  },
};

const ORDER: readonly LockClass[] = ["MERGE_META", "IDEMP_DOCS", "CRIT_DB"];
/** One expression a class: every write asks three times. */
const PATTERNS = ORDER.map((name) => {
  const parts = CLASSES[name].names.map((glob) => picomatch.makeRe(glob, { dot: true }).source);
  return { name, pattern: new RegExp(parts.join("|")) };
});

export function classOf(real: string): LockClass {
  const name = basename(real);
  return PATTERNS.find(({ pattern }) => pattern.test(name))?.name ?? "CRIT_CODE";
}

/** What is locked for a path: a database and the files beside it that belong to it are one thing with one writer. */
export function resourceOf(real: string): string {
  if (CLASSES[classOf(real)].strategy !== "single_writer") return real;
  return real.replace(/-(wal|shm|journal)$/, "");
}
