import { Fault } from "../../../base/fault.ts";

export interface Edit {
  readonly old_text: string;
  readonly new_text: string;
  readonly expected_replacements: number;
}

/** A stretch of the old bytes and the stretch of the new bytes that stands in its place. */
export interface Change {
  readonly old_start: number;
  readonly old_end: number;
  readonly new_start: number;
  readonly new_end: number;
}

export interface Applied {
  readonly bytes: Buffer;
  readonly replacements: number;
  /** Disjoint and in order. */
  readonly changes: readonly Change[];
}

/** An edit that does not fit. */
export interface Mismatch {
  /** The text as the edits before it left it. */
  readonly bytes: Buffer;
  readonly edit: Edit;
  /** From 0. */
  readonly number: number;
  /** Where its old text was found. */
  readonly places: readonly number[];
}

/** One edit after the other, each on what the one before left. Bytes outside the places are never looked at, so they stay what they are. */
export function applyEdits(original: Buffer, edits: readonly Edit[]): Applied | Mismatch {
  let bytes = original;
  let changes: Change[] = [];
  let replacements = 0;
  for (const [number, edit] of edits.entries()) {
    const old = Buffer.from(edit.old_text);
    const next = Buffer.from(edit.new_text);
    const places = placesOf(bytes, old);
    if (places.length !== edit.expected_replacements) return { bytes, edit, number, places };
    bytes = replaced(bytes, places, old.length, next);
    changes = composed(changes, changesAt(places, old.length, next.length));
    replacements += places.length;
  }
  return { bytes, replacements, changes };
}

/** Where the text stands, from the left, without overlaps. */
export function placesOf(bytes: Buffer, text: Buffer): number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + text.length)) places.push(at);
  return places;
}

function replaced(bytes: Buffer, places: readonly number[], old_length: number, next: Buffer): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  for (const place of places) {
    parts.push(bytes.subarray(at, place), next);
    at = place + old_length;
  }
  parts.push(bytes.subarray(at));
  return Buffer.concat(parts);
}

function changesAt(places: readonly number[], old_length: number, new_length: number): Change[] {
  return places.map((place, index) => {
    const new_start = place + index * (new_length - old_length);
    return { old_start: place, old_end: place + old_length, new_start, new_end: new_start + new_length };
  });
}

/** Two rounds of changes as one: what they touch in the text between them, seen from before the first and after the second. */
function composed(first: readonly Change[], second: readonly Change[]): Change[] {
  if (first.length === 0) return [...second];
  const touched = joined([
    ...first.map((change) => [change.new_start, change.new_end] as const),
    ...second.map((change) => [change.old_start, change.old_end] as const),
  ]);
  let i = 0;
  let j = 0;
  let before = 0;
  let after = 0;
  return touched.map(([start, end]) => {
    const old_start = start + before;
    const new_start = start + after;
    for (; i < first.length && first[i]!.new_start <= end; i++) before = first[i]!.old_end - first[i]!.new_end;
    for (; j < second.length && second[j]!.old_start <= end; j++) after = second[j]!.new_end - second[j]!.old_end;
    return { old_start, old_end: end + before, new_start, new_end: end + after };
  });
}

/** Stretches in order; those that touch become one. */
function joined(stretches: (readonly [number, number])[]): [number, number][] {
  const result: [number, number][] = [];
  for (const [start, end] of stretches.sort((a, b) => a[0] - b[0])) {
    const last = result.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else result.push([start, end]);
  }
  return result;
}

export function checkEdits(edits: readonly Edit[]): void {
  for (const edit of edits) {
    if (edit.old_text === "")
      throw new Fault("invalid_args", "old_text is empty.", { hint: "To fill or make a file use linux_fs_write." });
    if (!edit.old_text.isWellFormed() || !edit.new_text.isWellFormed())
      throw new Fault("invalid_args", "The text holds half of a surrogate pair.");
  }
}
