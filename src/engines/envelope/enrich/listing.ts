import { fill, folderOf, linesOf, plural, tally } from "../lines.ts";
import type { Enrich } from "../types.ts";

/** find and ls -R: folders with how much is in them, not every name. */
export const listing: Enrich = ({ argv, stdout, lines: total, condensed }, room) => {
  const paths = argv[0] === "ls" ? fromLs(stdout) : linesOf(stdout);
  if (paths.length < 2 || paths.some((path) => path.length > 1000)) return undefined;
  const count = condensed ? total : paths.length;
  const kinds = tally(paths.map(extension)).slice(0, 6);
  const head = `${plural(count, "entry", "entries")}: ${kinds.map(([kind, files]) => `${kind} ${files}`).join(", ")}`;
  const rows = tree(paths, room - head.length - 40);
  return {
    text: `${head}\n${fill(rows, room - head.length, (left) => `and ${plural(left, "more folder")}`)}`,
    match_count: count,
  };
};

function extension(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(dot) : "(none)";
}

/** As deep as fits; names are shown where a folder holds few. */
function tree(paths: readonly string[], room: number): string[] {
  const byFolder = new Map<string, string[]>();
  for (const path of paths) {
    const folder = folderOf(path);
    const names = byFolder.get(folder);
    const name = path.slice(path.lastIndexOf("/") + 1);
    if (names) names.push(name);
    else byFolder.set(folder, [name]);
  }
  for (const few of [12, 6, 3, 0]) {
    const rows = [...byFolder].map(([folder, names]) =>
      names.length <= few
        ? `${folder}/ ${names.join(" ")}`
        : `${folder}/ ${names.length}${few === 0 ? "" : `: ${names.slice(0, 3).join(" ")} …`}`,
    );
    if (rows.reduce((sum, row) => sum + row.length + 1, 0) <= room) return rows;
  }
  for (let depth = 6; depth > 1; depth--) {
    const rows = tally(
      paths.map((path) => path.replace(/^\.\//, "").split("/").slice(0, -1).slice(0, depth).join("/") || "."),
    ).map(([folder, count]) => `${folder}/ ${count}`);
    if (rows.reduce((sum, row) => sum + row.length + 1, 0) <= room) return rows;
  }
  return tally(paths.map((path) => path.replace(/^\.?\//, "").split("/")[0]!)).map(
    ([name, count]) => `${name} ${count}`,
  );
}

function fromLs(stdout: string): string[] {
  let folder = ".";
  const paths: string[] = [];
  for (const line of linesOf(stdout)) {
    const header = /^(.*):$/.exec(line);
    if (header) folder = header[1]!;
    else if (line !== "" && !/^total \d/.test(line)) {
      const long = /^[bcdlps-][rwxsStT-]{9}[.+@]?\s+\d+\s+\S+\s+\S+\s+\S+\s+\S+\s+\S+\s+\S+\s(.+)$/.exec(line);
      const name = long ? `${long[1]}${line.startsWith("d") ? "/" : ""}` : line;
      if (name !== "./" && name !== "../" && name !== "." && name !== "..")
        paths.push(`${folder}/${name.endsWith("/") ? name.slice(0, -1) : name}`);
    }
  }
  return paths;
}
