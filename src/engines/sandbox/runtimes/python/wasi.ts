import type { FileNode, Files, FolderNode, Node } from "../files.ts";
import { ERRNO, errnoOf, type FdTable } from "./descriptors.ts";
import { createView } from "./view.ts";

/** The system interface that CPython sees: three folders in memory, a clock, chance, and a wait. No more is behind it. */
export interface WasiHost {
  readonly imports: Record<string, (...args: never[]) => number>;
  /** Called once, when there is an instance. */
  attach(memory: WebAssembly.Memory): void;
  /** From here on clock and chance are real. Before, they are the same in every instance. */
  wake(): void;
}

interface WasiDeps {
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

export class GuestExit extends Error {
  readonly exit_code: number;
  constructor(exit_code: number) {
    super(`exit ${exit_code}`);
    this.exit_code = exit_code;
  }
}

const FIXED_TIME_NS = 1_700_000_000_000_000_000n;
const CHARACTER_DEVICE = 2;
const FOLDER = 3;
const FILE = 4;
const ALL_RIGHTS = 0x1fffffffn;
const RIGHT_WRITE = 64n;

export function createWasi(deps: WasiDeps): WasiHost {
  const { table } = deps;
  let awake = false;
  const view = createView();
  const { bytes, u32, data, text } = view;

  const now = (clock: number): bigint => {
    if (!awake) return FIXED_TIME_NS;
    return clock === 0
      ? BigInt(Date.now()) * 1_000_000n
      : BigInt(Math.round((performance.timeOrigin + performance.now()) * 1e6));
  };

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
    const time = BigInt(Math.round(awake ? (node?.mtime_ms ?? 0) : 0)) * 1_000_000n;
    for (const field of [40, 48, 56]) d.setBigUint64(ptr + field, time, true);
  }

  const readFile = (node: FileNode, offset: number, max: number): Uint8Array =>
    node.data.subarray(Math.min(offset, node.size), Math.min(offset + max, node.size));

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

