import { cargoTest } from "./enrich/cargo-test.ts";
import { eslint } from "./enrich/eslint.ts";
import { gcc } from "./enrich/gcc.ts";
import { git } from "./enrich/git.ts";
import { goTest } from "./enrich/go-test.ts";
import { grep } from "./enrich/grep.ts";
import { jest } from "./enrich/jest.ts";
import { junit } from "./enrich/junit.ts";
import { listing } from "./enrich/listing.ts";
import { nodeTest } from "./enrich/node-test.ts";
import { npm } from "./enrich/npm.ts";
import { outline } from "./enrich/outline.ts";
import { pip } from "./enrich/pip.ts";
import { plain } from "./enrich/plain.ts";
import { pytest } from "./enrich/pytest.ts";
import { ruff } from "./enrich/ruff.ts";
import { rustc } from "./enrich/rustc.ts";
import { tap } from "./enrich/tap.ts";
import { tsc } from "./enrich/tsc.ts";
import { vitest } from "./enrich/vitest.ts";
import { bothStreams, cut, linesOf, plainText } from "./lines.ts";
import type { Digest, Enrich, Ran } from "./types.ts";

/** By what the program is: its output says little about itself. */
const BY_NAME: Readonly<Record<string, Enrich>> = {
  grep,
  rg,
  egrep: grep,
  fgrep: grep,
  find: listing,
  ls: listing,
  cat: outline,
  head: outline,
  git,
  npm,
  pnpm: npm,
  yarn: npm,
  pip,
  pip3: pip,
  uv: pip,
};

/** By what the output looks like: tests and compilers are run through npm, make and scripts. The surest first. */
const BY_LOOK: readonly (readonly [string, Enrich])[] = [
  ["junit", junit],
  ["pytest", pytest],
  ["vitest", vitest],
  ["jest", jest],
  ["node_test", nodeTest],
  ["cargo_test", cargoTest],
  ["go_test", goTest],
  ["tap", tap],
  ["tsc", tsc],
  ["rustc", rustc],
  ["gcc", gcc],
  ["eslint", eslint],
  ["ruff", ruff],
];

/** Programs that show what is in files: what that looks like is no news about a test run. */
const READERS = new Set([
  "cat",
  "head",
  "tail",
  "sed",
  "jq",
  "diff",
  "sort",
  "grep",
  "egrep",
  "fgrep",
  "rg",
  "find",
  "ls",
  "git",
]);

/** A report this short is read as it is. */
const SHORT = 600;

export interface Shortened {
  readonly stdout: string;
  readonly stderr: string;
  /** Which enricher spoke; undefined: the output is as it was. */
  readonly kind: string | undefined;
  readonly match_count: number | undefined;
}

function rg(ran: Ran, room: number): Digest | undefined {
  return ran.argv.includes("--files") ? listing(ran, room) : grep(ran, room);
}

/** What a model needs of a run, in so many characters. Pure: the same run gives the same digest. */
export function shorten(given: Ran, room: number): Shortened {
  const ran: Ran = { ...given, stdout: plainText(given.stdout), stderr: plainText(given.stderr) };
  const whole: Shortened = { stdout: ran.stdout, stderr: ran.stderr, kind: undefined, match_count: undefined };
  const size = ran.stdout.length + ran.stderr.length;
  if (size <= SHORT) return whole;
  const name = ran.argv[0] ?? "";
  const report = READERS.has(name) ? undefined : look(ran, room);
  if (report && report.digest.text.length < size * 0.8) return finished(ran, report.kind, report.digest, room);
  if (size <= room && !ran.condensed) return whole;
  const own = Object.hasOwn(BY_NAME, name) ? BY_NAME[name]!(ran, room) : undefined;
  if (own && own.text.length < size) return finished(ran, name, own, room);
  const { text } = plain(ran.stdout, room * 0.75, ran.lines);
  return finished(ran, "text", { text: ran.stdout.length <= room * 0.75 ? ran.stdout : text }, room);
}

interface Look {
  readonly kind: string;
  readonly digest: Digest;
}

function look(ran: Ran, room: number): Look | undefined {
  for (const [kind, enrich] of BY_LOOK) {
    const digest = enrich(ran, room);
    if (!digest) continue;
    // A report read from stdout alone leaves stderr to speak for itself.
    const alone = digest.covers_stderr && ran.stderr.trim() !== "" ? enrich({ ...ran, stderr: "" }, room) : undefined;
    return {
      kind,
      digest: { ...doubted(ran, digest), covers_stderr: alone?.text !== digest.text && digest.covers_stderr === true },
    };
  }
  return undefined;
}

/** A runner that counts more failures than were found in its log: its last lines are shown as well. */
function doubted(ran: Ran, digest: Digest): Digest {
  const claimed = Math.max(
    0,
    ...[...digest.text.split("\n", 1)[0]!.matchAll(/(\d+) (?:failed|failures?|errors?)\b/g)].map(([, n]) => Number(n)),
  );
  if (claimed <= (digest.match_count ?? 0)) return digest;
  const end = linesOf(bothStreams(ran))
    .slice(-8)
    .map((line) => cut(line, 200));
  return { ...digest, text: `${digest.text}\nNot every failure was recognised. The log ends:\n${end.join("\n")}` };
}

function finished(ran: Ran, kind: string, digest: Digest, room: number): Shortened {
  const stderr = digest.covers_stderr
    ? ""
    : shortStderr(ran.stderr, Math.min(room / 4, Object.hasOwn(BY_NAME, kind) ? room : 600));
  return { stdout: `${digest.text}\n`, stderr, kind, match_count: digest.match_count };
}

function shortStderr(stderr: string, room: number): string {
  return stderr.length <= room ? stderr : `${plain(stderr, room).text}\n`;
}
