import { type FileNode, type Files, FilesError, type FilesErrorCode, type FolderNode, type Node } from "../files.ts";

export const ERRNO = {
  BADF: 8,
  DQUOT: 19,
  EXIST: 20,
  INVAL: 28,
  IO: 29,
  ISDIR: 31,
  MFILE: 33,
  NAMETOOLONG: 37,
  NOENT: 44,
  NOTDIR: 54,
  NOTEMPTY: 55,
  NOTSUP: 58,
  ROFS: 69,
  SPIPE: 70,
  XDEV: 75,
} as const;

const OF_FILES: Record<FilesErrorCode, number> = {
  ENOENT: ERRNO.NOENT,
  EEXIST: ERRNO.EXIST,
  ENOTDIR: ERRNO.NOTDIR,
  EISDIR: ERRNO.ISDIR,
  ENOTEMPTY: ERRNO.NOTEMPTY,
  EDQUOT: ERRNO.DQUOT,
  EROFS: ERRNO.ROFS,
  EINVAL: ERRNO.INVAL,
  ENAMETOOLONG: ERRNO.NAMETOOLONG,
};

/** What a guest is told of an error. Pointers that leave its memory are its own fault; anything else ends the run. */
export function errnoOf(error: unknown): number {
  if (error instanceof FilesError) return OF_FILES[error.code];
  if (error instanceof Error && "errno" in error && typeof error.errno === "number") return error.errno;
  if (error instanceof RangeError) return ERRNO.INVAL;
  throw error;
}

export type Descriptor =
  | { readonly kind: "stdin" | "stdout" | "stderr" | "bridge" }
  | { readonly kind: "folder"; readonly files: Files; readonly node: FolderNode }
  | {
      readonly kind: "file";
      readonly files: Files;
      readonly node: FileNode;
      offset: number;
      readonly writable: boolean;
      append: boolean;
    };

/** Open files as they go into an image. */
export type SavedDescriptor = readonly [
  fd: number,
  kind: Descriptor["kind"],
  mount: number,
  path: string,
  offset: number,
  writable: boolean,
  append: boolean,
];

export interface FdTable {
  get(fd: number): Descriptor | undefined;
  add(opened: Descriptor): number;
  remove(fd: number): boolean;
  preopen(fd: number): string | undefined;
  isBridge(node: Node): boolean;
  save(): SavedDescriptor[];
  load(saved: readonly SavedDescriptor[]): void;
}

const FIRST = 3;
const MAX_OPEN = 256;

/** Numbers of open files: standard streams, the mounts, then what the guest opens. */
export function createFdTable(mounts: readonly { name: string; files: Files }[], bridge: Node): FdTable {
  let open = new Map<number, Descriptor>();
  const base = (): Map<number, Descriptor> =>
    new Map<number, Descriptor>([
      [0, { kind: "stdin" }],
      [1, { kind: "stdout" }],
      [2, { kind: "stderr" }],
      ...mounts.map(({ files }, index): [number, Descriptor] => [
        FIRST + index,
        { kind: "folder", files, node: files.root },
      ]),
    ]);
  open = base();
  const mountOf = (files: Files) => mounts.findIndex((mount) => mount.files === files);
  return {
    get: (fd) => open.get(fd),
    add(opened) {
      if (open.size >= MAX_OPEN) throw Object.assign(new Error("too many open files"), { errno: ERRNO.MFILE });
      let fd = FIRST + mounts.length;
      while (open.has(fd)) fd++;
      open.set(fd, opened);
      return fd;
    },
    remove: (fd) => open.delete(fd),
    preopen: (fd) => (open.has(fd) ? mounts[fd - FIRST]?.name : undefined),
    isBridge: (node) => node === bridge,
    save: () =>
      [...open].flatMap(([fd, item]): SavedDescriptor[] => {
        if (item.kind !== "file" && item.kind !== "folder") return [[fd, item.kind, 0, "", 0, false, false]];
        const path = item.node === item.files.root ? "" : item.files.pathOf(item.node);
        // A file that was removed while it is open has no name to come back under.
        if (path === undefined) return [];
        const { offset, writable, append } = { offset: 0, writable: false, append: false, ...item };
        return [[fd, item.kind, mountOf(item.files), path, offset, writable, append]];
      }),
    load(saved) {
      open = new Map();
      for (const [fd, kind, mount, path, offset, writable, append] of saved) {
        if (kind !== "file" && kind !== "folder") {
          open.set(fd, { kind });
          continue;
        }
        const files = mounts[mount]?.files;
        const node = files?.find(path);
        if (!files || node?.kind !== kind) continue;
        if (node.kind === "folder") open.set(fd, { kind: "folder", files, node });
        else open.set(fd, { kind: "file", files, node, offset, writable, append });
      }
    },
  };
}
