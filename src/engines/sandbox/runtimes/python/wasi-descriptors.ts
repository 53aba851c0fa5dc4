import type { Node } from "../files.ts";
import { type Access, CHARACTER_DEVICE, FILE, FOLDER, type WasiCalls, type WasiDeps } from "./access.ts";
import { ERRNO } from "./descriptors.ts";

const ALL_RIGHTS = 0x1fffffffn;

/** Calls about what is open: files, folders, the standard streams and the bridge. */
export function descriptorCalls(access: Access, deps: WasiDeps): WasiCalls {
  const { table, view, open, fileOf, folderOf, writeStat, readFile } = access;
  const { bytes, u32, data } = view;

  function read(fd: number, iovs: number, count: number, nread: number): number {
    const found = open(fd);
    let total = 0;
    for (const [ptr, length] of view.vectors(iovs, count)) {
      let got: number;
      if (found.kind === "stdin") got = deps.wait(`${iovs},${nread},${ptr}`, () => bytes().subarray(ptr, ptr + length));
      else if (found.kind === "bridge") {
        const chunk = deps.bridgeRead(length);
        bytes().set(chunk, ptr);
        got = chunk.length;
      } else if (found.kind === "file") {
        const chunk = readFile(found.node, found.offset, length);
        bytes().set(chunk, ptr);
        found.offset += chunk.length;
        got = chunk.length;
      } else return found.kind === "folder" ? ERRNO.ISDIR : ERRNO.BADF;
      total += got;
      if (got < length) break;
    }
    u32(nread, total);
    return 0;
  }

  function write(fd: number, iovs: number, count: number, nwritten: number): number {
    const found = open(fd);
    let total = 0;
    for (const [ptr, length] of view.vectors(iovs, count)) {
      const chunk = bytes().subarray(ptr, ptr + length);
      if (found.kind === "stdout" || found.kind === "stderr") deps.write(found.kind, chunk);
      else if (found.kind === "bridge") deps.bridgeWrite(chunk);
      else if (found.kind === "file") {
        if (!found.writable) return ERRNO.BADF;
        if (found.append) found.offset = found.node.size;
        found.files.write(found.node, found.offset, chunk);
        found.offset += length;
      } else return found.kind === "folder" ? ERRNO.ISDIR : ERRNO.BADF;
      total += length;
    }
    u32(nwritten, total);
    return 0;
  }

  function fd_readdir(fd: number, buffer: number, length: number, cookie: bigint, used_ptr: number): number {
    const { node } = folderOf(fd);
    const entries: [string, Node][] = [[".", node], ["..", node], ...node.entries];
    let used = 0;
    for (let index = Number(cookie); index < entries.length && used < length; index++) {
      const [name, entry] = entries[index]!;
      const encoded = Buffer.from(name);
      const record = Buffer.alloc(24 + encoded.length);
      record.writeBigUInt64LE(BigInt(index + 1), 0);
      record.writeBigUInt64LE(BigInt(entry.ino), 8);
      record.writeUInt32LE(encoded.length, 16);
      record[20] = entry.kind === "file" ? FILE : FOLDER;
      record.set(encoded, 24);
      const part = record.subarray(0, length - used);
      bytes().set(part, buffer + used);
      used += part.length;
    }
    u32(used_ptr, used);
    return 0;
  }

  function fd_seek(fd: number, offset: bigint, whence: number, out: number): number {
    const found = fileOf(fd);
    const base = whence === 0 ? 0 : whence === 1 ? found.offset : found.node.size;
    const next = base + Number(offset);
    if (next < 0 || !Number.isSafeInteger(next)) return ERRNO.INVAL;
    found.offset = next;
    data().setBigUint64(out, BigInt(next), true);
    return 0;
  }

  return {
    fd_advise: () => 0,
    fd_allocate(fd: number, offset: bigint, length: bigint) {
      const { files, node } = fileOf(fd);
      if (Number(offset + length) > node.size) files.resize(node, Number(offset + length));
      return 0;
    },
    fd_close: (fd: number) => (table.remove(fd) ? 0 : ERRNO.BADF),
    fd_datasync: () => 0,
    fd_sync: () => 0,
    fd_fdstat_get(fd: number, out: number) {
      const { kind } = open(fd);
      bytes().fill(0, out, out + 24);
      data().setUint8(out, kind === "file" ? FILE : kind === "folder" ? FOLDER : CHARACTER_DEVICE);
      const found = open(fd);
      if (found.kind === "file" && found.append) data().setUint16(out + 2, 1, true);
      // A character device that cannot seek is what libc calls a terminal; standard streams are none.
      data().setBigUint64(out + 8, ALL_RIGHTS, true);
      data().setBigUint64(out + 16, ALL_RIGHTS, true);
      return 0;
    },
    fd_fdstat_set_flags(fd: number, flags: number) {
      const found = fileOf(fd);
      found.append = (flags & 1) !== 0;
      return 0;
    },
    fd_filestat_get(fd: number, out: number) {
      const found = open(fd);
      if (found.kind === "file") writeStat(out, found.node, FILE);
      else if (found.kind === "folder") writeStat(out, found.node, FOLDER);
      else writeStat(out, undefined, CHARACTER_DEVICE);
      return 0;
    },
    fd_filestat_set_size(fd: number, size: bigint) {
      const found = fileOf(fd);
      if (!found.writable || size > BigInt(Number.MAX_SAFE_INTEGER)) return ERRNO.INVAL;
      found.files.resize(found.node, Number(size));
      return 0;
    },
    fd_filestat_set_times: () => 0,
    fd_pread(fd: number, iovs: number, count: number, offset: bigint, nread: number) {
      const { node } = fileOf(fd);
      let from = Number(offset);
      let total = 0;
      for (const [ptr, length] of view.vectors(iovs, count)) {
        const chunk = readFile(node, from, length);
        bytes().set(chunk, ptr);
        from += chunk.length;
        total += chunk.length;
      }
      u32(nread, total);
      return 0;
    },
    fd_pwrite(fd: number, iovs: number, count: number, offset: bigint, nwritten: number) {
      const found = fileOf(fd);
      if (!found.writable) return ERRNO.BADF;
      let to = Number(offset);
      for (const [ptr, length] of view.vectors(iovs, count)) {
        found.files.write(found.node, to, bytes().subarray(ptr, ptr + length));
        to += length;
      }
      u32(nwritten, to - Number(offset));
      return 0;
    },
    fd_prestat_get(fd: number, out: number) {
      const name = table.preopen(fd);
      if (name === undefined) return ERRNO.BADF;
      u32(out, 0);
      u32(out + 4, Buffer.byteLength(name));
      return 0;
    },
    fd_prestat_dir_name(fd: number, ptr: number, length: number) {
      const name = table.preopen(fd);
      if (name === undefined) return ERRNO.BADF;
      bytes().set(Buffer.from(name).subarray(0, length), ptr);
      return 0;
    },
    fd_read: read,
    fd_write: write,
    fd_readdir,
    fd_seek,
    fd_tell: (fd: number, out: number) => fd_seek(fd, 0n, 1, out),
  };
}
