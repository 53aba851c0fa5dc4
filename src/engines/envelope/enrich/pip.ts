import { bothStreams, cut, linesOf } from "../lines.ts";
import type { Enrich } from "../types.ts";

const SAYS = /^(Successfully |Would install|Found existing|Resolved \d|Installed \d|Audited |Uninstalled \d| [+~-] )/;
const WRONG = /^\s*(ERROR|error|×|╰─>|\[end of output\]|note: )|(Error|Exception): /;

/** pip and uv when they install: what came, and every error with its reason. */
export const pip: Enrich = (ran) => {
  if (!ran.argv.slice(1).some((word) => ["install", "uninstall", "download", "sync", "add", "wheel"].includes(word)))
    return undefined;
  const lines = linesOf(bothStreams(ran));
  const said = lines.filter((line) => SAYS.test(line));
  const wrong = lines.filter((line) => WRONG.test(line));
  if (said.length + wrong.length === 0 || (ran.exit_code !== 0 && wrong.length === 0)) return undefined;
  const satisfied = lines.filter((line) => line.startsWith("Requirement already satisfied")).length;
  const warned = [...new Set(lines.filter((line) => line.startsWith("WARNING")))];
  const out = [
    ...said.slice(-20).map((line) => cut(line, 400)),
    ...(satisfied > 0 ? [`${satisfied} already satisfied`] : []),
    ...wrong.slice(0, 20).map((line) => cut(line, 300)),
    ...(wrong.length > 20 ? [`and ${wrong.length - 20} more error lines`] : []),
    ...warned.slice(0, 3).map((line) => cut(line, 160)),
  ];
  return { text: out.join("\n"), covers_stderr: true };
};
