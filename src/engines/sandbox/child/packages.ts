import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";

const MAX_BYTES = 64 * 1024 * 1024;

/** Packages as a guest sees them: name -> contents. Folders keep their structure. */
export function readPackages(paths: readonly string[], wanted: RegExp): Map<string, Uint8Array> {
  const found = new Map<string, Uint8Array>();
  let total = 0;
  const add = (path: string, name: string) => {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat?.isDirectory())
      for (const entry of readdirSync(path).sort()) add(join(path, entry), name === "" ? entry : `${name}/${entry}`);
    if (!stat?.isFile() || !wanted.test(name) || (total += stat.size) > MAX_BYTES) return;
    found.set(name, readFileSync(path));
  };
  for (const path of paths) add(path, statSync(path, { throwIfNoEntry: false })?.isDirectory() ? "" : basename(path));
  return found;
}
