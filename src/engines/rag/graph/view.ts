import type { Db } from "../../../base/db.ts";
import {
  CLOSED,
  type DefRow,
  defOf,
  FILE,
  type FileInfo,
  type FileRow,
  infoOf,
  isEnd,
  lastOf,
  type StoredDef,
} from "./definition.ts";
import type { Manifest } from "./manifest.ts";
import type { Place } from "./store.ts";
import type { Export, Import, Ref } from "./types.ts";

export interface Links {
  readonly package: string;
  readonly imports: readonly Import[];
  readonly exports: readonly Export[];
}

/** The stored graph, read with a memory of what was read. It holds for one state of the index. */
export interface View {
  file(id: number): FileInfo | undefined;
  fileAt(path: string): FileInfo | undefined;
  /** Files that a module of this last name could be. */
  stems(stem: string): readonly FileInfo[];
  /** Files right in a folder. */
  inFolder(folder: string): readonly FileInfo[];
  inPackage(name: string, family: string): readonly FileInfo[];
  links(file: FileInfo): Links;
  packageOf(file: FileInfo): string;
  named(name: string): readonly DefRow[];
  isNamed(name: string): boolean;
  /** Definitions of this name in these files. */
  namedIn(name: string, files: readonly FileInfo[]): readonly DefRow[];
  /** Definitions of this name whose symbol is, or ends with, this one. */
  namedAs(name: string, symbol: string): readonly DefRow[];
  /** Definitions of this name in whatever goes by that name. */
  namedWithin(name: string, owner: string): readonly DefRow[];
  defAt(file: FileInfo, ord: number): DefRow | undefined;
  defsOf(file: FileInfo): readonly DefRow[];
  /** What a definition derives from, and the file that says so. */
  bases(child: DefRow): readonly { readonly file: FileInfo; readonly base: Ref }[];
  uses(name: string, limit: number): { readonly file: FileInfo; readonly place: Place }[];
  usesIn(file: FileInfo): { readonly name: string; readonly place: Place }[];
  renames(source: string): readonly { readonly file: FileInfo; readonly name: string }[];
  /** What was found out once, for as long as the view holds. */
  once<T>(key: string, make: () => T): T;
  /** The same for long lists: those that were asked for last are kept. */
  lately<T>(key: string, make: () => readonly T[]): readonly T[];
  manifests(): readonly { readonly folder: string; readonly path: string; readonly manifest: Manifest }[];
}

const MAX_NAMED = 2_000;
const MAX_FILES = 500;
/** A name has at most so many definitions if they are read for the sake of one file. */
const FEW_NAMED = 16;
const MAX_REMEMBERED = 100_000;
const MAX_LATEST = 60_000;
const NO_LINKS: Links = { package: "", imports: [], exports: [] };

