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

const WINDOW = 64 * 1024;
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

export interface Verifier {
  /** The regular file with this name below the folder, when it is what its name says and may be read. */
  open(name: Buffer): VerifiedFile | undefined;
}

export function createVerifier(roots: Roots, folder: Pinned, asked: SafePath): Verifier {
  const base = Buffer.from(`${folder.proc}/`);
  const real = folder.real === "/" ? "/" : `${folder.real}/`;
  const window = Buffer.allocUnsafe(WINDOW);

  return {
    open(name) {
      let fd: number;
      try {
        fd = openSync(Buffer.concat([base, name]), FLAGS);
      } catch {
        return undefined;
      }
      const shown = admitted(fd, name);
      if (shown === undefined) {
        closeSync(fd);
        return undefined;
      }
      return verified(fd, shown);
    },
  };

  function admitted(fd: number, name: Buffer): string | undefined {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`);
      if (path !== real + name.toString() || !fstatSync(fd).isFile()) return undefined;
      return roots.admit(path, "read", asked);
    } catch (error) {
      if (error instanceof Fault || (error as NodeJS.ErrnoException).code !== undefined) return undefined;
      throw error;
    }
  }

  function verified(fd: number, shown: string): VerifiedFile {
    let start = 0;
    let length = read(fd, 0);
    const bom = length >= 3 && window[0] === 0xef && window[1] === 0xbb && window[2] === 0xbf ? 3 : 0;
    return {
      fd,
      shown,
      holds({ offset, from, text }) {
        const at = offset + from + bom;
        if (at < start || at + text.length > start + length) {
          start = at;
          length = read(fd, at);
        }
        return at + text.length <= start + length && text.compare(window, at - start, at - start + text.length) === 0;
      },
      [Symbol.dispose]: () => closeSync(fd),
    };
  }

  function read(fd: number, at: number): number {
    return readSync(fd, window, 0, WINDOW, at);
  }
}
