import type { DefRow } from "./definition.ts";
import type { View } from "./view.ts";

/** What somebody means by a symbol: its last name, and the definitions that fit. */
export interface Named {
  readonly name: string;
  readonly defs: readonly DefRow[];
}

/** `clamp`, `Router.match`, `Router::match`, `src/math.ts:clamp`, `src/math.ts#clamp`, `src/math.ts:12`. */
export function findSymbol(view: View, text: string): Named {
  const trimmed = text.trim().replace(/\(\)?$/, "");
  const placed = /^(.+?)[:#](?:L?(\d+)|([\w$.:#>-]+))$/.exec(trimmed);
  const file = placed && (view.fileAt(placed[1]!.replace(/^\.\//, "")) ?? undefined);
  if (file && placed?.[2] !== undefined) {
    const line = Number(placed[2]);
    const around = view.defsOf(file).filter((one) => one.line <= line && line <= one.last);
    const inner = around.reduce<DefRow | undefined>(
      (best, one) => (!best || one.line >= best.line ? one : best),
      undefined,
    );
    return { name: inner?.name ?? trimmed, defs: inner ? [inner] : [] };
  }
  const path = (file ? placed![3]! : trimmed).split(/\.|::|#|->|\//).filter((part) => part !== "");
  const name = path.at(-1) ?? trimmed;
  const qualified = path.join(".");
  const fitting = file
    ? view
        .namedIn(name, [file])
        .filter((one) => one.symbol === qualified || path.length === 1 || one.symbol.endsWith(`.${qualified}`))
    : view.namedAs(name, qualified);
  return { name, defs: [...fitting].sort(byPlace) };
}

/** What is a source and stands at the top of its file comes first. */
function byPlace(a: DefRow, b: DefRow): number {
  const weight = (def: DefRow) => (def.file.kind === "source" ? 0 : 2) + (def.owner === "" ? 0 : 1);
  return weight(a) - weight(b) || (a.file.path < b.file.path ? -1 : a.file.path > b.file.path ? 1 : a.line - b.line);
}

export function keyOf(def: DefRow): string {
  return `${def.file.id} ${def.symbol}`;
}
