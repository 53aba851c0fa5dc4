import { createHash, hash } from "node:crypto";
import { closeSync, constants, fstatSync, ftruncateSync, type Stats } from "node:fs";
import { Fault } from "../../base/fault.ts";
import type { Place, SafePath } from "../../base/path/index.ts";
import { visible } from "../../base/text.ts";
import {
  type Call,
  type ChangeDeps,
  changedOutside,
  hasChanged,
  locked,
  openSeen,
  present,
  replaceFile,
  writeAll,
  writeFault,
  writePlace,
} from "./change.ts";
import { readInto, readIntoSync, synced } from "./io.ts";
import { refOf } from "./journal/index.ts";
import { CLASSES, classOf } from "./locks/classes.ts";
import type { Hold } from "./locks/index.ts";

export interface WriteOptions {
  readonly mode: "rewrite" | "append";
  /** The file must exist and have this hash. */
  readonly expected_sha256?: string | undefined;
}

export interface Written {
  readonly bytes_written: number;
  readonly new_sha256: string;
  /** Set when \n was written as \r\n, because every line of the file ended so. */
  readonly line_endings?: "crlf";
}

const STYLE_BYTES = 64 * 1024;
const HASH_STEP = 1024 * 1024;
const BOM = Buffer.from("\ufeff");

/** Writes or appends text. Mode, owner, byte order mark and CRLF endings of the file that was there are kept. */
export async function writeText(
  deps: ChangeDeps,
  path: SafePath,
  content: string,
  options: WriteOptions,
  call: Call,
): Promise<Written> {
  if (!content.isWellFormed())
    throw new Fault("invalid_args", "content holds half of a surrogate pair: it is no text.");
  if (options.mode === "rewrite" && isThereAlready(deps, path, content)) return written(Buffer.from(content), content);
  return locked(deps, path, call, (here, hold) => {
    const seen = present(here);
    if (options.expected_sha256 !== undefined && !seen) throw mismatch(here, "does not exist");
    if (options.mode === "append" && seen) return append(deps, here, hold, seen, content, options, call);
    return rewrite(deps, here, hold, seen, content, options, call);
  });
}

async function rewrite(
  deps: ChangeDeps,
  here: Place,
  hold: Hold,
  seen: Stats | undefined,
  content: string,
  options: WriteOptions,
  call: Call,
): Promise<Written> {
  let text = content;
  if (seen) {
    const fd = openSeen(here, seen, constants.O_RDONLY);
    try {
      const style = styleOf(fd, seen.size);
      text = styled(content, style);
      if (style.has_bom && !text.startsWith("\ufeff")) text = `\ufeff${text}`;
      if (options.expected_sha256 !== undefined)
        refuseOther(here, (await hashOf(fd, seen.size, call.signal)).digest("hex"), options.expected_sha256);
    } finally {
      closeSync(fd);
    }
  }
  const bytes = Buffer.from(text);
  // Without a precondition the caller asked for this content whatever is there.
  const check = options.expected_sha256 === undefined ? undefined : () => refuseChanged(here, seen);
  let result: Written | undefined;
  const meanwhile = () => {
    result = written(bytes, content);
  };
  await replaceFile(deps, here, hold, { bytes, seen, meanwhile, ...(check ? { check } : {}) });
  return result!;
}

/** In place, so that whoever follows the file goes on; the journal knows where it ended before. */
async function append(
  deps: ChangeDeps,
  here: Place,
  hold: Hold,
  seen: Stats,
  content: string,
  options: WriteOptions,
  call: Call,
): Promise<Written> {
  const fd = openSeen(here, seen, constants.O_RDWR | constants.O_APPEND);
  try {
    const sum = await hashOf(fd, seen.size, call.signal);
    if (options.expected_sha256 !== undefined) refuseOther(here, sum.copy().digest("hex"), options.expected_sha256);
    const bytes = Buffer.from(styled(content, styleOf(fd, seen.size)));
    const deed = {
      kind: "append",
      dir: refOf(here.dir),
      name: here.name,
      ino: seen.ino,
      size: seen.size,
      length: bytes.length,
    } as const;
    const id = await deps.journal.begin(hold, "staged", [deed], bytes);
    try {
      await hold.commit(() => {
        refuseChanged(here, seen);
        writeAtEnd(fd, bytes, seen.size);
      }, id);
    } catch (error) {
      await deps.journal.end(id);
      throw writeFault(here.shown, error);
    }
    await synced(fd);
    return { ...written(bytes, content), new_sha256: sum.update(bytes).digest("hex") };
  } finally {
    closeSync(fd);
  }
}

