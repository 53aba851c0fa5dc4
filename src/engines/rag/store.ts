import { createHash } from "node:crypto";
import { type Db, openDb } from "../../base/db.ts";
import { type Chunked, chunkFile } from "./chunk.ts";
import { type Manifest, manifestOf } from "./graph/manifest.ts";
import { putGraph, removeGraph } from "./graph/store.ts";
import { KINDS, kindOf } from "./kind.ts";
import type { Parser } from "./parse.ts";
import { MIGRATIONS, PER_FILE } from "./schema.ts";
import type { Splitter } from "./terms.ts";

/** A file as it was when it was indexed. */
export interface FileRow {
  readonly id: number;
  readonly path: string;
  readonly hash: string;
  readonly size: number;
  readonly changed_ms: number;
}

/** What is written about one file, made before the store is locked. */
export interface Prepared {
  readonly path: string;
  readonly hash: string;
  readonly size: number;
  readonly changed_ms: number;
  readonly kind: number;
  readonly chunked: Chunked;
  readonly manifest: Manifest | undefined;
  readonly rows: readonly Terms[];
}

interface Terms {
  readonly hash: string;
  readonly symbol: string;
  readonly body: string;
}

export function openStore(file: string): Db {
  return openDb(file, { migrations: MIGRATIONS, busy_ms: 10_000 });
}

export function hashOf(bytes: Uint8Array): string {
  return createHash("sha1").update(bytes).digest("base64url");
}

/** Lines with their endings: joined, they are the text. */
export function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** What a vector is made of: a chunk and where it stands. */
export function embedded(path: string, symbol: string, body: string): string {
  return `${path} ${symbol}\n${body}`;
}

export async function prepare(
  path: string,
  bytes: Buffer,
  changed_ms: number,
  parser: Parser,
  splitter: Splitter,
): Promise<Prepared> {
  const text = bytes.toString("utf8");
  const lines = linesOf(text);
  const chunked = await chunkFile(path, text, lines, parser);
  const rows = chunked.chunks.map((chunk) => {
    const body = lines.slice(chunk.start, chunk.end).join("\n");
    return {
      hash: hashOf(Buffer.from(embedded(path, chunk.symbol, body))),
      symbol: splitter.terms(`${chunk.symbol} ${chunk.names.join(" ")}`).join(" "),
      body: splitter.terms(body).join(" "),
    };
  });
  const kind = KINDS.indexOf(kindOf(path, text));
  return {
    path,
    hash: hashOf(bytes),
    size: bytes.length,
    changed_ms,
    kind,
    chunked,
    manifest: manifestOf(path, text),
    rows,
  };
}

/** Inside a transaction: the file as it is now, in place of what was known of it. */
export function put(db: Db, file: Prepared, splitter: Splitter): void {
  remove(db, file.path);
  const { chunks, language, symbols } = file.chunked;
  db.run(
    "INSERT INTO files (path, hash, size, changed_ms, kind, language, symbols, chunks) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    ...[file.path, file.hash, file.size, file.changed_ms, file.kind, language, symbols, chunks.length],
  );
  const id = db.get<{ id: number }>("SELECT id FROM files WHERE path = ?", file.path)!.id;
  putGraph(db, id, file.path, file.chunked.graph, file.manifest);
  const slash = file.path.lastIndexOf("/");
  const name = splitter.terms(file.path.slice(slash + 1)).join(" ");
  const folder = splitter.terms(file.path.slice(0, slash + 1)).join(" ");
  for (const [index, chunk] of chunks.entries()) {
    const rowid = id * PER_FILE + index;
    const terms = file.rows[index]!;
    db.run(
      "INSERT INTO chunks (id, first, last, symbol, hash) VALUES (?, ?, ?, ?, ?)",
      ...[rowid, chunk.start + 1, chunk.end, chunk.symbol, terms.hash],
    );
    db.run(
      "INSERT INTO terms (rowid, symbol, file, folder, body) VALUES (?, ?, ?, ?, ?)",
      ...[rowid, terms.symbol, name, folder, terms.body],
    );
    for (const one of new Set(chunk.names))
      db.run("INSERT OR IGNORE INTO names (name, chunk) VALUES (?, ?)", one, rowid);
  }
}

/** A file that is there and not indexed, and why: so that it is not read again until it changes. */
export function putSkipped(db: Db, path: string, size: number, changed_ms: number, why: string): void {
  remove(db, path);
  db.run(
    "INSERT INTO files (path, hash, size, changed_ms, kind, language, symbols, chunks, skipped) VALUES (?, '', ?, ?, 0, '', 0, 0, ?)",
    ...[path, size, changed_ms, why],
  );
}

export function remove(db: Db, path: string): boolean {
  const row = db.get<{ id: number }>("SELECT id FROM files WHERE path = ?", path);
  if (!row) return false;
  const [from, to] = [row.id * PER_FILE, (row.id + 1) * PER_FILE];
  db.run("DELETE FROM terms WHERE rowid >= ? AND rowid < ?", from, to);
  db.run("DELETE FROM names WHERE chunk >= ? AND chunk < ?", from, to);
  db.run("DELETE FROM chunks WHERE id >= ? AND id < ?", from, to);
  removeGraph(db, row.id, path);
  db.run("DELETE FROM files WHERE id = ?", row.id);
  return true;
}
