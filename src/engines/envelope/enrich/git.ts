import { cut, fill, folderOf, linesOf, plural, tally } from "../lines.ts";
import type { Digest, Enrich, Ran } from "../types.ts";

/** git log, diff, show, status and blame, each as its short form. */
export const git: Enrich = (ran, room) => {
  const verb = ran.argv.slice(1).find((word, index, words) => !word.startsWith("-") && words[index - 1] !== "-C");
  switch (verb) {
    case "log":
      return log(ran, room);
    case "diff":
      return diff(linesOf(ran.stdout), room);
    case "show":
      return show(ran, room);
    case "status":
      return status(ran, room);
    case "blame":
      return blame(ran, room);
    default:
      return undefined;
  }
};

const COMMIT = /^commit ([0-9a-f]{7,64})/;

function log({ stdout }: Ran, room: number): Digest | undefined {
  const rows: { hash: string; date: string; author: string; subject: string; files: number }[] = [];
  for (const line of linesOf(stdout)) {
    const commit = COMMIT.exec(line);
    const row = rows.at(-1);
    if (commit) rows.push({ hash: commit[1]!.slice(0, 9), date: "", author: "", subject: "", files: 0 });
    else if (!row) return undefined;
    else if (line.startsWith("Author:")) row.author = line.slice(7).replace(/<.*/, "").trim();
    else if (line.startsWith("Date:")) row.date = shortDate(line.slice(5).trim());
    else if (line.startsWith("    ") && row.subject === "") row.subject = line.trim();
    else if (/^(diff --git | .+ \| +\d+ |[AMDRC]\d*\t)/.test(line)) row.files++;
  }
  if (rows.length < 2) return undefined;
  const authors = tally(rows.map(({ author }) => author)).slice(0, 3);
  const head = `${plural(rows.length, "commit")}, ${rows.at(-1)!.date} to ${rows[0]!.date}; ${authors.map(([name, count]) => `${name} ${count}`).join(", ")}`;
  const lines = rows.map(
    ({ hash, date, subject, files }) =>
      `${hash} ${date.slice(5)} ${cut(subject, 100)}${files > 0 ? ` (${plural(files, "file")})` : ""}`,
  );
  return {
    text: `${head}\n${fill(lines, room - head.length, (left) => `and ${left} more`)}`,
    match_count: rows.length,
  };
}

function shortDate(text: string): string {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? text : date.toISOString().slice(0, 10);
}

interface Change {
  readonly file: string;
  readonly lines: string[];
  added: number;
  removed: number;
}

/** Which files, how much; then hunks as far as there is room, small files first. */
function diff(lines: readonly string[], room: number): Digest | undefined {
  const changes: Change[] = [];
  let inHunk = false;
  for (const line of lines) {
    const file = /^diff --git a\/.* b\/(.*)$/.exec(line);
    const change = changes.at(-1);
    if (file) {
      changes.push({ file: file[1]!, lines: [], added: 0, removed: 0 });
      inHunk = false;
    } else if (!change) return undefined;
    else if (line.startsWith("@@")) {
      inHunk = true;
      change.lines.push(line);
    } else if (inHunk) {
      change.lines.push(line);
      if (line.startsWith("+")) change.added++;
      if (line.startsWith("-")) change.removed++;
    } else if (/^(new|deleted|rename|similarity|Binary)/.test(line)) change.lines.push(line);
  }
  if (changes.length === 0) return undefined;
  const sum = (pick: (change: Change) => number) => changes.reduce((total, change) => total + pick(change), 0);
  const head = `${plural(changes.length, "file")} changed, +${sum(({ added }) => added)} -${sum(({ removed }) => removed)}`;
  const list = fill(
    changes.map(({ file, added, removed }) => `${file} +${added} -${removed}`),
    room * 0.4,
    (left) => `and ${plural(left, "more file")}`,
  );
  let left = room - head.length - list.length - 2;
  const hunks: string[] = [];
  for (const { file, lines: body } of [...changes].sort((a, b) => a.lines.length - b.lines.length)) {
    const text = [`--- ${file}`, ...body.filter((line) => !line.startsWith(" ")).map((line) => cut(line, 160))].join(
      "\n",
    );
    if (text.length + 1 > left) break;
    hunks.push(text);
    left -= text.length + 1;
  }
  const rest = changes.length - hunks.length;
  const note = rest > 0 ? `(hunks of ${plural(rest, "file")} not shown)` : "";
  return { text: [head, list, ...hunks, note].filter(Boolean).join("\n"), match_count: changes.length };
}

function show({ stdout }: Ran, room: number): Digest | undefined {
  const lines = linesOf(stdout);
  const at = lines.findIndex((line) => line.startsWith("diff --git "));
  if (!COMMIT.test(lines[0] ?? "") || at < 0) return undefined;
  const head = fill(
    lines.slice(0, at).filter((line) => line.trim() !== ""),
    room * 0.3,
    () => "[…]",
  );
  const body = diff(lines.slice(at), room - head.length);
  return body && { ...body, text: `${head}\n${body.text}` };
}

