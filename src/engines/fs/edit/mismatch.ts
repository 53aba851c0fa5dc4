import { diffChars } from "diff";
import { Fault } from "../../../base/fault.ts";
import { visible } from "../../../base/text.ts";
import { countNewlines } from "../line-index.ts";
import type { Mismatch } from "./apply.ts";
import { type Closest, closestPlace } from "./closest.ts";

const MAX_SHOWN_CHARS = 1200;
const MAX_LISTED_LINES = 10;
const DIFF_MS = 40;

/** Why an edit does not fit, in a way that lets the next one fit. */
export function mismatchFault(shown: string, mismatch: Mismatch, count: number): Fault {
  const which = count > 1 ? ` (edit ${mismatch.number + 1} of ${count})` : "";
  const subject = `${visible(shown)}${which}`;
  return mismatch.places.length > 0 ? miscounted(subject, mismatch) : missing(subject, mismatch);
}

function miscounted(subject: string, { bytes, edit, places }: Mismatch): Fault {
  const lines = places.slice(0, MAX_LISTED_LINES).map((place) => countNewlines(bytes, 0, place) + 1);
  const more = places.length > lines.length ? ", ..." : "";
  const times = places.length === 1 ? "once" : `${places.length} times`;
  return new Fault(
    "edit_mismatch",
    `old_text stands ${times} in ${subject}, at line ${lines.join(", ")}${more}; expected ${edit.expected_replacements}. Nothing was changed.`,
    { hint: `Add lines around it to old_text, or set expected_replacements to ${places.length}.` },
  );
}

function missing(subject: string, { bytes, edit }: Mismatch): Fault {
  const text = bytes.toString("utf8");
  const closest = closestPlace(text, edit.old_text);
  const start = `old_text was not found in ${subject}. Nothing was changed.`;
  if (!closest)
    return new Fault("edit_mismatch", `${start} Nothing in the file is like it.`, { hint: "Read the file again." });
  const cause = closest.cause === undefined ? "" : ` Cause: ${CAUSES[closest.cause]}.`;
  const last = closest.line + closest.text.split("\n").length - 1;
  const where = last > closest.line ? `lines ${closest.line}-${last}` : `line ${closest.line}`;
  return new Fault(
    "edit_mismatch",
    `${start}${cause} Closest: ${where}, [-only in old_text-] {+only in the file+}:\n${compared(edit.old_text, closest)}`,
    {
      hint: "Send old_text as it stands in the file.",
    },
  );
}

const CAUSES = {
  line_endings: "line endings (one has \\r\\n where the other has \\n)",
  escapes: "escapes (one has a backslash sequence or entity where the other has the character itself)",
  whitespace: "whitespace",
  case: "upper and lower case",
};

/** The place in the file, numbered, with the characters that differ marked. */
function compared(old_text: string, closest: Closest): string {
  const parts = diffChars(clipped(old_text), clipped(closest.text), { timeout: DIFF_MS }) ?? [
    { value: clipped(closest.text), added: false, removed: false },
  ];
  const marked = parts.map(mark).join("");
  let line = closest.line - 1;
  return clipped(marked)
    .split("\n")
    .map((text) => `${++line}: ${text}`)
    .join("\n");
}

/** In a mark, what cannot be seen is spelled out. A line break of the file still breaks the line: numbers stay true. */
function mark(part: { value: string; added: boolean; removed: boolean }): string {
  if (part.removed) return `[-${visible(part.value)}-]`;
  if (part.added) return `{+${part.value.split("\n").map(visible).join("\\n+}\n{+")}+}`;
  return part.value;
}

function clipped(text: string): string {
  return text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}...` : text;
}
