import { realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve, sep } from "node:path";
import { Fault } from "../fault.ts";
import { visible } from "../text.ts";
import { type Access, BUILT_IN_DENIED_PATHS, compileDenied } from "./denied.ts";

declare const minted: unique symbol;

/** A path that lies inside the roots and is not denied, by its letters. What it leads to is verified when it is opened. */
export interface SafePath {
  readonly [minted]: "SafePath";
  readonly abs: string;
  /** As callers see it: relative to the root when there is one root, else absolute. */
  readonly shown: string;
  readonly root: string;
  readonly access: Access;
}

export interface RootsOptions {
  /** Folders that may be reached. The first one is where relative paths start. Empty: nothing is allowed. */
  readonly roots: readonly string[];
  readonly enforce?: boolean;
  /** Rules after the built-in ones; the last that matches decides. */
  readonly denied?: readonly string[];
  /** The state folder, wherever it lies: never to be read or written through a tool, but for `stubs/` in it. */
  readonly state_dir?: string;
}

export interface Roots {
  /** Real paths, first one primary. */
  readonly list: readonly string[];
  /** The only maker of SafePath. Relative paths start at the first root, or at `within`. */
  mint(path: string, access: Access, within?: string): SafePath;
  /** Judges a path the kernel reported: throws when it is outside or denied. Gives it as callers see it. */
  admit(real: string, access: Access, asked: SafePath): string;
  /** Whether a real path lies inside. */
  contains(real: string): boolean;
  shown(real: string): string;
}

const MAX_PATH = 4096;
/** Not on any disk: secrets of processes, switches of the kernel, devices. No root makes them files. (/dev/shm holds ordinary ones.) */
const MADE_BY_KERNEL = /^\/(proc|sys|dev(?!\/shm(\/|$)))(\/|$)/;

interface Root {
  readonly given: string;
  readonly real: string;
}

export function createRoots(options: RootsOptions): Roots {
  const roots = options.roots.map(openRoot);
  const enforce = options.enforce ?? true;
  const denied = compileDenied([...BUILT_IN_DENIED_PATHS, ...(options.denied ?? [])]);
  const state = options.state_dir === undefined ? undefined : realOrSame(resolve(options.state_dir));
  const home = roots[0]?.real ?? "/";

  const rootOf = (abs: string): Root | undefined => roots.find((root) => inside(abs, root.real));

  function rebase(abs: string): string {
    for (const root of roots)
      if (root.given !== root.real && inside(abs, root.given)) return root.real + abs.slice(root.given.length);
    return abs;
  }

  function shown(real: string): string {
    if (roots.length !== 1) return real;
    const root = roots[0]!.real;
    if (real === root) return ".";
    return inside(real, root) ? real.slice(root === sep ? 1 : root.length + 1) : real;
  }

  function refuseDenied(real: string, access: Access): void {
    if (MADE_BY_KERNEL.test(real)) throw denial(shown(real), access, "kernel files");
    if (state !== undefined && inside(real, state) && !(access === "read" && inside(real, `${state}/stubs`)))
      throw denial(shown(real), access, "state folder");
    const root = rootOf(real)?.real ?? "/";
    const rule = denied.rule(real === root ? "" : real.slice(root === sep ? 1 : root.length + 1), access);
    if (rule !== undefined) throw denial(shown(real), access, rule);
  }

  return {
    list: roots.map((root) => root.real),
    mint(path, access, within) {
      const abs = rebase(resolve(within ?? home, expand(checked(path))));
      const root = rootOf(abs)?.real ?? (enforce ? undefined : "/");
      if (root === undefined) throw outside(path, roots.length === 0);
      refuseDenied(abs, access);
      return { abs, shown: shown(abs), root, access } as SafePath;
    },
    admit(real, access, asked) {
      if (enforce && !rootOf(real)) throw outside(asked.shown, false);
      refuseDenied(real, access);
      return shown(real);
    },
    contains: (real) => !enforce || rootOf(real) !== undefined,
    shown,
  };
}

export function outside(path: string, none: boolean): Fault {
  return new Fault("path_denied", `Path is outside the allowed roots: ${visible(path).slice(0, 200)}`, {
    hint: none ? "No root is allowed: set mcp.tools.allowed_roots." : "Use a path inside the root, relative to it.",
    rule: "roots",
  });
}

function denial(path: string, access: Access, rule: string): Fault {
  const deed = access === "read" ? "Reading" : "Writing";
  return new Fault("path_denied", `${deed} ${visible(path)} is denied by rule "${rule}".`, {
    hint: "An operator can lift it in mcp.tools.denied_paths.",
    rule: `denied_paths:${rule}`,
  });
}

function checked(path: string): string {
  if (path.length === 0) throw new Fault("path_denied", "The path is empty.", { hint: 'Use "." for the root.' });
  if (path.includes("\0")) throw new Fault("path_denied", "The path holds a NUL character.");
  if (Buffer.byteLength(path) > MAX_PATH) throw new Fault("path_denied", `The path is longer than ${MAX_PATH} bytes.`);
  return path;
}

function expand(path: string): string {
  if (path === "~") return homedir();
  return path.startsWith("~/") ? homedir() + path.slice(1) : path;
}

function openRoot(path: string): Root {
  const given = resolve(expand(path));
  try {
    const real = realpathSync(given);
    if (!statSync(real).isDirectory()) throw new Fault("not_a_directory", `The root is not a folder: ${given}`);
    return { given, real };
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw new Fault("file_not_found", `The root cannot be opened: ${given}`, {
      cause: error,
      hint: "Create it, or change the root.",
    });
  }
}

/** The real path of what exists of it, and the rest as written. */
function realOrSame(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realOrSame(parent), basename(path));
  }
}

export function inside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
