/** Edits by literal text: the count must match, all or none, every other byte stays. */
import { hash } from "node:crypto";
import { closeSync, constants, type Stats } from "node:fs";
import { Fault } from "../../../base/fault.ts";
import type { Place, SafePath } from "../../../base/path/index.ts";
import { visible } from "../../../base/text.ts";
import {
  type Call,
  type ChangeDeps,
  changedOutside,
  hasChanged,
  locked,
  openSeen,
  present,
  readWhole,
  replaceFile,
  writePlace,
} from "../change.ts";
import { readIntoSync } from "../io.ts";
import { isCrlf, mismatch, refuseOther } from "../write.ts";
import { applyEdits, checkEdits, type Edit } from "./apply.ts";
import { shortDiff } from "./diff.ts";

export type { Edit } from "./apply.ts";

export interface EditOptions {
  readonly expected_sha256?: string | undefined;
  readonly dry_run: boolean;
}

export interface Edited {
  readonly replacements: number;
  readonly new_sha256: string;
  readonly diff: string;
  /** Set when new text brought bare \n into a file of CRLF lines. */
  readonly mixed_line_endings?: true;
}

/** A file touched this shortly before it was read may change again within one tick of its time stamp. */
const TICK_MS = 50;

export async function editText(
  deps: ChangeDeps,
  path: SafePath,
  edits: readonly Edit[],
  options: EditOptions,
  call: Call,
): Promise<Edited> {
  checkEdits(edits);
  if (options.dry_run) {
    using here = writePlace(deps.roots, path);
    return (await edited(here, edits, options, call)).answer();
  }
  return locked(deps, path, call, async (here, hold) => {
    const { answer, before, after, seen, read_ms } = await edited(here, edits, options, call);
    if (after.equals(before)) return answer();
    let result: Edited | undefined;
    await replaceFile(deps, here, hold, {
      bytes: after,
      seen,
      meanwhile: () => {
        result = answer();
      },
      check: () => {
        // A change in the same tick leaves size and time as they were: then only the bytes tell.
        const isRecent = seen.mtimeMs > read_ms - TICK_MS;
        if (hasChanged(here, seen) || (isRecent && !before.equals(readAgain(here, seen)))) throw changedOutside(here);
      },
    });
    return result ?? answer();
  });
}

async function edited(here: Place, edits: readonly Edit[], options: EditOptions, call: Call) {
  const seen = present(here);
  if (!seen && options.expected_sha256 !== undefined) throw mismatch(here, "does not exist");
  if (!seen)
    throw new Fault("file_not_found", `No such file: ${visible(here.shown)}`, { hint: "Make it with linux_fs_write." });
  const read_ms = Date.now();
  const before = await readWhole(here, seen, call.signal);
  if (options.expected_sha256 !== undefined) refuseOther(here, hash("sha256", before), options.expected_sha256);
  const { shown } = here;
  const applied = applyEdits(before, edits);
  if ("places" in applied) {
    // Loaded only now: most edits fit.
    const { mismatchFault } = await import("./mismatch.ts");
    throw mismatchFault(shown, applied, edits.length);
  }
  const { bytes: after, replacements, changes } = applied;
  const answer = (): Edited => {
    const mixes = edits.some((edit) => /(^|[^\r])\n/.test(edit.new_text)) && isCrlf(before);
    return {
      replacements,
      new_sha256: hash("sha256", after),
      diff: shortDiff(shown, before, after, changes),
      ...(mixes ? { mixed_line_endings: true as const } : {}),
    };
  };
  return { answer, before, after, seen, read_ms };
}

function readAgain(here: Place, seen: Stats): Buffer {
  const fd = openSeen(here, seen, constants.O_RDONLY);
  try {
    return readIntoSync(fd, Buffer.allocUnsafe(seen.size), 0);
  } finally {
    closeSync(fd);
  }
}
