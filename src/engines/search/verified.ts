import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync } from "node:fs";
import { Fault } from "../../base/fault.ts";
import type { Pinned, Roots, SafePath } from "../../base/path/index.ts";
import type { LineRecord } from "./records.ts";

/** Ripgrep opens by name, and a name can be exchanged under it. So what it reports is held against the file that we open and verify. */
export interface VerifiedFile extends Disposable {
  readonly fd: number;
  readonly shown: string;
  /** Whether the line stands in this file at this place. */
  holds(record: LineRecord): boolean;
}

export interface Verifier extends Disposable {
  /** The regular file with this name below the folder, when it is what its name says and may be read. */
  open(name: Buffer): VerifiedFile | undefined;
  /** The file's name as callers see it, when it may be read by its letters. */
  admitted(name: Buffer): string | undefined;
  /** The folder with this name below the folder, as a way in that stays the same folder. Empty: the folder itself. */
  way(name: Buffer): Way | undefined;
}

interface Way {
  readonly fd: number;
  readonly proc: string;
  readonly real: string;
}

const O_PATH = 0o10000000;
const SLASH = 47;
const MAX_WAYS = 128;
/** A hit and its context are near each other: most files need one small read. Longer ones read more at a time. */
const FIRST_READ = 4 * 1024;
const NEXT_READ = 64 * 1024;
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

export function createVerifier(roots: Roots, folder: Pinned, asked: SafePath): Verifier {
  const window = Buffer.allocUnsafe(NEXT_READ);
  const ways = new Map<string, Way | undefined>();
  const top: Way = { fd: folder.fd, proc: `${folder.proc}/`, real: folder.real === "/" ? "/" : `${folder.real}/` };

  function way(name: Buffer): Way | undefined {
    if (name.length === 0) return top;
    const key = name.toString("latin1");
    if (ways.has(key)) return ways.get(key);
    const found = openWay(name);
    if (ways.size >= MAX_WAYS) forgetOne();
    ways.set(key, found);
    return found;
  }

  function openWay(name: Buffer): Way | undefined {
    try {
      const fd = openSync(under(top, name), O_PATH | constants.O_DIRECTORY);
      const proc = `/proc/self/fd/${fd}`;
      const real = top.real + name.toString();
      if (readlinkSync(proc) === real) return { fd, proc: `${proc}/`, real: `${real}/` };
      closeSync(fd);
    } catch {}
    return undefined;
  }

  function forgetOne(): void {
    const [key, oldest] = ways.entries().next().value!;
    ways.delete(key);
    if (oldest) closeSync(oldest.fd);
  }

  function open(name: Buffer): VerifiedFile | undefined {
    const slash = name.lastIndexOf(SLASH);
    const parent = way(name.subarray(0, Math.max(0, slash)));
    const leaf = name.subarray(slash + 1);
    const shown = parent && admitted(parent.real + leaf.toString());
    if (shown === undefined) return undefined;
    let fd: number;
    try {
      fd = openSync(under(parent!, leaf), FLAGS);
    } catch {
      return undefined;
    }
    if (fstatSync(fd).isFile()) return verified(fd, shown);
    closeSync(fd);
    return undefined;
  }

  function admitted(real: string): string | undefined {
    try {
      return roots.admit(real, "read", asked);
    } catch (error) {
      if (error instanceof Fault) return undefined;
      throw error;
    }
  }

  function verified(fd: number, shown: string): VerifiedFile {
    let start = 0;
    let length = 0;
    let bom: number | undefined;
    const stands = (at: number, text: Buffer): boolean => {
      if (at < start || at + text.length > start + length) {
        length = read(fd, at, length === 0 ? Math.max(FIRST_READ, text.length) : NEXT_READ);
        start = at;
      }
      return at + text.length <= start + length && text.compare(window, at - start, at - start + text.length) === 0;
    };
    return {
      fd,
      shown,
      holds({ offset, from, text }) {
        const at = offset + from + (bom ?? 0);
        if (stands(at, text)) return true;
        if (bom !== undefined) return false;
        // Ripgrep does not count a byte order mark.
        length = read(fd, 0, FIRST_READ);
        start = 0;
        bom = length >= 3 && window.readUIntBE(0, 3) === 0xefbbbf ? 3 : 0;
        return bom > 0 && stands(at + bom, text);
      },
      [Symbol.dispose]: () => closeSync(fd),
    };
  }

  function read(fd: number, at: number, max_bytes: number): number {
    try {
      return readSync(fd, window, 0, Math.min(max_bytes, NEXT_READ), at);
    } catch {
      return 0;
    }
  }

  return {
    open,
    admitted: (name) => admitted(top.real + name.toString()),
    way,
    [Symbol.dispose]() {
      for (const one of ways.values()) if (one) closeSync(one.fd);
      ways.clear();
    },
  };
}

function under(way: Way, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(way.proc), name]);
}