export function openView(db: Db): View {
  const files = new Map<number, FileInfo | undefined>();
  const linked = new Map<number, Links>();
  const packages = new Map<number, string>();
  const remembered = new Map<string, unknown>();
  const latest = new Map<string, readonly unknown[]>();
  let kept = 0;

  function once<T>(key: string, make: () => T): T {
    if (remembered.has(key)) return remembered.get(key) as T;
    const made = make();
    remember(remembered, key, made);
    return made;
  }

  function known(row: FileRow | undefined): FileInfo | undefined {
    if (!row) return undefined;
    let info = files.get(row.id);
    if (!info) files.set(row.id, (info = infoOf(row)));
    return info;
  }

  const file = (id: number) => (files.has(id) ? files.get(id) : known(db.get<FileRow>(`${FILE} WHERE id = ?`, id)));
  const rows = <T extends { file: number }>(list: readonly T[]) =>
    list.flatMap((row) => {
      const info = file(row.file);
      return info ? [{ ...row, file: info }] : [];
    });
  const defs = (list: readonly StoredDef[]): DefRow[] =>
    list.flatMap((row) => {
      const info = file(row.file);
      return info ? [defOf(row, info)] : [];
    });

  const named = (name: string): DefRow[] =>
    once(`named ${name}`, () => defs(db.all<StoredDef>("SELECT * FROM defs WHERE name = ? LIMIT ?", name, MAX_NAMED)));

  const ofName = (name: string) => once(`in ${name}`, () => Map.groupBy(named(name), (def) => def.file.id));

  const countOf = (name: string): number =>
    once(`count ${name}`, () => {
      const counted = "SELECT count(*) AS n FROM (SELECT 1 FROM defs WHERE name = ? LIMIT ?)";
      return db.get<{ n: number }>(counted, name, MAX_NAMED)!.n;
    });

  function namedIn(name: string, files: readonly FileInfo[]): DefRow[] {
    // What everybody has is not read as a whole for the sake of a few files.
    const count = countOf(name);
    if (count === 0) return [];
    const isRead = remembered.has(`named ${name}`) || count <= FEW_NAMED * files.length;
    const all = isRead && count < MAX_NAMED ? ofName(name) : undefined;
    return files.flatMap(({ id }) =>
      all
        ? (all.get(id) ?? [])
        : once(`in ${id} ${name}`, () =>
            defs(db.all<StoredDef>("SELECT * FROM defs WHERE name = ? AND file = ? ORDER BY ord", name, id)),
          ),
    );
  }

  const inFolder = (folder: string): FileInfo[] =>
    once(`folder ${folder}`, () => {
      const [from, to] = folder === "" ? ["", "\u{10ffff}"] : [`${folder}/`, `${folder}0`];
      const found = db.all<FileRow>(`${FILE} WHERE path >= ? AND path < ? LIMIT ?`, from, to, MAX_FILES * 10);
      return found.map((row) => known(row)!).filter((info) => info.folder === folder);
    });

  return {
    file,
    fileAt: (path) => once(`at ${path}`, () => known(db.get<FileRow>(`${FILE} WHERE path = ?`, path))),
    stems: (stem) =>
      once(`stem ${stem}`, () =>
        rows(db.all<{ file: number }>("SELECT file FROM stems WHERE stem = ? LIMIT ?", stem, MAX_FILES)).map(
          (row) => row.file,
        ),
      ),
    inFolder,
    inPackage: (name, family) =>
      once(`package ${family} ${name}`, () =>
        rows(
          db.all<{ file: number }>(
            "SELECT file FROM links WHERE package = ? AND package <> '' LIMIT ?",
            name,
            MAX_FILES,
          ),
        )
          .map((row) => row.file)
          .filter((info) => info.family === family),
      ),
    links({ id }) {
      if (linked.size >= MAX_REMEMBERED) linked.clear();
      let found = linked.get(id);
      if (!found) {
        const row = db.get<{ package: string; imports: string; exports: string }>(
          "SELECT package, imports, exports FROM links WHERE file = ?",
          id,
        );
        found = row
          ? { package: row.package, imports: JSON.parse(row.imports), exports: JSON.parse(row.exports) }
          : NO_LINKS;
        linked.set(id, found!);
      }
      return found!;
    },
    packageOf({ id }) {
      let found = packages.get(id);
      if (found === undefined) {
        found = db.get<{ package: string }>("SELECT package FROM links WHERE file = ?", id)?.package ?? "";
        packages.set(id, found);
      }
      return found;
    },
    named,
    isNamed: (name) => countOf(name) > 0,
    namedIn,
    namedAs(name, symbol) {
      const all = named(name);
      if (symbol === name || all.length < MAX_NAMED)
        return all.filter((one) => symbol === name || isEnd(one.symbol, symbol));
      // Not all of such a name were read: those of the owner's own files are, in any case.
      const owners = named(lastOf(symbol.slice(0, -name.length - 1)));
      const homes = owners.flatMap((one) => (CLOSED.test(one.file.family) ? [one.file] : inFolder(one.file.folder)));
      const near = namedIn(name, [...new Set(homes)].slice(0, MAX_FILES));
      const found = [...all, ...near].filter((one) => isEnd(one.symbol, symbol));
      return [...new Map(found.map((one) => [`${one.file.id} ${one.ord}`, one])).values()];
    },
    namedWithin: (name, owner) =>
      once(`within ${name}`, () => Map.groupBy(named(name), (def) => lastOf(def.owner))).get(owner) ?? [],
    defAt: ({ id }, ord) =>
      once(
        `def ${id} ${ord}`,
        () => defs(db.all<StoredDef>("SELECT * FROM defs WHERE file = ? AND ord = ?", id, ord))[0],
      ),
    once,
    lately<T>(key: string, make: () => readonly T[]) {
      const made = (latest.get(key) as readonly T[] | undefined) ?? make();
      if (!latest.delete(key)) kept += made.length;
      latest.set(key, made);
      for (const [oldest, list] of latest) {
        if (kept <= MAX_LATEST || oldest === key) break;
        latest.delete(oldest);
        kept -= list.length;
      }
      return made;
    },
    defsOf: ({ id }) =>
      once(`defs ${id}`, () => defs(db.all<StoredDef>("SELECT * FROM defs WHERE file = ? ORDER BY ord", id))),
    bases: (child) =>
      once(`bases ${child.symbol} ${child.file.id}`, () => {
        const { id, family, folder } = child.file;
        const isOpen = !CLOSED.test(family);
        const found = db.all<{ file: number; base: string }>(
          `SELECT file, base FROM bases WHERE child = ? ${isOpen ? "" : "AND file = ?"} LIMIT 50`,
          ...(isOpen ? [child.symbol] : [child.symbol, id]),
        );
        return rows(found)
          .filter(({ file: at }) => at.family === family && (family !== "go" || at.folder === folder))
          .map((row) => ({ file: row.file, base: JSON.parse(row.base) as Ref }));
      }),
    uses: (name, limit) => {
      const found: { file: FileInfo; place: Place }[] = [];
      const stored = db.all<FileRow & { places: string }>(
        "SELECT f.id AS id, path, kind, language, places FROM uses u JOIN files f ON f.id = u.file WHERE u.name = ? LIMIT ?",
        ...[name, limit],
      );
      for (const row of stored) {
        const info = known(row)!;
        for (const place of JSON.parse(row.places) as Place[])
          if (found.length < limit) found.push({ file: info, place });
      }
      return found;
    },
    usesIn: ({ id }) =>
      once(`uses ${id}`, () =>
        db
          .all<{ name: string; places: string }>("SELECT name, places FROM uses WHERE file = ?", id)
          .flatMap(({ name, places }) => {
            const plain = name.startsWith("default:") ? "default" : name;
            return (JSON.parse(places) as Place[]).map((place) => ({ name: plain, place }));
          }),
      ),
    renames: (source) =>
      once(`renames ${source}`, () =>
        rows(
          db.all<{ file: number; name: string }>("SELECT file, name FROM renames WHERE source = ? LIMIT 500", source),
        ),
      ),
    manifests: () =>
      once("manifests", () =>
        rows(db.all<{ file: number; facts: string }>("SELECT file, facts FROM manifests LIMIT 5000")).map((row) => ({
          folder: row.file.folder,
          path: row.file.path,
          manifest: JSON.parse(row.facts) as Manifest,
        })),
      ),
  };
}

/** Begins anew when it is full. */
export function remember<T>(memory: Map<string, T>, key: string, value: T): void {
  if (memory.size >= MAX_REMEMBERED) memory.clear();
  memory.set(key, value);
}
