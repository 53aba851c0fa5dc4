import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { correlationId } from "../../base/ids.ts";

/** One call, as the audit keeps it: paths yes, contents never. */
export interface AuditRecord {
  readonly time: string;
  readonly correlation_id: string;
  readonly principal: string;
  readonly via: string;
  readonly tool: string;
  readonly agent_id: string;
  readonly session_id: string;
  readonly depth: number;
  readonly paths: readonly string[];
  readonly rule: string | null;
  readonly bytes_in: number;
  readonly bytes_out: number;
  readonly duration_ms: number;
  readonly model: string | null;
  readonly cost_usd: number | null;
  readonly error_code: string | null;
}

export interface AuditTrail {
  append(record: AuditRecord): void;
  close(): void;
}

interface TrailOptions {
  readonly path: string;
  readonly rotate_mb: number;
  readonly retention_days: number;
  onError(error: unknown): void;
}

const DAY_MS = 86_400_000;

/**
 * A JSON line a call, on disk before the call is answered. Several processes append to one file; whoever sees it full renames
 * it, and the others notice that their descriptor is no longer the file of that name.
 */
export function openAudit(options: TrailOptions): AuditTrail {
  const { path } = options;
  let fd: number | undefined;
  let checked = 0;

  function open(): number {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    expire(path, options.retention_days);
    return openSync(path, "a", 0o600);
  }

  /** Looks at the file's size and name at most every 64 records. */
  function current(): number {
    if (fd !== undefined && ++checked < 64) return fd;
    checked = 0;
    if (fd === undefined) {
      fd = open();
      return current();
    }
    const mine = fstatSync(fd);
    const named = statSync(path, { throwIfNoEntry: false });
    const full = mine.size >= options.rotate_mb * 1024 * 1024;
    if (named?.ino === mine.ino && !full) return fd;
    if (named?.ino === mine.ino) renameSync(path, rotatedName(path));
    closeSync(fd);
    fd = open();
    return fd;
  }

  return {
    append(record) {
      try {
        writeSync(current(), `${JSON.stringify(record)}\n`);
      } catch (error) {
        options.onError(error);
      }
    },
    close() {
      if (fd !== undefined) closeSync(fd);
      fd = undefined;
    },
  };
}

/** Two rotations in one millisecond must not share a name: the second would take the first one's place. */
function rotatedName(path: string): string {
  const stamp = new Date().toISOString().replace(/[:.]/g, "-");
  return path.replace(/(\.jsonl)?$/, `-${stamp}-${correlationId()}.jsonl`);
}

/** Every audit file of this trail, oldest first. */
export function auditFiles(path: string): string[] {
  const stem = basename(path).replace(/\.jsonl$/, "");
  try {
    const rotated = readdirSync(dirname(path)).filter((name) => name.startsWith(`${stem}-`) && name.endsWith(".jsonl"));
    const files = rotated.sort().map((name) => join(dirname(path), name));
    return statSync(path, { throwIfNoEntry: false }) ? [...files, path] : files;
  } catch {
    return [];
  }
}

function expire(path: string, retention_days: number): void {
  if (retention_days === 0) return;
  const limit = Date.now() - retention_days * DAY_MS;
  for (const file of auditFiles(path))
    if (file !== path && statSync(file).mtimeMs < limit) rmSync(file, { force: true });
}
