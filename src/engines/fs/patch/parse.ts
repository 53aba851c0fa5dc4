import { Fault } from "../../../base/fault.ts";

/**
 * Text of patches and files is handled as one character a byte (latin1), so that bytes which are no UTF-8 come through
 * as they are. Only paths and reasons are turned into real text.
 */
export type ByteText = string;

export interface HunkLine {
  readonly op: " " | "-" | "+";
  /** With its line ending, unless the patch says that there is none. */
  readonly text: ByteText;
}

export interface Hunk {
  /** Where the patch thinks it belongs, from 1; undefined when it does not say. */
  readonly old_start: number | undefined;
  readonly lines: HunkLine[];
}

export interface FilePatch {
  /** Undefined when the file is to be made. */
  old_path: string | undefined;
  /** Undefined when the file is to be deleted. */
  new_path: string | undefined;
  is_copy: boolean;
  executable: boolean | undefined;
  /** Why this cannot be done at all, if so. */
  refused: string | undefined;
  readonly hunks: Hunk[];
}

const MAX_FILES = 1000;
const HUNK = /^@@(?: -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))?)? ?@@/;

/** A unified diff of one or many files, as diff, git and models write it. */
export function parsePatch(text: string): FilePatch[] {
  const lines = bytesOf(text).split("\n");
  // A patch that was sent through a text channel may have got \r everywhere, in its headers too.
  if (lines.some((line) => line.startsWith("@@") && line.endsWith("\r")))
    lines.forEach((line, index) => {
      lines[index] = line.replace(/\r$/, "");
    });
  const files: FilePatch[] = [];
  let file: FilePatch | undefined;
  const begin = (old_path: string | undefined, new_path: string | undefined) => {
    file = { old_path, new_path, is_copy: false, executable: undefined, refused: undefined, hunks: [] };
    files.push(file);
    if (files.length > MAX_FILES) throw new Fault("invalid_args", `The patch touches more than ${MAX_FILES} files.`);
  };
  for (let at = 0; at < lines.length; ) {
    const line = lines[at]!;
    if (line.startsWith("diff --git ")) {
      begin(...gitPaths(line.slice(11)));
      at++;
    } else if (line.startsWith("--- ") && lines[at + 1]?.startsWith("+++ ")) {
      const [old_path, new_path] = headerPaths(line.slice(4), lines[at + 1]!.slice(4));
      if (!file || file.hunks.length > 0 || !isGitHeader(lines, at)) begin(old_path, new_path);
      else if (!file.is_copy) Object.assign(file, { old_path, new_path });
      at += 2;
    } else if (file && HUNK.test(line)) at = readHunk(lines, at, file);
    else {
      if (file && file.hunks.length === 0) extended(line, file);
      at++;
    }
  }
  const real = files.filter((entry) => entry.old_path !== undefined || entry.new_path !== undefined);
  if (real.length === 0)
    throw new Fault("invalid_args", "patch is no unified diff.", { hint: "It needs ---, +++ and @@ lines." });
  return real;
}

/** Whether the ---/+++ pair belongs to a `diff --git` line above it. */
function isGitHeader(lines: readonly string[], at: number): boolean {
  for (let back = at - 1; back >= 0; back--) {
    if (lines[back]!.startsWith("diff --git ")) return true;
    if (!/^(old mode|new mode|deleted file|new file|copy |rename |similarity|dissimilarity|index )/.test(lines[back]!))
      return false;
  }
  return false;
}

function extended(line: string, file: FilePatch): void {
  const mode = /^(?:new file|new) mode (\d{6})/.exec(line)?.[1];
  if (mode !== undefined) file.executable = mode === "100755";
  if (mode !== undefined && !mode.startsWith("100")) file.refused = "links and submodules are not made by patches";
  if (line.startsWith("new file mode")) file.old_path = undefined;
  if (line.startsWith("deleted file mode")) file.new_path = undefined;
  const named = /^(rename|copy) (from|to) (.*)$/.exec(line);
  if (named) {
    file.is_copy = named[1] === "copy";
    if (named[2] === "from") file.old_path = unquoted(named[3]!);
    else file.new_path = unquoted(named[3]!);
  }
  if (line.startsWith("GIT binary patch") || line.startsWith("Binary files "))
    file.refused = "binary patches are not supported";
}

