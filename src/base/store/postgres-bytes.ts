import type { Connection, PoolClient, Submittable } from "pg";
import type { SqlValue } from "./types.ts";

/** Before the rows: a signature, flags, and the length of what else may stand there. */
const HEADER_BYTES = 19;
const EXTENSION_AT = 15;

/**
 * Rows of one column of bytes, one after the other. The driver takes every value of a row for text, which doubles bytes and
 * makes them slow; COPY gives them as they are, and takes no values, so these stand in the statement as hexadecimal digits.
 */
export async function copyBytes(client: PoolClient, sql: string, values: readonly SqlValue[]): Promise<Buffer> {
  let next = 0;
  const inlined = sql.replace(/\?/g, () => literal(values[next++]!));
  return new Promise((resolve, reject) => {
    client.query(copyOut(`COPY (${inlined}) TO STDOUT (FORMAT binary)`, resolve, reject));
  });
}

function literal(value: SqlValue): string {
  if (typeof value === "number" && Number.isSafeInteger(value)) return String(value);
  return `convert_from(decode('${Buffer.from(String(value)).toString("hex")}', 'hex'), 'UTF8')`;
}

/** What the driver calls a query. */
function copyOut(text: string, resolve: (bytes: Buffer) => void, reject: (error: Error) => void): Submittable {
  const chunks: Buffer[] = [];
  let failed = false;
  const nothing = () => {};
  const query = {
    submit: (connection: Connection) => connection.query(text),
    // The driver reads the next chunk into the same memory.
    handleCopyData: ({ chunk }: { chunk: Buffer }) => void chunks.push(Buffer.from(chunk)),
    handleError(error: Error) {
      failed = true;
      reject(error);
    },
    handleReadyForQuery() {
      if (!failed) resolve(joined(Buffer.concat(chunks)));
    },
    handleCommandComplete: nothing,
    handleRowDescription: nothing,
    handleDataRow: nothing,
  };
  return query;
}

/** Only the values, moved together where they lie. */
function joined(all: Buffer): Buffer {
  let from = HEADER_BYTES + all.readUInt32BE(EXTENSION_AT);
  let to = 0;
  // A row is the number of its columns, and a length before each; -1 instead of a number is the end.
  while (all.readInt16BE(from) === 1) {
    const length = Math.max(0, all.readInt32BE(from + 2));
    all.copyWithin(to, from + 6, from + 6 + length);
    to += length;
    from += 6 + length;
  }
  return all.subarray(0, to);
}
