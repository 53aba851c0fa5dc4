import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { quickHash } from "../../base/hash.ts";

/** How a file was before we wrote to it, and how we left it. */
interface Kept {
  readonly file: string;
  readonly name: string;
  /** null: there was none. */
  readonly before: string | null;
  readonly after: string;
  readonly made_folder: boolean;
}

export interface Backups {
  /** Called before the file is written. Returns where the copy lies. */
  keep(file: string, name: string, before: string | undefined, after: string): string;
  /** What to put back so that the file is what it was, byte for byte: only when nobody changed it since. */
  original(file: string, name: string, now: string): Kept | undefined;
  forget(file: string, name: string): void;
}

/** Copies live in the user's own state folder: neither beside the file, where a client may read them, nor in the repository. */
export function openBackups(folder: string): Backups {
  const place = (file: string, name: string) => join(folder, `${quickHash(`${file}\0${name}`)}.json`);
  const read = (file: string, name: string): Kept | undefined => {
    try {
      return JSON.parse(readFileSync(place(file, name), "utf8")) as Kept;
    } catch {
      return undefined;
    }
  };
  return {
    keep(file, name, before, after) {
      const earlier = read(file, name);
      // Registered again with nothing changed between: the first copy is still the original.
      const same = earlier !== undefined && earlier.after === before;
      const kept: Kept = same
        ? { ...earlier, after }
        : { file, name, before: before ?? null, after, made_folder: !existsSync(dirname(file)) };
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeFileSync(place(file, name), JSON.stringify(kept, null, 2), { mode: 0o600 });
      return place(file, name);
    },
    original(file, name, now) {
      const kept = read(file, name);
      return kept && kept.after === now ? kept : undefined;
    },
    forget: (file, name) => rmSync(place(file, name), { force: true }),
  };
}

/** The file goes, and the folder too when we made it and nothing else moved in. */
export function removeFile(file: string, made_folder: boolean): void {
  rmSync(file);
  if (!made_folder) return;
  try {
    rmdirSync(dirname(file));
  } catch {}
}
