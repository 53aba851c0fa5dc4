/**
 * The index. Texts are not in it: what is quoted is read from the file. A chunk's number is its file's times `PER_FILE` and its
 * place in it, so that a hit names its file without a look into another table.
 */
export const MIGRATIONS: readonly string[] = [
  `CREATE TABLE files (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     path TEXT NOT NULL UNIQUE,
     hash TEXT NOT NULL,
     size INTEGER NOT NULL,
     changed_ms REAL NOT NULL,
     kind INTEGER NOT NULL,
     language TEXT NOT NULL,
     symbols INTEGER NOT NULL,
     chunks INTEGER NOT NULL,
     skipped TEXT
   );
   CREATE TABLE chunks (
     id INTEGER PRIMARY KEY,
     first INTEGER NOT NULL,
     last INTEGER NOT NULL,
     symbol TEXT NOT NULL
   );
   CREATE TABLE names (name TEXT NOT NULL, chunk INTEGER NOT NULL, PRIMARY KEY (name, chunk)) WITHOUT ROWID;
   CREATE INDEX names_by_chunk ON names (chunk);
   CREATE VIRTUAL TABLE terms USING fts5 (
     symbol, file, folder, body, content = '', contentless_delete = 1, tokenize = 'ascii'
   );
   CREATE VIRTUAL TABLE vocabulary USING fts5vocab (terms, 'row');
   CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;`,
  `ALTER TABLE chunks ADD COLUMN hash TEXT NOT NULL DEFAULT '';
   CREATE INDEX chunks_by_hash ON chunks (hash);
   CREATE TABLE vectors (maker TEXT NOT NULL, hash TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (maker, hash)) WITHOUT ROWID;
   UPDATE files SET hash = '', changed_ms = 0;`,
  // The graph: what each file says by itself. Which definition a use means is found out when somebody asks.
  `CREATE TABLE defs (
     file INTEGER NOT NULL, ord INTEGER NOT NULL, name TEXT NOT NULL, symbol TEXT NOT NULL, kind INTEGER NOT NULL,
     line INTEGER NOT NULL, last INTEGER NOT NULL, type TEXT, PRIMARY KEY (file, ord)
   ) WITHOUT ROWID;
   CREATE INDEX defs_by_name ON defs (name);
   CREATE TABLE uses (file INTEGER NOT NULL, name TEXT NOT NULL, places TEXT NOT NULL, PRIMARY KEY (file, name)) WITHOUT ROWID;
   CREATE INDEX uses_by_name ON uses (name);
   CREATE TABLE links (file INTEGER PRIMARY KEY, package TEXT NOT NULL, imports TEXT NOT NULL, exports TEXT NOT NULL);
   CREATE INDEX links_by_package ON links (package) WHERE package <> '';
   CREATE TABLE bases (file INTEGER NOT NULL, child TEXT NOT NULL, base TEXT NOT NULL);
   CREATE INDEX bases_by_file ON bases (file);
   CREATE INDEX bases_by_child ON bases (child);
   CREATE TABLE renames (file INTEGER NOT NULL, source TEXT NOT NULL, name TEXT NOT NULL);
   CREATE INDEX renames_by_file ON renames (file);
   CREATE INDEX renames_by_source ON renames (source);
   CREATE TABLE stems (stem TEXT NOT NULL, file INTEGER NOT NULL, PRIMARY KEY (stem, file)) WITHOUT ROWID;
   CREATE TABLE summaries (hash TEXT NOT NULL UNIQUE, summary TEXT NOT NULL);
   CREATE TABLE manifests (file INTEGER PRIMARY KEY, facts TEXT NOT NULL);
   UPDATE files SET hash = '', changed_ms = 0;`,
];

export const PER_FILE = 65_536;
