import * as z from "zod";

/** A count whose bounds are checked and not told: models guess them well, and every conversation would pay for them. */
export const upTo = (most: number) => z.int().refine((count) => count >= 1 && count <= most, `It is 1 to ${most}.`);

/** A page of uses. */
export const LIMIT = 50;

/** What rag_where_used and rag_lineage answer with. */
export const graphAnswer = () =>
  z.object({
    symbol: z.string(),
    total: z.int(),
    items: z.array(graphItem()),
    cursor: z.string().optional(),
    note: z.string().optional(),
  });

export const graphItem = () =>
  z.object({
    symbol: z.string(),
    path: z.string(),
    line: z.int(),
    kind: z.enum(["call", "import", "type", "inherit", "write", "read", "word"]),
    confidence: z.number(),
    hop: z.int(),
  });

type Answer = z.output<ReturnType<typeof graphAnswer>>;

/** A line for each use; a path is told once for those that follow each other. */
export function leanItems({ items, symbol: _, ...head }: Answer) {
  let path = "";
  const lines = items.map((item) => {
    const place = item.path === path ? `  :${item.line}` : `${item.path}:${item.line}`;
    path = item.path;
    const far = item.hop > 1 ? ` hop ${item.hop}` : "";
    return `${place} ${item.kind} in ${item.symbol} ${item.confidence}${far}`;
  });
  return { head, body: lines.join("\n") };
}
