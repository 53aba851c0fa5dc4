import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRoots, type Roots, type SafePath } from "../../base/path/index.ts";
import { createFs, type Fs } from "./index.ts";
import { type MaaslOptions, maaslOptions } from "./options.ts";

/** A real folder with a real engine on it, for tests. */
export interface TestRoot extends Disposable {
  readonly root: string;
  readonly state_dir: string;
  readonly roots: Roots;
  readonly fs: Fs;
  put(name: string, content: string | Buffer, mode?: number): void;
  get(name: string): string;
  bytes(name: string): Buffer;
  read(name: string): SafePath;
  write(name: string): SafePath;
  /** Names that a change left behind. */
  temps(): string[];
}

export const CALL = { owner: "local:0#test", signal: new AbortController().signal };

export function openTestRoot(options: Partial<MaaslOptions> = {}): TestRoot {
  const root = mkdtempSync(join(tmpdir(), "llmc-fs-"));
  const state_dir = join(root, ".llmc");
  const roots = createRoots({ roots: [root], state_dir });
  const fs = createFs(maaslOptions.parse(options), { roots, state_dir });
  return {
    root,
    state_dir,
    roots,
    fs,
    put: (name, content, mode) => writeFileSync(join(root, name), content, mode === undefined ? {} : { mode }),
    get: (name) => readFileSync(join(root, name), "utf8"),
    bytes: (name) => readFileSync(join(root, name)),
    read: (name) => roots.mint(name, "read"),
    write: (name) => roots.mint(name, "write"),
    temps: () =>
      readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => /\.llmc-\w+\.tmp/.test(name)),
    [Symbol.dispose]() {
      void fs.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
