import { isAbsolute } from "node:path";
import { Fault } from "../../base/fault.ts";
import { compileDenied } from "../../base/path/index.ts";
import { visible } from "../../base/text.ts";
import type { RlmPolicy } from "./options.ts";

/** The rules for files, besides the roots and the denied paths that hold for every tool. */
export interface FileRules {
  /** By the letters of what the caller wrote. */
  checkGiven(path: string): void;
  /** By where it leads: the name below its root, resolved. */
  checkResolved(name: string): void;
  /** Before anything is read. */
  checkSize(bytes: number, asked: number | undefined): void;
}

/** Names that may hold secrets; the broad ones also hide harmless files. */
const RESTRICTED = [
  "**/.env",
  "**/.env.*",
  "**/*.pem",
  "**/*.key",
  "**/id_rsa*",
  "**/id_ed25519*",
  "**/*credential*",
  "**/*token*",
];
const PRECISE = [
  "**/.env",
  "**/.env.*",
  "**/*.pem",
  "**/*.key",
  "**/*.p12",
  "**/*.pfx",
  "**/id_rsa*",
  "**/id_ed25519*",
  "**/id_ecdsa*",
  "**/.netrc",
  "**/.npmrc",
  "**/.pgpass",
  "**/credentials*",
  "**/*token*.json",
];

export function createFileRules(policy: RlmPolicy): FileRules {
  const globs = policy.denylist_globs ?? (policy.profile === "restricted" ? RESTRICTED : PRECISE);
  const denied = compileDenied(globs.map((glob) => `rw:${glob}`));
  return {
    checkGiven(path) {
      if (!policy.allow_path)
        throw refused("rlm_query reads no files here.", "Pass the text as context.", "rlm.allow_path");
      if ((isAbsolute(path) || path.startsWith("~")) && !policy.allow_absolute_paths)
        throw refused(
          "Absolute paths are not allowed here.",
          "Use a path relative to the root.",
          "rlm.allow_absolute_paths",
        );
    },
    checkResolved(name) {
      const rule = denied.rule(name, "read")?.slice("rw:".length);
      if (rule !== undefined)
        throw refused(
          `Reading ${visible(name)} is denied by rule "${rule}".`,
          "An operator can change mcp.rlm.denylist_globs.",
          `rlm.denylist_globs:${rule}`,
        );
    },
    checkSize(bytes, asked) {
      const max = Math.min(asked ?? policy.default_max_bytes, policy.max_bytes_limit);
      if (bytes <= max) return;
      throw new Fault("file_too_large", `The text has ${bytes} bytes; ${max} are allowed.`, {
        hint:
          max < policy.max_bytes_limit
            ? `Pass max_bytes (up to ${policy.max_bytes_limit}).`
            : "An operator can raise mcp.rlm.max_bytes_limit. Pass a part as context instead.",
      });
    },
  };
}

function refused(message: string, hint: string, rule: string): Fault {
  return new Fault("path_denied", message, { hint, rule });
}
