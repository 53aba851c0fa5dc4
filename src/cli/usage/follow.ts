import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { AuditRecord } from "../../engines/telemetry/index.ts";
import { auditRecords, parsedRecord } from "../trail.ts";

const CHUNK = 1 << 16;

/** Goes on where it stopped: a live view must not read the day again every second. */
export interface Follower {
  poll(): Promise<void>;
}

export function followAudit(path: string, since: string, add: (record: AuditRecord) => void): Follower {
  let file: { ino: number; at: number } | undefined;
  let newest = "";
  let rest = "";

  function tell(record: AuditRecord): void {
    if (record.time > newest) newest = record.time;
    add(record);
  }

  /** After a rotation too: what is newer than the last one told, from whichever file it is in. */
  async function fromStart(): Promise<void> {
    const after = newest;
    const end = sizeOf(path);
    for await (const record of auditRecords(path, after || since, end?.at)) if (record.time > after) tell(record);
    file = end;
    rest = "";
  }

  return {
    async poll() {
      const now = sizeOf(path);
      if (!now) return;
      if (!file || now.ino !== file.ino || now.at < file.at) return fromStart();
      const text = rest + readFrom(path, file.at, now.at);
      const end = text.lastIndexOf("\n") + 1;
      rest = text.slice(end);
      file = now;
      for (const line of text.slice(0, end).split("\n")) {
        const record = parsedRecord(line);
        if (record) tell(record);
      }
    },
  };
}

function sizeOf(path: string): { ino: number; at: number } | undefined {
  try {
    const descriptor = openSync(path, "r");
    try {
      const { ino, size } = fstatSync(descriptor);
      return { ino, at: size };
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return undefined;
  }
}

function readFrom(path: string, from: number, to: number): string {
  const descriptor = openSync(path, "r");
  try {
    const parts: Buffer[] = [];
    for (let at = from; at < to; ) {
      const chunk = Buffer.alloc(Math.min(CHUNK, to - at));
      const read = readSync(descriptor, chunk, 0, chunk.length, at);
      if (read === 0) break;
      parts.push(chunk.subarray(0, read));
      at += read;
    }
    return Buffer.concat(parts).toString("utf8");
  } finally {
    closeSync(descriptor);
  }
}