function writeAtEnd(fd: number, bytes: Uint8Array, size: number): void {
  try {
    writeAll(fd, bytes);
  } catch (error) {
    if (fstatSync(fd).size <= size + bytes.length) ftruncateSync(fd, size);
    throw error;
  }
}

function written(bytes: Buffer, asked: string): Written {
  const grown = bytes.includes("\r\n") && !asked.includes("\r");
  return {
    bytes_written: bytes.length,
    new_sha256: hash("sha256", bytes),
    ...(grown ? { line_endings: "crlf" as const } : {}),
  };
}

/** Writing again what is there already needs no turn, in the class where that is the rule. */
function isThereAlready(deps: ChangeDeps, path: SafePath, content: string): boolean {
  // By its letters first: most files are of no such class, and need not be looked for twice.
  if (!CLASSES[classOf(path.abs)].skips_same) return false;
  using here = writePlace(deps.roots, path);
  if (!CLASSES[classOf(here.real)].skips_same) return false;
  const seen = present(here);
  const bytes = Buffer.from(content);
  if (seen?.size !== bytes.length) return false;
  const fd = openSeen(here, seen, constants.O_RDONLY);
  try {
    return readIntoSync(fd, Buffer.allocUnsafe(seen.size), 0).equals(bytes);
  } finally {
    closeSync(fd);
  }
}

interface Style {
  readonly has_bom: boolean;
  /** Every line that could be seen ends in CRLF. */
  readonly is_crlf: boolean;
}

function styleOf(fd: number, size: number): Style {
  const head = readIntoSync(fd, Buffer.allocUnsafe(Math.min(size, STYLE_BYTES)), 0);
  return { has_bom: head.subarray(0, 3).equals(BOM), is_crlf: isCrlf(head) };
}

export function isCrlf(bytes: Buffer): boolean {
  let newline = bytes.indexOf(10);
  if (newline < 0) return false;
  for (; newline >= 0; newline = bytes.indexOf(10, newline + 1)) if (bytes[newline - 1] !== 13) return false;
  return true;
}

/** Text with bare \n takes the endings of the file; text that has \r itself is meant as it is. */
function styled(content: string, style: Style): string {
  return style.is_crlf && !content.includes("\r") ? content.replaceAll("\n", "\r\n") : content;
}

async function hashOf(fd: number, size: number, signal: AbortSignal): Promise<ReturnType<typeof createHash>> {
  const sum = createHash("sha256");
  const step = Buffer.allocUnsafe(Math.min(size, HASH_STEP));
  for (let at = 0; at < size; ) {
    signal.throwIfAborted();
    const read = await readInto(fd, step.subarray(0, Math.min(step.length, size - at)), at, signal);
    if (read.length === 0) break;
    sum.update(read);
    at += read.length;
  }
  return sum;
}

/** The short form of a hash that answers to a model carry is enough to tell one version from another. */
const SHORT_HASH = 12;

export function refuseOther(here: { readonly shown: string }, actual: string, expected: string): void {
  const wanted = expected.trim().toLowerCase();
  if (wanted.length < SHORT_HASH || !actual.startsWith(wanted))
    throw mismatch(here, "has another sha256 than expected");
}

export function refuseChanged(here: Place, seen: Stats | undefined): void {
  if (hasChanged(here, seen)) throw changedOutside(here);
}

export function mismatch(here: { readonly shown: string }, what: string): Fault {
  return new Fault("sha_mismatch", `${visible(here.shown)} ${what}; nothing was written.`, {
    hint: "Read it again, then repeat.",
  });
}
