import { closeSync, constants, lstatSync, openSync, readlinkSync } from "node:fs";
import { Fault } from "../../base/fault.ts";
import type { Pinned, Roots, SafePath } from "../../base/path/index.ts";
import type { FileHits, Found } from "./found.ts";
import { compileGlob, type Glob, isGlob } from "./glob.ts";

const NUL = 0;
const O_PATH = 0o10000000;

/** A name is asked for by a part of the path, in any case, or by a glob; and may have to fit a second glob. */
export function nameFilter(pattern: string, file_glob: Glob | undefined): (path: string) => boolean {
  const part = pattern.toLowerCase();
  const glob = isGlob(pattern) ? compileGlob(pattern, { nocase: true }) : undefined;
  return (path) =>
    (path.toLowerCase().includes(part) || (glob?.matches(path) ?? false)) && (file_glob?.matches(path) ?? true);
}

interface NamesOptions {
  readonly roots: Roots;
  readonly folder: Pinned;
  readonly asked: SafePath;
  wanted(path: string): boolean;
}

/** Turns a stream of names, each ended by a NUL, into hits: names that stand in a folder that was opened and verified. */
export function createNames(found: Found<{ readonly path: string }>, options: NamesOptions) {
  const { roots, folder, asked } = options;
  const real = folder.real === "/" ? "/" : `${folder.real}/`;
  let rest: Buffer | undefined;
  const verified = new Map<string, boolean>();

  function push(chunk: Buffer): void {
    const buffer = rest ? Buffer.concat([rest, chunk]) : chunk;
    let at = 0;
    for (let end = buffer.indexOf(NUL); end !== -1; end = buffer.indexOf(NUL, at)) {
      take(buffer.subarray(at + 2, end));
      at = end + 1;
    }
    rest = at < buffer.length ? Buffer.from(buffer.subarray(at)) : undefined;
  }

  function take(name: Buffer): void {
    const path = name.toString();
    if (!options.wanted(path) || !stands(name)) return;
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
    const slash = name.lastIndexOf(47);
    const parent = name.toString("latin1", 0, Math.max(0, slash));
    const isSame = verified.get(parent) ?? (slash === -1 || isWhereItSays(name.subarray(0, slash)));
    verified.set(parent, isSame);
    if (!isSame) return false;
    try {
      return lstatSync(Buffer.concat([Buffer.from(`${folder.proc}/`), name])).isFile();
    } catch {
      return false;
    }
  }

  function isWhereItSays(parent: Buffer): boolean {
    try {
      const fd = openSync(Buffer.concat([Buffer.from(`${folder.proc}/`), parent]), O_PATH | constants.O_DIRECTORY);
      try {
        return readlinkSync(`/proc/self/fd/${fd}`) === real + parent.toString();
      } finally {
        closeSync(fd);
      }
    } catch {
      return false;
    }
  }

  return { push };
}
