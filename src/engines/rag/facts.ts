import { readFileSync, readlinkSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import type { Db } from "../../base/db.ts";

/** What the index knows of itself, beside the files. */
export type FactName = "head" | "synced_at" | "phase" | "total" | "last_error" | "writer" | "allowed";

export function fact(db: Db, name: FactName): string | undefined {
  return db.get<{ value: string }>("SELECT value FROM facts WHERE name = ?", name)?.value;
}

export function setFact(db: Db, name: FactName, value: string | undefined): void {
  if (value === undefined) db.run("DELETE FROM facts WHERE name = ?", name);
  else
    db.run(
      "INSERT INTO facts (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
      name,
      value,
    );
}

/** What is checked out: branch and commit. Nothing where there is no repository. */
export function headOf(root: string): string | undefined {
  try {
    const dot = join(root, ".git");
    const dir = statSync(dot).isDirectory()
      ? dot
      : resolve(
          root,
          readFileSync(dot, "utf8")
            .replace(/^gitdir:\s*/, "")
            .trim(),
        );
    const head = readFileSync(join(dir, "HEAD"), "utf8").trim().slice(0, 200);
    const ref = /^ref: (refs\/[\w./-]+)$/.exec(head)?.[1];
    if (ref === undefined || ref.includes("..")) return head;
    return `${ref.replace("refs/heads/", "")} ${commitOf(dir, ref)}`.trim();
  } catch {
    return undefined;
  }
}

function commitOf(dir: string, ref: string): string {
  try {
    return readFileSync(join(dir, ref), "utf8").trim().slice(0, 64);
  } catch {
    // Packed, or in the common folder of a worktree: the name of the branch must do.
    return "";
  }
}

interface Writer {
  readonly pid: number;
  readonly place: string;
  readonly at_ms: number;
}

/** A writer that has not been heard of for this long is taken for dead. */
const SILENT_MS = 10_000;

/** Takes or keeps the turn to bring the whole index up to date; false while another process has it. */
export function takeTurn(db: Db): boolean {
  const place = `${hostname()} ${readlinkSync("/proc/self/ns/pid")}`;
  return db.transaction(() => {
    const text = fact(db, "writer");
    const other = text === undefined ? undefined : (JSON.parse(text) as Writer);
    if (other && other.pid !== process.pid && isAlive(other, place)) return false;
    setFact(db, "writer", JSON.stringify({ pid: process.pid, place, at_ms: Date.now() } satisfies Writer));
    return true;
  });
}

export function giveTurn(db: Db): void {
  setFact(db, "writer", undefined);
}

function isAlive(writer: Writer, place: string): boolean {
  if (Date.now() - writer.at_ms > SILENT_MS) return false;
  if (writer.place !== place) return true;
  try {
    process.kill(writer.pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
