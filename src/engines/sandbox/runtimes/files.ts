/** A file system in memory: the only place that code in the sandbox can write to. Every byte and every name is counted before it is there. */

import { type FileNode, type FolderNode, holds, type Node, parts, walk } from "./tree.ts";

export type { FileNode, FolderNode, Node };

export type FilesErrorCode =
  | "ENOENT"
  | "EEXIST"
  | "ENOTDIR"
  | "EISDIR"
  | "ENOTEMPTY"
  | "EDQUOT"
  | "EROFS"
  | "EINVAL"
  | "ENAMETOOLONG";

export class FilesError extends Error {
  readonly code: FilesErrorCode;
  constructor(code: FilesErrorCode, path: string) {
    super(`${code}: ${path}`);
    this.code = code;
  }
}

export interface FileFact {
  readonly path: string;
  readonly bytes: number;
}

/** All files, as they go into a stored image. */
export interface FilesDump {
  readonly entries: readonly { readonly path: string; readonly bytes: number; readonly folder?: true }[];
  readonly bytes: Uint8Array;
}

export interface Files {
  readonly root: FolderNode;
  find(path: string, from?: FolderNode): Node | undefined;
  /** Makes the file when it is not there. */
  create(path: string, from?: FolderNode): FileNode;
  mkdir(path: string, from?: FolderNode): void;
  remove(path: string, kind: "file" | "folder", from?: FolderNode): void;
  rename(source: string, target: string, from?: FolderNode, to?: FolderNode): void;
  write(file: FileNode, offset: number, bytes: Uint8Array): void;
  resize(file: FileNode, size: number): void;
  list(): FileFact[];
  pathOf(node: Node): string | undefined;
  /** Files written since the last `settle`, as they are now. */
  changed(): FileFact[];
  settle(): void;
  /** A quota that was refused since the last `settle`. */
  refused(): "disk" | "files" | undefined;
  /** Without contents on request. */
  dump(names_only?: boolean): FilesDump;
  load(dump: FilesDump): void;
  clear(): void;
  /** Another number after every change. */
  version(): number;
}

interface Quota {
  readonly max_bytes: number;
  readonly max_files: number;
  /** Nothing can be written after it was loaded. */
  readonly read_only?: boolean;
}

const MAX_NAME_BYTES = 255;
const MAX_DEPTH = 64;

