import { accessSync, constants } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, isAbsolute, join } from "node:path";

export interface Ripgrep {
  readonly command: string;
  readonly prefix: readonly string[];
  /** The wasm build: works without a binary, on one thread. */
  readonly slow: boolean;
}

/** What can serve as ripgrep here, best first: the packaged binary, one on the path, the wasm build. */
export function findRipgrep(path: string): Ripgrep[] {
  const found: Ripgrep[] = [];
  const packaged = packagedBinary();
  if (packaged) found.push({ command: packaged, prefix: [], slow: false });
  for (const folder of path.split(delimiter)) {
    if (isAbsolute(folder) && isExecutable(join(folder, "rg")))
      found.push({ command: join(folder, "rg"), prefix: [], slow: false });
  }
  const wasm = resolved(import.meta.url, "ripgrep");
  if (wasm) found.push({ command: process.execPath, prefix: [join(wasm, "..", "rg.mjs")], slow: true });
  return found;
}

/** In two steps: some package managers let only @vscode/ripgrep itself see the package of the platform. */
function packagedBinary(): string | undefined {
  const library = resolved(import.meta.url, "@vscode/ripgrep");
  const binary = library && resolved(library, `@vscode/ripgrep-${process.platform}-${process.arch}/bin/rg`);
  return binary !== undefined && isExecutable(binary) ? binary : undefined;
}

function resolved(from: string, name: string): string | undefined {
  try {
    return createRequire(from).resolve(name);
  } catch {
    return undefined;
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
