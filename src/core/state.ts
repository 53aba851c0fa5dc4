import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The state folder, made when something is first kept there. It lies in a repository, so it keeps itself out of git. */
export function prepareState(state_dir: string): void {
  const ignore = join(state_dir, ".gitignore");
  if (existsSync(ignore)) return;
  try {
    mkdirSync(state_dir, { recursive: true, mode: 0o700 });
    writeFileSync(ignore, "*\n", { flag: "wx" });
  } catch {
    // Read-only, or another process was first: whoever needs the folder says what is wrong with it.
  }
}
