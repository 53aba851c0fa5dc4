import { mintPrincipal } from "../base/principal.ts";
import type { Exec } from "../engines/exec/index.ts";

const TIMEOUT_S = 5;
const FORMAT = "--format=%h%x1f%cs%x1f%an%x1f%s";

/**
 * The last commit that touched a path, by the same gate as everybody's git: nothing that a repository configures is run.
 * Nothing where there is no git, no repository, or no commit.
 */
export async function lastCommit(exec: Exec, root: string, path: string, signal: AbortSignal) {
  try {
    const command = await exec.allow({ argv: ["git", "log", "-1", FORMAT, "--", path], cwd: root });
    const owner = mintPrincipal("local", process.getuid?.() ?? 0);
    const { stdout, exit_code } = await exec.run(owner, command, { timeout_s: TIMEOUT_S, signal, max_bytes: 4096 });
    const [hash = "", date = "", author = "", subject = ""] = stdout.trim().split("\u001f");
    return exit_code === 0 && subject !== "" ? { hash, date, author, subject: subject.slice(0, 120) } : undefined;
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}
