import { cut, plural } from "../lines.ts";
import type { Digest } from "../types.ts";

export interface Failure {
  name: string;
  place?: string | undefined;
  /** What was said about it, a line each. */
  message: string[];
}

export interface TestReport {
  /** The runner's own count. */
  readonly summary: string;
  readonly failures: readonly Failure[];
  /** What went wrong outside of any test. */
  readonly troubles?: readonly string[];
}

const SHOWN = 10;
/** Characters of a report: some 270 tokens. Names and places come first, what was said shares the rest. */
const ROOM = 800;
/** A name may be so long, however many there are. */
const MIN_NAME = 40;

/** The count, then each failure: its name, its place, what it said. What all names begin with is said once. */
export function renderTests({ summary, failures, troubles = [] }: TestReport): Digest {
  const shown = failures.slice(0, SHOWN);
  const shared = sharedStart(shown.map(({ name }) => name));
  const longest = Math.max(MIN_NAME, Math.floor((ROOM * 0.5) / Math.max(1, shown.length)));
  const named = (name: string) => middleCut(name.slice(shared.length), longest);
  const names = shown.reduce((sum, { name, place = "" }) => sum + named(name).length + place.length + 6, 0);
  const each = Math.floor((ROOM - summary.length - shared.length - names) / Math.max(1, shown.length));
  const lines = [
    summary,
    ...(shared === "" ? [] : [`in ${shared.trim()}`]),
    ...shown.map((failure) => rendered(failure, named(failure.name), Math.max(24, Math.min(280, each)))),
  ];
  if (failures.length > SHOWN) lines.push(`and ${plural(failures.length - SHOWN, "more failure")}`);
  lines.push(...troubles.slice(0, 5).map((line) => cut(line, 200)));
  if (troubles.length > 5) lines.push(`and ${plural(troubles.length - 5, "more line")} like these`);
  return { text: lines.join("\n"), match_count: failures.length, covers_stderr: true };
}

function rendered({ name, place, message }: Failure, shown: string, room: number): string {
  const where = place === undefined || place === "" ? "" : ` (${shortPlace(name, place)})`;
  const said = cut(squeezed(message), room);
  return `- ${shown}${where}${said === "" ? "" : `: ${said}`}`;
}

/** A name is told apart by its beginning, which is its file, and by its end. */
function middleCut(name: string, max: number): string {
  if (name.length <= max) return name;
  const head = Math.floor(max * 0.4);
  return `${name.slice(0, head)}…${name.slice(head + 1 - max)}`;
}

/** Up to the last sign that parts a name. */
function sharedStart(names: readonly string[]): string {
  if (names.length < 3) return "";
  const [first, ...rest] = names as [string, ...string[]];
  let length = first.length;
  for (const name of rest) while (!name.startsWith(first.slice(0, length))) length--;
  const end = /^.*(?:::| > |\/| › )/s.exec(first.slice(0, length));
  return end && end[0].length >= 8 ? end[0] : "";
}

/** A place in the file that the name already names is its line. */
function shortPlace(name: string, place: string): string {
  const colon = place.indexOf(":");
  return colon > 0 && name.startsWith(place.slice(0, colon)) ? `line ${place.slice(colon + 1)}` : place;
}

function squeezed(message: readonly string[]): string {
  // That an assertion failed is what a failure is.
  const plain = message.map((line) =>
    line.replace(/\s+/g, " ").replace(/^ ?AssertionError( \[ERR_ASSERTION\])?: (?=\S)/, ""),
  );
  const lines = plain.map((line) => line.trim()).filter((line) => line !== "");
  return [...new Set(lines)].join(" | ");
}

/** Failures from several parts of one log, each test once. */
export interface FailureList {
  readonly all: Failure[];
  add(failure: Failure): Failure;
  /** The first that fits takes what is new; a name that fits none is a failure of its own. */
  merge(failure: Failure, fits: (known: Failure) => boolean): void;
}

export function failureList(): FailureList {
  const all: Failure[] = [];
  return {
    all,
    add(failure) {
      all.push(failure);
      return failure;
    },
    merge(failure, fits) {
      const known = all.find(fits);
      if (!known) {
        all.push(failure);
        return;
      }
      known.place ??= failure.place;
      const said = known.message.join("\n");
      known.message.push(...failure.message.filter((line) => !said.includes(line.replace(/\.{3}$/, ""))));
    },
  };
}

/** `3 failed, 427 passed, 1 skipped`. */
export function counts(parts: Readonly<Record<string, number>>): string {
  const named = Object.entries(parts).filter(([name, count]) => count > 0 || name === "failed");
  return named.map(([name, count]) => `${count} ${name}`).join(", ");
}

/** Without where this machine keeps the project: the file's own name and its folder say enough. */
export function shortPath(path: string): string {
  const plain = path.replace(/^file:\/\//, "");
  return plain.startsWith("/") ? plain.split("/").slice(-2).join("/") : plain.replace(/^\.\//, "");
}
