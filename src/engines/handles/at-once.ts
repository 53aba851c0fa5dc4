import { hash } from "node:crypto";
import type { Store } from "../../base/store/types.ts";
import { CHUNK_BYTES, NEXT_RANK } from "./schema.ts";
import type { Payload } from "./types.ts";

interface NewHandle {
  readonly id: string;
  readonly owner: string;
  readonly kind: string;
  readonly path: string | null;
  readonly root: string | null;
  readonly expires_ms: number;
}

const PUT = `WITH content AS (
    INSERT INTO blob (sha256, bytes, beat_ms) VALUES (?, ?, ?) ON CONFLICT (sha256) DO NOTHING RETURNING id, bytes, beat_ms
  ), data AS (
    INSERT INTO chunk (blob, byte, data) SELECT id, 0, CAST(? AS BYTEA) FROM content
  )
  INSERT INTO handle (id, owner, kind, path, root, state, bytes, blob, beat_ms, created_ms, expires_ms, rank)
  SELECT CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), 'done',
    bytes, id, beat_ms, beat_ms, CAST(? AS BIGINT), ${NEXT_RANK.postgres} FROM content`;

/**
 * PostgreSQL is a way off: what fits into one chunk becomes a handle in one round trip instead of five. False, with nothing
 * done, when it does not fit or its content is there already.
 */
export async function putAtOnce(db: Store, payload: Payload, made: NewHandle): Promise<boolean> {
  if (db.backend !== "postgres") return false;
  if (typeof payload !== "string" && !(payload instanceof Uint8Array)) return false;
  if (payload.length > CHUNK_BYTES) return false;
  const data = typeof payload === "string" ? Buffer.from(payload) : payload;
  if (data.length === 0 || data.length > CHUNK_BYTES) return false;
  const { id, owner, kind, path, root, expires_ms } = made;
  const content = [hash("sha256", data, "buffer"), data.length, Date.now(), data] as const;
  return (await db.run(PUT, ...content, id, owner, kind, path, root, expires_ms)).changes === 1;
}
