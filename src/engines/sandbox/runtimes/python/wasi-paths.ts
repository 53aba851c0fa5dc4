import { type Access, FILE, FOLDER, type WasiCalls } from "./access.ts";
import { ERRNO } from "./descriptors.ts";

const RIGHT_WRITE = 64n;

/** Calls about names. None leads out of the folder that it starts from. */
export function pathCalls(access: Access): WasiCalls {
  const { table, view, at, writeStat } = access;
  const { u32 } = view;

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

  return {
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
  };
}
