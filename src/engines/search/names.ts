import { lstatSync } from "node:fs";
import { Fault } from "../../base/fault.ts";
import type { Pinned, Roots, SafePath } from "../../base/path/index.ts";
import type { FileHits, Found } from "./found.ts";
import { compileGlob, type Glob, isGlob } from "./glob.ts";
import type { Verifier } from "./verified.ts";

const NUL = 0;
const SLASH = 47;

/** A name is asked for by a part of the path, in any case, or by a glob; and may have to fit a second glob. */
export interface NameFilter {
  matches(path: string): boolean;
  /** Plain letters that every match holds, in lower case: what has none of them need not be looked at. */
  readonly part: string | undefined;
}

export function nameFilter(pattern: string, file_glob: Glob | undefined): NameFilter {
  const part = pattern.toLowerCase();
  const glob = isGlob(pattern) ? compileGlob(pattern, { nocase: true }) : undefined;
  return {
    matches: (path) =>
      (path.toLowerCase().includes(part) || (glob?.matches(path) ?? false)) && (file_glob?.matches(path) ?? true),
    part: glob === undefined && /^[\x20-\x7e]+$/.test(part) ? part : undefined,
  };
}

interface NamesOptions {
  readonly roots: Roots;
  readonly folder: Pinned;
  readonly asked: SafePath;
  readonly verifier: Verifier;
  readonly filter: NameFilter;
  hides(path: string): boolean;
}

/** Turns a stream of names, each ended by a NUL, into hits: names that stand in a folder that was opened and verified. */
export function createNames(found: Found<{ readonly path: string }>, options: NamesOptions) {
  const { roots, folder, asked, filter } = options;
  const real = folder.real === "/" ? "/" : `${folder.real}/`;
  let rest: Buffer | undefined;

  function push(chunk: Buffer): void {
    const buffer = rest ? Buffer.concat([rest, chunk]) : chunk;
    const end = buffer.lastIndexOf(NUL) + 1;
    if (filter.part === undefined) takeEach(buffer.subarray(0, end));
    else takeThoseWith(filter.part, buffer.subarray(0, end));
    rest = end < buffer.length ? Buffer.from(buffer.subarray(end)) : undefined;
  }

  function takeEach(names: Buffer): void {
    for (let at = 0; at < names.length; ) {
      const end = names.indexOf(NUL, at);
      take(names.subarray(at + 2, end));
      at = end + 1;
    }
  }

  /** One look over all names at once: a tree has many, and few of them are meant. */
  function takeThoseWith(part: string, names: Buffer): void {
    const text = names.toString("latin1").toLowerCase();
    for (let at = text.indexOf(part); at !== -1; ) {
      const end = text.indexOf("\0", at);
      take(names.subarray(text.lastIndexOf("\0", at) + 3, end));
      at = text.indexOf(part, end);
    }
  }

  function take(name: Buffer): void {
    const path = name.toString();
    if (!filter.matches(path) || options.hides(path) || !stands(name)) return;
    const shown = admitted(real + path);
    if (shown === undefined) return;
    const file: FileHits<{ readonly path: string }> = found.begin(name);
    found.add(file, { path: shown }, shown.length);
  }

  function admitted(path: string): string | undefined {
    try {
      return roots.admit(path, "read", asked);
    } catch (error) {
      if (error instanceof Fault) return undefined;
      throw error;
    }
  }

  function stands(name: Buffer): boolean {
    const slash = name.lastIndexOf(SLASH);
    const parent = options.verifier.way(name.subarray(0, Math.max(0, slash)));
    if (!parent) return false;
    try {
      return lstatSync(Buffer.concat([Buffer.from(parent.proc), name.subarray(slash + 1)])).isFile();
    } catch {
      return false;
    }
  }

  return { push };
}
