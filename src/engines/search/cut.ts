import type { LineRecord } from "./records.ts";

const MARK = "…";

/** Bytes to keep of a line so that `max_chars` characters around a match can be shown. */
export function windowFor(max_chars: number): { readonly before: number; readonly after: number } {
  return { before: max_chars * 4, after: max_chars * 4 };
}

/** A line for reading: without its line end, and when it is long, cut around the match with a mark on each cut side. */
export function shownLine(record: LineRecord, max_chars: number): string {
  const isWhole = record.from === 0 && record.text.length === record.length;
  const text = decoded(record);
  if (isWhole && text.length <= max_chars) return text;
  const at = record.match <= record.from ? 0 : record.text.toString("utf8", 0, record.match - record.from).length;
  const start = Math.max(0, Math.min(at - Math.floor(max_chars / 3), text.length - max_chars));
  const part = text.slice(start, start + max_chars).toWellFormed();
  const cutBefore = start > 0 || record.from > 0;
  const cutAfter = start + max_chars < text.length || record.from + record.text.length < record.length;
  return `${cutBefore ? MARK : ""}${part}${cutAfter ? MARK : ""}`;
}

function decoded(record: LineRecord): string {
  const text = record.text.toString();
  return text.endsWith("\r") ? text.slice(0, -1) : text;
}