  function path_open(
    fd: number,
    _dirflags: number,
    path_ptr: number,
    path_len: number,
    oflags: number,
    rights: bigint,
    _inheriting: bigint,
    fdflags: number,
    opened: number,
  ): number {
    const { files, node: from, path } = at(fd, path_ptr, path_len);
    let node = files.find(path, from);
    if (node && (oflags & 5) === 5) return ERRNO.EXIST;
    if (!node && (oflags & 1) === 0) return ERRNO.NOENT;
    node ??= files.create(path, from);
    if (node.kind === "folder") {
      if (rights & RIGHT_WRITE) return ERRNO.ISDIR;
      u32(opened, table.add({ kind: "folder", files, node }));
      return 0;
    }
    if (oflags & 2) return ERRNO.NOTDIR;
    if (table.isBridge(node)) {
      u32(opened, table.add({ kind: "bridge" }));
      return 0;
    }
    const writable = (rights & RIGHT_WRITE) !== 0n;
    if (oflags & 8) files.resize(node, 0);
    u32(opened, table.add({ kind: "file", files, node, offset: 0, writable, append: (fdflags & 1) !== 0 }));
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

  function poll_oneoff(subscriptions: number, events: number, count: number, out: number): number {
    let wait_ns: bigint | undefined;
    const ready: [userdata: bigint, type: number][] = [];
    for (let index = 0; index < count; index++) {
      const base = subscriptions + index * 48;
      const d = data();
      const userdata = d.getBigUint64(base, true);
      const type = d.getUint8(base + 8);
      ready.push([userdata, type]);
      if (type !== 0) wait_ns = 0n;
      else {
        const asked = d.getBigUint64(base + 24, true);
        const left = d.getUint16(base + 40, true) & 1 ? asked - now(d.getUint32(base + 16, true)) : asked;
        const bounded = left > 0n ? left : 0n;
        wait_ns = wait_ns === undefined || bounded < wait_ns ? bounded : wait_ns;
      }
    }
    if (wait_ns) deps.sleep(Number(wait_ns / 1_000_000n));
    bytes().fill(0, events, events + count * 32);
    ready.forEach(([userdata, type], index) => {
      data().setBigUint64(events + index * 32, userdata, true);
      data().setUint8(events + index * 32 + 10, type);
    });
    u32(out, count);
    return 0;
  }

  const strings = (list: readonly string[]) => list.map((item) => Buffer.from(`${item}\0`));
  const sizes = (list: readonly string[]) => (count: number, size: number) => {
    u32(count, list.length);
    u32(
      size,
      strings(list).reduce((sum, item) => sum + item.length, 0),
    );
    return 0;
  };
  const copy = (list: readonly string[]) => (pointers: number, buffer: number) => {
    let to = buffer;
    strings(list).forEach((item, index) => {
      u32(pointers + index * 4, to);
      bytes().set(item, to);
      to += item.length;
    });
    return 0;
  };

  const calls: Record<string, (...args: never[]) => number> = {
    args_sizes_get: sizes(deps.args),
    args_get: copy(deps.args),
    environ_sizes_get: sizes(deps.env),
    environ_get: copy(deps.env),
    clock_res_get(_id: number, out: number) {
      data().setBigUint64(out, 1_000_000n, true);
      return 0;
    },
    clock_time_get(id: number, _precision: bigint, out: number) {
      data().setBigUint64(out, now(id), true);
      return 0;
    },
    random_get(ptr: number, length: number) {
      const target = bytes().subarray(ptr, ptr + length);
      if (!awake) target.fill(7);
      else
        for (let done = 0; done < length; done += 65_536)
          crypto.getRandomValues(target.subarray(done, Math.min(done + 65_536, length)));
      return 0;
    },
    sched_yield: () => 0,
    proc_exit(code: number) {
      throw new GuestExit(code);
    },
    poll_oneoff,
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
    path_open,
    path_create_directory(fd: number, ptr: number, length: number) {
      const { files, node, path } = at(fd, ptr, length);
      files.mkdir(path, node);
      return 0;
    },
    path_filestat_get(fd: number, _flags: number, ptr: number, length: number, out: number) {
      const { files, node: from, path } = at(fd, ptr, length);
      const node = files.find(path, from);
      if (!node) return ERRNO.NOENT;
      writeStat(out, node, node.kind === "file" ? FILE : FOLDER);
      return 0;
    },
    path_filestat_set_times: () => 0,
    path_link: () => ERRNO.NOTSUP,
    path_symlink: () => ERRNO.NOTSUP,
    path_readlink: () => ERRNO.INVAL,
    path_remove_directory(fd: number, ptr: number, length: number) {
      const { files, node, path } = at(fd, ptr, length);
      files.remove(path, "folder", node);
      return 0;
    },
    path_unlink_file(fd: number, ptr: number, length: number) {
      const { files, node, path } = at(fd, ptr, length);
      files.remove(path, "file", node);
      return 0;
    },
    path_rename(fd: number, ptr: number, length: number, to_fd: number, to_ptr: number, to_length: number) {
      const source = at(fd, ptr, length);
      const target = at(to_fd, to_ptr, to_length);
      if (source.files !== target.files) return ERRNO.XDEV;
      source.files.rename(source.path, target.path, source.node, target.node);
      return 0;
    },
    sock_accept: () => ERRNO.NOTSUP,
    sock_recv: () => ERRNO.NOTSUP,
    sock_send: () => ERRNO.NOTSUP,
    sock_shutdown: () => ERRNO.NOTSUP,
  };

  const guarded = Object.fromEntries(
    Object.entries(calls).map(([name, call]) => [
      name,
      (...args: never[]) => {
        try {
          return call(...args);
        } catch (error) {
          return errnoOf(error);
        }
      },
    ]),
  );
  return { imports: guarded, attach: view.attach, wake: () => (awake = true) };
}

class WasiErrno extends Error {
  readonly errno: number;
  constructor(errno: number) {
    super(`errno ${errno}`);
    this.errno = errno;
  }
}
