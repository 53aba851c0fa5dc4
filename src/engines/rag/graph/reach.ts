import type { FileInfo } from "./definition.ts";
import { moduleOf } from "./modules.ts";
import type { View } from "./view.ts";

const MAX_REACH = 2_000;

/** Every file whose names one gets by including it, and by what that includes in turn, so deep. */
export function createReach(view: View, depth: number): (file: FileInfo) => ReadonlySet<number> {
  const includes = new Map<number, readonly FileInfo[]>();

  function includesOf(file: FileInfo): readonly FileInfo[] {
    let found = includes.get(file.id);
    if (!found) {
      const stars = view.links(file).imports.filter((one) => one.name === "**");
      includes.set(file.id, (found = stars.flatMap((one) => moduleOf(view, file, one.module)?.files ?? [])));
    }
    return found;
  }

  function reach(file: FileInfo): ReadonlySet<number> {
    const reached = new Set<number>();
    let frontier: readonly FileInfo[] = [file];
    for (let step = 0; step <= depth && reached.size < MAX_REACH; step++) {
      const next: FileInfo[] = [];
      for (const from of frontier)
        for (const found of includesOf(from)) {
          if (reached.has(found.id)) continue;
          reached.add(found.id);
          next.push(found);
        }
      frontier = next;
    }
    return reached;
  }

  return (file) => view.once(`reach ${file.id}`, () => reach(file));
}