/** The first letter is about what is staged, the second about the rest. */
function shortState(letters: string): string {
  if (letters === "??") return "untracked";
  if (letters === "!!") return "ignored";
  if (letters.endsWith(" ")) return `staged ${letters[0]}`;
  return letters.startsWith(" ") ? `not staged ${letters[1]}` : letters;
}

function status({ stdout }: Ran, room: number): Digest | undefined {
  const groups = new Map<string, string[]>();
  const facts: string[] = [];
  let section = "";
  for (const line of linesOf(stdout)) {
    const short = /^([ MADRCUT?!]{2}) (.+)$/.exec(line);
    const long =
      /^\t(?:(modified|new file|deleted|renamed|copied|typechange|both \w+|added by \w+|deleted by \w+):\s+)?(.+)$/.exec(
        line,
      );
    if (/^(On branch|Your branch|HEAD detached|You have unmerged|## )/.test(line)) facts.push(line);
    else if (/^(Changes to be committed|Changes not staged|Untracked files|Unmerged paths|Ignored files)/.test(line))
      section = line.startsWith("Changes to")
        ? "staged"
        : line.startsWith("Changes not")
          ? "not staged"
          : line.split(" ")[0]!.toLowerCase();
    else if (short) push(groups, shortState(short[1]!), short[2]!);
    else if (long) push(groups, [section, long[1]].filter(Boolean).join(" "), long[2]!);
  }
  if (groups.size === 0) return undefined;
  const each = Math.floor((room - 200) / groups.size);
  // What is in conflict comes first, by name.
  const inOrder = [...groups].sort(([a], [b]) => Number(isConflict(b)) - Number(isConflict(a)));
  const rows = inOrder.map(([name, paths]) => {
    const all = isConflict(name) ? paths.join(" ") : byFolder(paths);
    if (all.length <= each) return `${name} (${paths.length}): ${all}`;
    const folders = tally(paths.map(folderOf)).map(([folder, count]) => `${folder}/ ${count}`);
    return `${name} (${paths.length}): ${cut(folders.join(", "), each)}`;
  });
  return { text: [...facts, ...rows].join("\n") };
}

function isConflict(state: string): boolean {
  return /^(unmerged|UU|AA|DD|AU|UA|DU|UD)/.test(state);
}

/** Names a folder at a time; of a folder with many, a few. */
function byFolder(paths: readonly string[]): string {
  const folders = Map.groupBy(paths, (path) => (path.includes(" -> ") ? "" : folderOf(path)));
  return [...folders]
    .map(([folder, inside]) => {
      const names = folder === "" || folder === "." ? inside : inside.map((path) => path.slice(folder.length + 1));
      const shown = names.length > 12 ? [...names.slice(0, 6), `… ${names.length - 6} more`] : names;
      if (folder === "" || folder === ".") return shown.join(" ");
      return inside.length === 1 ? inside[0]! : `${folder}/ ${shown.join(" ")}`;
    })
    .join("; ");
}

function push(groups: Map<string, string[]>, name: string, path: string): void {
  const paths = groups.get(name);
  if (paths) paths.push(path);
  else groups.set(name, [path]);
}

/** Neighbouring lines of one commit are one row. */
function blame({ stdout }: Ran, room: number): Digest | undefined {
  const LINE = /^\^?([0-9a-f]{7,40})\s+(?:\S+\s+)?\((.+?)\s+(\d{4}-\d\d-\d\d)[^)]*?\s(\d+)\)/;
  const rows: { hash: string; who: string; date: string; from: number; to: number }[] = [];
  for (const line of linesOf(stdout)) {
    const match = LINE.exec(line);
    if (!match) return undefined;
    const [, hash, who, date, number] = match as unknown as [string, string, string, string, string];
    const last = rows.at(-1);
    if (last?.hash === hash) last.to = Number(number);
    else rows.push({ hash, who, date, from: Number(number), to: Number(number) });
  }
  if (rows.length === 0) return undefined;
  const authors = tally(rows.map(({ who }) => who)).map(([who]) => who);
  const head = `${plural(rows.at(-1)!.to - rows[0]!.from + 1, "line")} from ${plural(new Set(rows.map(({ hash }) => hash)).size, "commit")} by ${cut(authors.join(", "), 120)}`;
  const one = authors.length === 1;
  const lines = rows.map(
    ({ hash, who, date, from, to }) => `${from}-${to} ${hash.slice(0, 8)} ${date}${one ? "" : ` ${who}`}`,
  );
  return { text: `${head}\n${fill(lines, room - head.length, (left) => `and ${left} more`)}` };
}