/** Reads by the counts of the header where they are right; models often miscount, so lines that clearly go on are taken too. */
function readHunk(lines: readonly string[], start: number, file: FilePatch): number {
  const [, old_start, old_count, , new_count] = HUNK.exec(lines[start]!)!;
  let olds = old_start === undefined ? Number.POSITIVE_INFINITY : Number(old_count ?? 1);
  let news = old_start === undefined ? Number.POSITIVE_INFINITY : Number(new_count ?? 1);
  const hunk: Hunk = { old_start: old_start === undefined ? undefined : Number(old_start), lines: [] };
  file.hunks.push(hunk);
  let at = start + 1;
  for (; at < lines.length; at++) {
    const line = lines[at]!;
    const op = line[0];
    const isDue = olds > 0 || news > 0;
    if (op === "\\") {
      const last = hunk.lines.pop();
      if (last) hunk.lines.push({ op: last.op, text: last.text.replace(/\n$/, "") });
      continue;
    }
    if (line === "" && at === lines.length - 1) break;
    if (line === "" && isDue && goesOn(lines, at)) push(" ", "");
    else if (op === " " || op === "+" || op === "-") {
      if (startsFile(lines, at, isDue, olds === 1 && news === 1) || (!isDue && line === "-- ")) break;
      push(op, line.slice(1));
    } else break;
  }
  return at;

  function push(op: " " | "-" | "+", text: string): void {
    hunk.lines.push({ op, text: `${text}\n` });
    if (op !== "+") olds--;
    if (op !== "-") news--;
  }
}

/** A removed `-- x` and an added `++ y` look like the header of a file: they are lines only where the count leaves room for just these two. */
function startsFile(lines: readonly string[], at: number, isDue: boolean, isRoomForTwo: boolean): boolean {
  const isPair = lines[at]!.startsWith("--- ") && (lines[at + 1]?.startsWith("+++ ") ?? false);
  return isPair && (!isDue || ((lines[at + 2]?.startsWith("@@") ?? false) && !isRoomForTwo));
}

/** An empty line inside a hunk is a context line whose one blank got lost. */
function goesOn(lines: readonly string[], at: number): boolean {
  const next = lines[at + 1];
  return next !== undefined && (next === "" || /^[-+ \\]/.test(next));
}

function headerPaths(before: string, after: string): [string | undefined, string | undefined] {
  const old = headerPath(before);
  const next = headerPath(after);
  const isPrefixed = (old === undefined || old.startsWith("a/")) && (next === undefined || next.startsWith("b/"));
  return isPrefixed ? [old?.slice(2), next?.slice(2)] : [old, next];
}

/** Without the time stamp that diff puts behind a tab. */
function headerPath(text: string): string | undefined {
  const path = text.startsWith('"') ? unquoted(text) : textOf(text.split("\t")[0]!.replace(/\r$/, ""));
  return path === "/dev/null" ? undefined : path;
}

/** `a/x b/x`: the names are equal here, or other lines say what they are. */
function gitPaths(text: string): [string | undefined, string | undefined] {
  const quoted = /^("(?:[^"\\]|\\.)*"|\S+) ("(?:[^"\\]|\\.)*")$/.exec(text);
  if (quoted) return [unquoted(quoted[1]!).slice(2), unquoted(quoted[2]!).slice(2)];
  const half = (text.length - 1) / 2;
  const [old, next] = [text.slice(0, half), text.slice(half + 1)];
  if (old.slice(2) === next.slice(2)) return [textOf(old.slice(2)), textOf(next.slice(2))];
  const words = text.split(" b/");
  return [textOf(words[0]!.slice(2)), textOf(words.at(-1)!)];
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", a: "\x07", b: "\b", f: "\f", v: "\v" };

/** git quotes odd names as C strings with octal bytes. */
function unquoted(text: string): string {
  if (!text.startsWith('"')) return textOf(text);
  const inner = text.slice(1, text.lastIndexOf('"'));
  return textOf(
    inner.replace(/\\([0-7]{3}|.)/g, (_, code: string) =>
      code.length === 3 ? String.fromCharCode(Number.parseInt(code, 8)) : (ESCAPES[code] ?? code),
    ),
  );
}

export function bytesOf(text: string): ByteText {
  return Buffer.from(text, "utf8").toString("latin1");
}

export function textOf(bytes: ByteText): string {
  return Buffer.from(bytes, "latin1").toString("utf8");
}
