import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { App } from "../../app.ts";
import { type Db, openDb } from "../../base/db.ts";
import { mintPrincipal } from "../../base/principal.ts";
import { type Finding, failed, indexFinding } from "../findings.ts";
import type { Patient } from "./patient.ts";

const PROGRAMS = { javascript: "6 * 7", python: "6 * 7" } as const;

/** Each interpreter computes something: that it is there is not enough. */
export async function runtimeFindings({ app, signal }: Patient): Promise<Finding[]> {
  const sandbox = await app.engines.sandbox();
  const owner = mintPrincipal("local", process.getuid?.() ?? 0);
  const findings: Finding[] = [];
  for (const [language, code] of Object.entries(PROGRAMS) as [keyof typeof PROGRAMS, string][]) {
    try {
      const ran = await sandbox.execute(owner, { code, language, session: { kind: "none" }, signal, depth: 0 });
      if (ran.result !== 42) throw new Error(`6 * 7 gave ${JSON.stringify(ran.result)} ${ran.stderr.slice(0, 200)}`);
      const level = (await sandbox.runtimes()).find((runtime) => runtime.language === language)!.isolation;
      findings.push({ level: "ok", about: "sandbox", text: `${language} runs, level ${level}` });
    } catch (error) {
      findings.push(failed("sandbox", error));
    }
  }
  return findings;
}

const FEATURES = `
  CREATE TABLE strict_one (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
  CREATE VIRTUAL TABLE words USING fts5(text);
  CREATE VIRTUAL TABLE parts USING fts5(text, tokenize = 'trigram');
  INSERT INTO words VALUES ('where the retry is decided');
  INSERT INTO parts VALUES ('where the retry is decided');`;

/** Tried in the state folder itself: WAL needs a file system that can share memory, which a network share cannot. */
export function sqliteFindings(state_dir: string): Finding[] {
  const file = join(state_dir, `doctor-${process.pid}.db`);
  let db: Db | undefined;
  try {
    db = openDb(file, { migrations: [FEATURES] });
    const { version } = db.get<{ version: string }>("SELECT sqlite_version() AS version")!;
    const { journal_mode } = db.get<{ journal_mode: string }>("PRAGMA journal_mode")!;
    const found = ["words MATCH 'retry'", "parts MATCH 'etr'"].every((where) =>
      db!.get(`SELECT 1 FROM ${where.split(" ")[0]} WHERE ${where}`),
    );
    if (journal_mode !== "wal")
      return [{ level: "error", about: "sqlite", text: `${state_dir} has no WAL. Set mcp.state_dir to a local disk.` }];
    if (!found)
      return [{ level: "error", about: "sqlite", text: `${version} finds no words: full-text search is missing.` }];
    return [{ level: "ok", about: "sqlite", text: `${version}: WAL, full text, trigrams, strict tables` }];
  } catch (error) {
    return [failed("sqlite", error)];
  } finally {
    db?.close();
    for (const end of ["", "-wal", "-shm"]) rmSync(file + end, { force: true });
  }
}

export async function indexFindings(app: App): Promise<Finding[]> {
  if (!existsSync(join(app.loaded.state_dir, "index.db"))) return [await indexFinding(app)];
  const { files, chunks, phase, last_error } = await (await app.engines.rag()).stats();
  const text = `${files} files, ${chunks} chunks, ${phase}`;
  return last_error === null
    ? [{ level: "ok", about: "index", text }]
    : [{ level: "warning", about: "index", text: `${text}. The last error: ${last_error}. Try llmc index.` }];
}
