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
];

export const PER_FILE = 65_536;