export function createFiles(quota: Quota): Files {
  let inodes = 0;
  let used_bytes = 0;
  let used_files = 0;
  let refusal: "disk" | "files" | undefined;
  let filling = false;
  let version = 0;
  const changes = new Set<FileNode>();
  const root = folder();

  function folder(): FolderNode {
    return { kind: "folder", ino: ++inodes, entries: new Map(), mtime_ms: Date.now() };
  }

  function find(path: string, from = root): Node | undefined {
    let node: Node = from;
    const names = parts(path);
    if (!names) return undefined;
    for (const name of names) {
      if (node.kind !== "folder") return undefined;
      const next = node.entries.get(name);
      if (!next) return undefined;
      node = next;
    }
    return node;
  }

  function place(path: string, from: FolderNode): { parent: FolderNode; name: string } {
    const names = parts(path);
    if (!names) throw new FilesError("ENOENT", path);
    const name = names.pop();
    if (name === undefined) throw new FilesError("EINVAL", path);
    if (names.length > MAX_DEPTH || Buffer.byteLength(name) > MAX_NAME_BYTES)
      throw new FilesError("ENAMETOOLONG", path.slice(0, 80));
    const parent = find(names.join("/"), from);
    if (!parent) throw new FilesError("ENOENT", path);
    if (parent.kind !== "folder") throw new FilesError("ENOTDIR", path);
    return { parent, name };
  }

  function writable(path: string): void {
    version++;
    if (quota.read_only && !filling) throw new FilesError("EROFS", path);
  }

  function add(parent: FolderNode, name: string, node: Node): void {
    if (used_files >= quota.max_files) {
      refusal ??= "files";
      throw new FilesError("EDQUOT", name);
    }
    used_files++;
    parent.entries.set(name, node);
    parent.mtime_ms = Date.now();
  }

  function reserve(file: FileNode, size: number): void {
    const more = size - file.size;
    if (used_bytes + more > quota.max_bytes) {
      refusal ??= "disk";
      throw new FilesError("EDQUOT", "the workspace is full");
    }
    if (size > file.data.length) {
      const grown = new Uint8Array(Math.min(Math.max(size, file.data.length * 2, 256), quota.max_bytes));
      grown.set(file.data.subarray(0, file.size));
      file.data = grown;
    }
    used_bytes += more;
    if (more < 0) file.data.fill(0, size, file.size);
    file.size = size;
  }

  function forget(node: Node): void {
    used_files--;
    if (node.kind === "file") {
      used_bytes -= node.size;
      changes.delete(node);
      return;
    }
    for (const child of node.entries.values()) forget(child);
  }

  const files: Files = {
    root,
    find,
    create(path, from = root) {
      const { parent, name } = place(path, from);
      const there = parent.entries.get(name);
      if (there?.kind === "folder") throw new FilesError("EISDIR", path);
      if (there) return there;
      writable(path);
      const file: FileNode = { kind: "file", ino: ++inodes, data: new Uint8Array(0), size: 0, mtime_ms: Date.now() };
      add(parent, name, file);
      changes.add(file);
      return file;
    },
    mkdir(path, from = root) {
      writable(path);
      const { parent, name } = place(path, from);
      if (parent.entries.has(name)) throw new FilesError("EEXIST", path);
      add(parent, name, folder());
    },
    remove(path, kind, from = root) {
      writable(path);
      const { parent, name } = place(path, from);
      const node = parent.entries.get(name);
      if (!node) throw new FilesError("ENOENT", path);
      if (node.kind !== kind) throw new FilesError(kind === "file" ? "EISDIR" : "ENOTDIR", path);
      if (node.kind === "folder" && node.entries.size > 0) throw new FilesError("ENOTEMPTY", path);
      parent.entries.delete(name);
      forget(node);
    },
    rename(source, target, from = root, to = root) {
      writable(source);
      const old = place(source, from);
      const next = place(target, to);
      const node = old.parent.entries.get(old.name);
      if (!node) throw new FilesError("ENOENT", source);
      const there = next.parent.entries.get(next.name);
      if (there === node) return;
      if (node.kind === "folder" && holds(node, next.parent)) throw new FilesError("EINVAL", target);
      if (there && there.kind !== node.kind)
        throw new FilesError(there.kind === "folder" ? "EISDIR" : "ENOTDIR", target);
      if (there?.kind === "folder" && there.entries.size > 0) throw new FilesError("ENOTEMPTY", target);
      if (there) forget(there);
      old.parent.entries.delete(old.name);
      next.parent.entries.set(next.name, node);
      if (node.kind === "file") changes.add(node);
    },
    write(file, offset, bytes) {
      writable("");
      const end = offset + bytes.length;
      if (end > file.size) reserve(file, end);
      file.data.set(bytes, offset);
      file.mtime_ms = Date.now();
      changes.add(file);
    },
    resize(file, size) {
      writable("");
      reserve(file, size);
      file.mtime_ms = Date.now();
      changes.add(file);
    },
    list: () => [...walk(root, "")].flatMap(({ path, node }) => (node.kind === "file" ? [fact(path, node)] : [])),
    pathOf: (node) => [...walk(root, "")].find((entry) => entry.node === node)?.path,
    changed: () =>
      changes.size === 0
        ? []
        : [...walk(root, "")].flatMap(({ path, node }) =>
            node.kind === "file" && changes.has(node) ? [fact(path, node)] : [],
          ),
    settle() {
      changes.clear();
      refusal = undefined;
    },
    refused: () => refusal,
    dump(names_only = false) {
      const all = [...walk(root, "")];
      return {
        entries: all.map(({ path, node }) =>
          node.kind === "file" ? { path, bytes: node.size } : { path, bytes: 0, folder: true as const },
        ),
        bytes: names_only
          ? EMPTY
          : Buffer.concat(all.map(({ node }) => (node.kind === "file" ? node.data.subarray(0, node.size) : EMPTY))),
      };
    },
    load(dump) {
      files.clear();
      filling = true;
      try {
        let at = 0;
        for (const { path, bytes, folder: isFolder } of dump.entries) {
          if (isFolder) files.mkdir(path);
          else files.write(files.create(path), 0, dump.bytes.subarray(at, at + bytes));
          at += bytes;
        }
      } finally {
        filling = false;
        files.settle();
      }
    },
    version: () => version,
    clear() {
      version++;
      for (const node of root.entries.values()) forget(node);
      root.entries.clear();
      files.settle();
    },
  };
  return files;
}

const EMPTY = new Uint8Array(0);

function fact(path: string, node: FileNode): FileFact {
  return { path, bytes: node.size };
}
