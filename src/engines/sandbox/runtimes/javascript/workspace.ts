import type { JSValueHandle, QuickJS } from "quickjs-wasi";
import { type Files, FilesError, type FolderNode, type Node } from "../files.ts";

/** The workspace as a program in the guest asks for it. Paths are relative to /workspace; outside of it there is nothing. */
export function createFileCalls(
  vm: QuickJS,
  files: Files,
): (op: string, path: string, more: JSValueHandle | undefined) => JSValueHandle {
  const inside = (path: string): string => {
    if (!path.startsWith("/")) return path;
    if (path === "/workspace" || path.startsWith("/workspace/")) return path.slice("/workspace".length);
    throw new FilesError("ENOENT", `${path} (only /workspace is there)`);
  };
  const node = (path: string): Node => {
    const found = files.find(inside(path));
    if (!found) throw new FilesError("ENOENT", `no such file or directory, '${path}'`);
    return found;
  };
  const file = (path: string) => {
    const found = node(path);
    if (found.kind === "folder") throw new FilesError("EISDIR", path);
    return found;
  };
  const given = (more: JSValueHandle | undefined): Uint8Array =>
    more === undefined ? new Uint8Array(0) : more.isString ? Buffer.from(more.toString()) : more.toUint8Array();

  function makeFolders(path: string): void {
    let at = "";
    for (const name of inside(path).split("/").filter(Boolean)) {
      at += `/${name}`;
      if (files.find(at)?.kind !== "folder") files.mkdir(at);
    }
  }
  function removeAll(path: string): void {
    const found = node(path);
    if (found.kind === "folder")
      for (const name of [...(found as FolderNode).entries.keys()]) removeAll(`${path}/${name}`);
    files.remove(inside(path), found.kind);
  }

  return (op, path, more) => {
    switch (op) {
      case "text":
        return vm.newString(Buffer.from(contents(file(path))).toString("utf8"));
      case "bytes":
        return vm.newUint8Array(contents(file(path)));
      case "write": {
        const bytes = given(more);
        const target = files.create(inside(path));
        files.resize(target, 0);
        files.write(target, 0, bytes);
        return vm.undefined;
      }
      case "append": {
        const target = files.create(inside(path));
        files.write(target, target.size, given(more));
        return vm.undefined;
      }
      case "stat": {
        const found = path.startsWith("/") && !path.startsWith("/workspace") ? undefined : files.find(inside(path));
        if (!found) return vm.newString("");
        const bytes = found.kind === "file" ? found.size : 0;
        return vm.newString(JSON.stringify({ bytes, mtime_ms: found.mtime_ms, folder: found.kind === "folder" }));
      }
      case "list": {
        const found = node(path);
        if (found.kind !== "folder") throw new FilesError("ENOTDIR", path);
        return vm.newString(JSON.stringify([...found.entries.keys()].sort()));
      }
      case "mkdir":
        files.mkdir(inside(path));
        return vm.undefined;
      case "mkdirs":
        makeFolders(path);
        return vm.undefined;
      case "unlink":
        files.remove(inside(path), "file");
        return vm.undefined;
      case "rmdir":
        files.remove(inside(path), "folder");
        return vm.undefined;
      case "remove":
        removeAll(path);
        return vm.undefined;
      case "rename":
        files.rename(inside(path), inside(more?.toString() ?? ""));
        return vm.undefined;
      default:
        throw new FilesError("EINVAL", op);
    }
  };
}

function contents(found: { data: Uint8Array; size: number }): Uint8Array {
  return found.data.subarray(0, found.size);
}
