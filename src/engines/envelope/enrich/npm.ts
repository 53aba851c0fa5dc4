import { bothStreams, cut, linesOf } from "../lines.ts";
import type { Enrich } from "../types.ts";

const VERBS = new Set([
  "install",
  "i",
  "ci",
  "add",
  "update",
  "up",
  "upgrade",
  "uninstall",
  "remove",
  "audit",
  "dedupe",
]);
const SAYS =
  /^(added|removed|changed|up to date|found|audited|\d+ packages?|\d+ (low|moderate|high|critical)|Done in|Packages:|dependencies:|devDependencies:|\+ |- )/;
const WRONG = /^(?:npm (?:error|ERR!)|ERR_PNPM| ?ERR[_ ]|error |YN\d+: │? ?.*failed)/i;
const NOISE = /^npm (?:error|ERR!)(?: code)?\s*$|A complete log of this run|^npm (?:error|ERR!) +[\w-]*debug-/;

/** Package managers of Node when they install: what changed, warnings once, every error. */
export const npm: Enrich = (ran) => {
  if (!ran.argv.slice(1).some((word) => VERBS.has(word))) return undefined;
  const lines = linesOf(bothStreams(ran));
  const wrong = lines.filter((line) => WRONG.test(line) && !NOISE.test(line));
  if (ran.exit_code !== 0 && wrong.length === 0) return undefined;
  const warned = [...new Set(lines.filter((line) => /^npm (warn|WARN)|\bWARN\b/.test(line)))];
  const said = lines.filter((line) => SAYS.test(line.trim()));
  const deprecated = warned.filter((line) => line.includes("deprecated"));
  const out = [
    ...said.slice(-12),
    ...wrong.slice(0, 25).map((line) => cut(line.replace(/^npm (error|ERR!) /, ""), 240)),
    ...(wrong.length > 25 ? [`and ${wrong.length - 25} more error lines`] : []),
    ...warned
      .filter((line) => !deprecated.includes(line))
      .slice(0, 5)
      .map((line) => cut(line, 160)),
    ...(deprecated.length > 0
      ? [
          `${deprecated.length} deprecated: ${cut(deprecated.map((line) => /deprecated (\S+?):?\s/.exec(line)?.[1] ?? "").join(", "), 200)}`,
        ]
      : []),
  ];
  return out.length === 0 ? undefined : { text: out.join("\n"), covers_stderr: true };
};
