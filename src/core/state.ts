import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The state folder, made when the first call comes. It lies in a repository, so it keeps itself out of git. In `stubs/`, the one
 * place that tools may read, stand the declarations of the tools as they are now.
 */
export function prepareState(state_dir: string, stubs: () => Readonly<Record<string, string>> = () => ({})): void {
  try {
    mkdirSync(join(state_dir, "stubs"), { recursive: true, mode: 0o700 });
    const ignore = join(state_dir, ".gitignore");
    if (!existsSync(ignore)) writeFileSync(ignore, "*\n");
    for (const [name, text] of Object.entries(stubs())) writeChanged(join(state_dir, "stubs", name), text);
  } catch {
    // Read-only, or in the way: whoever needs the folder says what is wrong with it.
  }
}

function writeChanged(path: string, text: string): void {
  if (!existsSync(path) || readFileSync(path, "utf8") !== text) writeFileSync(path, text);
}
