import type { FileNode, Files, FolderNode, Node } from "../files.ts";
import { ERRNO, type FdTable } from "./descriptors.ts";
import type { View } from "./view.ts";

export const CHARACTER_DEVICE = 2;
export const FOLDER = 3;
export const FILE = 4;

/** What the system interface is made of. */
export interface WasiDeps {
  readonly table: FdTable;
  readonly args: readonly string[];
  readonly env: readonly string[];
  /** The wait for the next command: called with where the guest wants the answer. Fills the buffer and returns how much. */
  wait(where: string, buffer: () => Uint8Array): number;
  write(stream: "stdout" | "stderr", bytes: Uint8Array): void;
  bridgeWrite(bytes: Uint8Array): void;
  bridgeRead(max: number): Uint8Array;
  sleep(ms: number): void;
}

export type WasiCalls = Record<string, (...args: never[]) => number>;
export type Access = ReturnType<typeof createAccess>;

/** What the calls of a guest about files have in common. */
export function createAccess(table: FdTable, view: View, isAwake: () => boolean) {
  const { bytes, data, text } = view;

  function open(fd: number) {
    const found = table.get(fd);
    if (!found) throw new WasiErrno(ERRNO.BADF);
    return found;
  }
  function fileOf(fd: number) {
    const found = open(fd);
    if (found.kind !== "file") throw new WasiErrno(found.kind === "folder" ? ERRNO.ISDIR : ERRNO.SPIPE);
    return found;
  }
  function folderOf(fd: number) {
    const found = open(fd);
    if (found.kind !== "folder") throw new WasiErrno(ERRNO.NOTDIR);
    return found;
  }
  function at(fd: number, path_ptr: number, path_len: number): { files: Files; node: FolderNode; path: string } {
    const found = folderOf(fd);
    return { files: found.files, node: found.node, path: text(path_ptr, path_len) };
  }

  function writeStat(ptr: number, node: Node | undefined, type: number): void {
    const d = data();
    bytes().fill(0, ptr, ptr + 64);
    d.setBigUint64(ptr + 8, BigInt(node?.ino ?? 0), true);
    d.setUint8(ptr + 16, type);
    d.setBigUint64(ptr + 24, 1n, true);
    d.setBigUint64(ptr + 32, BigInt(node?.kind === "file" ? node.size : 0), true);
    const time = BigInt(Math.round(isAwake() ? (node?.mtime_ms ?? 0) : 0)) * 1_000_000n;
    for (const field of [40, 48, 56]) d.setBigUint64(ptr + field, time, true);
  }

  const readFile = (node: FileNode, offset: number, max: number): Uint8Array =>
    node.data.subarray(Math.min(offset, node.size), Math.min(offset + max, node.size));

  return { table, view, open, fileOf, folderOf, at, writeStat, readFile };
}

class WasiErrno extends Error {
  readonly errno: number;
  constructor(errno: number) {
    super(`errno ${errno}`);
    this.errno = errno;
  }
}
