export interface FileNode {
  readonly kind: "file";
  readonly ino: number;
  data: Uint8Array;
  size: number;
  mtime_ms: number;
}

export interface FolderNode {
  readonly kind: "folder";
  readonly ino: number;
  readonly entries: Map<string, Node>;
  mtime_ms: number;
}

export type Node = FileNode | FolderNode;

/** Nothing for a path that leads out at the top: there is nothing above. */
export function parts(path: string): string[] | undefined {
  const names: string[] = [];
  for (const name of path.split("/")) {
    if (name === "" || name === ".") continue;
    if (name !== "..") names.push(name);
    else if (names.pop() === undefined) return undefined;
  }
  return names;
}

/** Whether a node is a folder or lies below it. */
export function holds(folder: FolderNode, node: Node): boolean {
  if (folder === node) return true;
  for (const child of folder.entries.values()) if (child.kind === "folder" && holds(child, node)) return true;
  return false;
}

/** Everything below a folder, folders before what is in them. */
export function* walk(folder: FolderNode, prefix: string): Generator<{ path: string; node: Node }> {
  for (const [name, node] of folder.entries) {
    yield { path: `${prefix}${name}`, node };
    if (node.kind === "folder") yield* walk(node, `${prefix}${name}/`);
  }
}
